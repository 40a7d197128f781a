"""Words: the one home of normalising, of search tokens and of dates as text.

Pure, and first on the path of every search, so it imports next to nothing and compiles late what
only some texts need. An index and a query agree because both call the functions here; nobody else
splits words. The law: a token is a whole word, a part of an identifier cut at case or underscore,
the identifier written as one word, or two neighbours of a script written without spaces; never a
bare substring. Never here: files, ranking, knowledge of entries.
Tests: tests/gitmemo/test_text.py.
"""

import re
from collections import Counter
from collections.abc import Iterable, Set
from unicodedata import category, normalize

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""JavaScript's white space, which the format was defined by. Python's `\\s` and `strip` have
U+0085 and U+001C to U+001F besides, and lack U+FEFF."""

_DAY_MS = 86_400_000
_LAST_MS = 8_640_000_000_000_000  # the end of JavaScript's calendar, either side of 1970


def norm(s: str) -> str:
    """The format's normal form: NFKC, case folded, white space runs to one space, trimmed."""
    spaces = _LATE.get("spaces") or _late("spaces", f"[{JS_SPACE}]+")
    return spaces.sub(" ", normalize("NFKC", s).casefold()).strip(" ")


def js_strip(s: str) -> str:
    """`s` without JavaScript white space at both ends."""
    return s.strip(JS_SPACE)


def utf16_len(s: str) -> int:
    """Length in UTF-16 units, in which the format counts."""
    return len(s) if s.isascii() else len(s) + sum(c > "\uffff" for c in s)


def path_key(path: str) -> bytes:
    """A project-relative path as the index compares it: composed letters, no `.` and no doubled or
    closing slash; b"" for the project's root. Bytes, because a name need not be text."""
    parts = "/".join([part for part in path.split("/") if part not in ("", ".")])
    whole = parts if parts.isascii() else normalize("NFC", parts)
    return whole.encode("utf-8", "surrogatepass")


# -- dates -----------------------------------------------------------------------------------------


def civil(epoch_ms: int) -> tuple[int, int, int, int, int, int, int]:
    """Year, month, day, hour, minute, second, millisecond in UTC; outside the calendar of
    JavaScript (about 275,000 years either way) the moment 0, as the format's first engine has it.
    """
    if abs(epoch_ms) > _LAST_MS:
        epoch_ms = 0
    days, ms = divmod(epoch_ms, _DAY_MS)
    # Days to a date without a calendar module: years counted from March, so that the leap day is
    # the last of its year, in eras of 400 years.
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * from_march + 2) // 5 + 1
    month = from_march + 3 if from_march < 10 else from_march - 9
    year = year_of_era + era * 400 + (month <= 2)
    seconds, ms = divmod(ms, 1000)
    minutes, second = divmod(seconds, 60)
    return year, month, day, *divmod(minutes, 60), second, ms


def iso_date(epoch_ms: int) -> str:
    """Milliseconds since 1970 as `2026-08-23T11:36:12.123Z`; years outside four digits take a sign
    and six digits."""
    year, month, day, hour, minute, second, ms = civil(epoch_ms)
    years = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+07d}"
    return f"{years}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{ms:03d}Z"


# -- search tokens ---------------------------------------------------------------------------------

LONGEST_WORD = 128
"""A run of more letters than this is data (a key, an encoded picture), not a word."""

_ASCII_WORDS = re.compile(r"[A-Za-z0-9_]+")
_ASCII_ONLY_WORDS = (
    b" " * 48
    + b"0123456789"
    + b" " * 7
    + b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + b"    _ "
    + b"abcdefghijklmnopqrstuvwxyz"
    + b" " * 133
)
"""A table for `bytes.translate`: all that `_ASCII_WORDS` does not match becomes a space."""
# An identifier's parts. Digits stay with the letters before them (`sha256`, `HTTP2`), or, at the
# start of a part, with those behind (`3d`); `HTTPResponse` is cut before its last capital.
_PARTS = re.compile(r"[0-9]*[A-Z]+[0-9]*(?![a-z])|[0-9]*[A-Z]?[a-z][a-z0-9]*|[0-9]+")
# Scripts written without spaces, or with endings glued on: Han, kana, bopomofo, Hangul, Thai, Lao,
# Burmese, Khmer. A run of them is searched by pairs.
_RUNS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# `\w` lacks the marks that sit inside words of many scripts, and the two joiners.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0971-\u0df3\u0e31\u0e34-\u0e4e"
    "\u0eb1-\u0ece\u0f71-\u0f84\u0f90-\u0fbc\u102b-\u103e\u1056-\u109d\u17b4-\u17d3"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f\u200c\u200d"
)
_LATE: dict[str, re.Pattern[str]] = {}
_KNOWN: dict[str, tuple[str, ...]] = {}
_KNOWN_ASCII: dict[bytes, tuple[str, ...]] = {}
_KNOWN_LIMIT = 200_000


def tokens(s: str) -> list[str]:
    """Search tokens of `s` in order, repeated ones repeated.

    `parseHTTPResponse` gives parse, http, response, parsehttpresponse; `max_size` gives max, size,
    maxsize; a run of a script without spaces gives its pairs (a run of one, itself).
    """
    found: list[str] = []
    known = _KNOWN.get
    for word in _words(s):
        found += known(word) or _pieces(word)
    return found


def further_tokens(s: str) -> list[str]:
    """Tokens that an index of memories holds beside `tokens(s)`, so that other spellings find it:
    `utf-8` also as utf8, `café` also as cafe, and the last sign of a run of a script without
    spaces, whose other signs each begin a pair (see `is_sign`)."""
    # Only where a run of letters begins: tried at each of them, a long run without a dash costs the
    # square of its length.
    compounds = _LATE.get("compounds") or _late(
        "compounds", r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+"
    )
    joined = (word.replace("-", "").lower() for word in compounds.findall(s))
    found = [word for word in joined if len(word) <= LONGEST_WORD]
    if s.isascii():
        return found
    wide = normalize("NFKC", s)
    runs = _LATE.get("runs") or _late("runs", f"([{_RUNS}]+)")
    found += [_fold(run)[-1] for run in runs.findall(wide) if len(_fold(run)) > 1]
    for token in tokens(wide):
        if not token.isascii():
            bare = "".join([c for c in normalize("NFD", token) if category(c) != "Mn"])
            # Other scripts keep their marks, which tell words apart there.
            found += [bare] if bare and bare.isascii() else []
    return found


def is_sign(token: str) -> bool:
    """Whether a token is one sign of a script written without spaces: it is then looked for as the
    beginning of pairs, and by itself where it ends a run."""
    runs = _LATE.get("runs") or _late("runs", f"([{_RUNS}]+)")
    return len(token) == 1 and not token.isascii() and runs.fullmatch(token) is not None


def counts(s: str, cap: int = 8) -> dict[str, int]:
    """Each token of `s` with how often it occurs, at most `cap`; for whole files."""
    totals: dict[str, int] = {}
    get = totals.get
    if not s.isascii():
        # A line end neither composes with its neighbours nor is part of a word, so the few lines
        # with other letters can be counted for themselves.
        lines = s.split("\n")
        for word in _words("\n".join([line for line in lines if not line.isascii()])):
            for piece in _pieces(word):
                totals[piece] = get(piece, 0) + 1
        s = "\n".join([line for line in lines if line.isascii()])
    known = _KNOWN_ASCII.get
    # Counting whole identifiers first is what makes it fast: each distinct one is split once.
    for raw, n in Counter(s.encode().translate(_ASCII_ONLY_WORDS).split()).items():
        for piece in known(raw) or _raw_pieces(raw):
            totals[piece] = get(piece, 0) + n
    return {piece: n if n < cap else cap for piece, n in totals.items()}


def _raw_pieces(raw: bytes) -> tuple[str, ...]:
    """`_pieces` for the bytes of an ASCII word: cheaper to cut and to count than text."""
    if len(_KNOWN_ASCII) >= _KNOWN_LIMIT:
        _KNOWN_ASCII.clear()
    pieces = _KNOWN_ASCII[raw] = _ascii_pieces(raw.decode())
    return pieces


def _words(s: str) -> list[str]:
    """Identifiers and words of `s` as they are written, after NFKC."""
    if s.isascii():
        return _ASCII_WORDS.findall(s)
    words = _LATE.get("words") or _late("words", rf"[\w{_MARKS}]+")
    return words.findall(normalize("NFKC", s))


def _pieces(word: str) -> tuple[str, ...]:
    """The tokens of one word, remembered: texts repeat their words."""
    pieces = _KNOWN.get(word)
    if pieces is None:
        pieces = _ascii_pieces(word) if word.isascii() else tuple(_wide_pieces(word))
        if len(_KNOWN) >= _KNOWN_LIMIT:
            _KNOWN.clear()
        _KNOWN[word] = pieces
    return pieces


def _ascii_pieces(word: str) -> tuple[str, ...]:
    if len(word) > LONGEST_WORD:
        return ()
    if word.islower():
        # Without capitals only underscores cut, and nearly every word has neither.
        lower = [part for part in word.split("_") if part] if "_" in word else [word]
    else:
        lower = [part.lower() for part in _PARTS.findall(word)]
    if len(lower) > 1:
        lower.append("".join(lower))
    return tuple(lower)


def _wide_pieces(word: str) -> Iterable[str]:
    """The tokens of a word with letters beyond ASCII: runs by pairs, the rest as identifiers."""
    split = _LATE.get("runs") or _late("runs", f"([{_RUNS}]+)")
    for place, run in enumerate(split.split(word)):
        folded = _fold(run)
        if place % 2:
            yield from (folded[i : i + 2] for i in range(max(1, len(folded) - 1)))
        elif folded and len(run) <= LONGEST_WORD:
            # The parts are found on a copy in which every letter is an ASCII one of its case.
            shape = "".join(map(_shape, run))
            parts = [_fold(run[m.start() : m.end()]) for m in _PARTS.finditer(shape)]
            yield from filter(None, parts)
            if len(parts) > 1:
                yield "".join(parts)


def _fold(s: str) -> str:
    """Case folded without the joiners, which carry no letter."""
    return normalize("NFKC", s.casefold()).replace("\u200c", "").replace("\u200d", "")


def _shape(c: str) -> str:
    if c == "_":
        return "_"
    if c.isupper():
        return "A"
    return "0" if category(c) == "Nd" else "a"


def _late(name: str, pattern: str) -> re.Pattern[str]:
    # Compiling the big classes costs about as much as the whole module; most texts are ASCII.
    _LATE[name] = re.compile(pattern)
    return _LATE[name]


# -- queries ---------------------------------------------------------------------------------------

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can
    could did do does doing done don for from get gets got had has have he her here him his how i
    if in into is it its just let like ll make may me might more most must my need no not now of
    off on one only or other our out over please re s same she should so some such t than that
    the their them then there these they this those to too up us use used using ve very want was
    way we were what when where which while who why will with would you your
    """.split()  # noqa: SIM905 - as quoted words this line would be a page
)


def query_tokens(s: str) -> tuple[str, ...]:
    """Distinct tokens of a query in order, without stop words unless nothing else is left."""
    distinct = tuple(dict.fromkeys(tokens(s)))
    return tuple(token for token in distinct if token not in STOP_WORDS) or distinct


TYPO_LENGTH = 5
"""Words of fewer letters are too close to each other to forgive an edit."""


def within_one_edit(a: str, b: str) -> bool:
    """Whether two words of five letters or more differ by at most one edit: a letter inserted,
    left out, exchanged, or two neighbours swapped."""
    if a == b:
        return len(a) >= TYPO_LENGTH
    if len(a) > len(b):
        a, b = b, a
    if len(a) < TYPO_LENGTH or len(b) - len(a) > 1:
        return False
    at = 0
    while at < len(a) and a[at] == b[at]:
        at += 1
    if len(a) < len(b):
        return a[at:] == b[at + 1 :]
    if a[at + 1 :] == b[at + 1 :]:
        return True
    return a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :]


def near(word: str, vocabulary: Iterable[str]) -> list[str]:
    """The words of `vocabulary` within one edit of `word`, itself left out; fast enough for a
    vocabulary of a hundred thousand."""
    if len(word) < TYPO_LENGTH:
        return []
    # One edit leaves the first part or the last part as it is, also a swap across the middle,
    # because the two parts leave a letter between them. That settles nearly every word.
    half = (len(word) - 1) // 2
    head, tail = word[:half], word[-half:]
    return [
        other
        for other in vocabulary
        if (other.startswith(head) or other.endswith(tail))
        and other != word
        and within_one_edit(word, other)
    ]


def coverage(query: tuple[str, ...], have: Set[str]) -> float:
    """Share of `query` tokens in `have`, 0.0 to 1.0; a one-edit typo counts as present, and one
    sign of a script without spaces where a pair begins with it."""
    if not query:
        return 0.0
    present = sum(
        token in have
        or bool(near(token, have))
        or (is_sign(token) and any(other.startswith(token) for other in have))
        for token in query
    )
    return present / len(query)
