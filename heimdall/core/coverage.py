"""How much of a query a text answers, without splitting the whole text into words.

Pure. `gitmemo.coverage` compares with a finished set of tokens; a file's content has none, and
making it costs a search more than all its other work. So each token of the query is first looked
for as plain characters, and only the identifiers around the places found are split, by the same
`gitmemo.tokens` that made the query's. Held by tests/heimdall/core/test_coverage.py.
"""

from unicodedata import normalize

from gitmemo import tokens

PLACES = 64
"""How many places of one token are looked at before it counts as absent."""

_EDGE = 80
"""Characters of an identifier that are taken on each side of a place."""


def answers(query: tuple[str, ...], text: str) -> float:
    """The share of `query` (tokens as `gitmemo.query_tokens` gives them) that are tokens of `text`;
    0.0 for an empty query. Equal to the share in `set(tokens(text))`, typos left aside."""
    if not query:
        return 0.0
    if not text.isascii():
        text = normalize("NFKC", text)
    lowered = text.casefold()
    if len(lowered) != len(text):
        # Folding made characters longer (ß), and places in the two texts no longer agree.
        have = set(tokens(text))
        return sum(token in have for token in query) / len(query)
    found = {token for token in query if _has(token, text, lowered)}
    left = [token for token in query if token not in found]
    if left and "_" in text:
        bare = lowered.replace("_", "")
        if any(token in bare for token in left):
            # `lrucache` is a token of `lru_cache` and stands nowhere in it.
            have = set(tokens(text))
            found.update(token for token in left if token in have)
    return len(found) / len(query)


def _has(token: str, cased: str, lowered: str) -> bool:
    """Whether `token` is a token of the text, and not merely a part of one."""
    start = lowered.find(token)
    tried: set[str] = set()
    for _ in range(PLACES):
        if start < 0:
            return False
        end = start + len(token)
        left, right = start, end
        while left > 0 and start - left < _EDGE and _in_word(cased[left - 1]):
            left -= 1
        while right < len(cased) and right - end < _EDGE and _in_word(cased[right]):
            right += 1
        word = cased[left:right]
        if word not in tried:
            tried.add(word)
            if token in tokens(word):
                return True
        start = lowered.find(token, end)
    return False


def _in_word(c: str) -> bool:
    r"""A regular expression's `\w`, without the cost of compiling one."""
    return c.isalnum() or c == "_"
