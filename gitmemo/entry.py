"""Entries as their authors hand them in, and the files they become.

A draft is cleaned here by the format's rules (lengths in UTF-16 units, JavaScript's idea of white
space and lines) and rendered to the bytes of its file; `parse` reads such bytes back, also those
of other engines. The digest is the duplicate guard of the format, so its text must be the same to
the letter everywhere. Never here: commit messages, secrets, the disk; whether a related path
exists is the store's question. Tests: tests/gitmemo/test_entry.py, test_vectors.py.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from json import JSONDecodeError, dumps, loads
from typing import NamedTuple
from unicodedata import normalize

from gitmemo.errors import InvalidDraft
from gitmemo.model import Anchor, CodeState, Draft, Kind
from gitmemo.text import JS_SPACE, iso_date, js_strip, norm, slug, utf16_len
from gitmemo.trailers import anchor_text, parse_anchor

TITLE_LIMIT = 200
SUMMARY_LIMIT = 4000
KEYWORD_LIMIT = 64
KEYWORDS = (2, 12)
CONTENT_LIMIT = 1 << 20
REASON_LIMIT = 4000
PATHS_LIMIT, PATH_LIMIT = 128, 1024
BRANCHES_LIMIT, BRANCH_LIMIT = 32, 256
LINKS_LIMIT = 32

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# JavaScript's `^` with the `m` flag: a line starts after any of its four line ends.
_RESERVED = re.compile(
    rf"(?:\A|[\n\r\u2028\u2029])[{JS_SPACE}]*GitMemo-[A-Z0-9-]+:", re.IGNORECASE | re.ASCII
)
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_LINK = re.compile(r"\[\[([0-9a-fA-F]{7,64})\]\]")


# -- drafts ----------------------------------------------------------------------------------------


def validate(draft: Draft, *, legacy: bool = False) -> Draft:
    """`draft` cleaned: texts trimmed, lists deduped, paths normal. Raises InvalidDraft.

    `kind` None stays None, because only the caller knows what is inherited. Content that was not
    given at all ("") becomes the summary: then that is the outcome. `legacy` entries (migrated
    ones) may have no keywords.
    """
    title = _line("title", draft.title, TITLE_LIMIT)
    summary = _prose("summary", draft.summary, SUMMARY_LIMIT)
    keywords = _keywords(draft.keywords, least=0 if legacy else KEYWORDS[0])
    return draft._replace(
        title=title,
        summary=summary,
        keywords=keywords,
        content=_content(draft.content or summary),
        related_paths=_paths(draft.related_paths),
        related_branches=_branches(draft.related_branches),
        anchors=_anchors(draft.anchors),
    )


def from_fields(fields: Mapping[str, object]) -> Draft:
    """A draft from untyped values such as JSON gives; raises InvalidDraft with problem `type` where
    a type is wrong, `empty` where a needed field is missing. Keywords that are no strings are left
    out, as the format's first engine does."""
    texts = {name: fields.get(name) for name in ("title", "summary", "content")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InvalidDraft(name, "empty" if text is None else "type")
    kind = fields.get("kind")
    if "kind" in fields and kind not in (Kind.TASK, Kind.TOPIC):
        raise InvalidDraft("kind", "unknown", str(kind))
    return Draft(
        title=str(texts["title"]),
        summary=str(texts["summary"]),
        keywords=_strings(fields, "keywords", lenient=True),
        content=str(texts["content"]),
        kind=None if kind is None else Kind(str(kind)),
        related_paths=_strings(fields, "related_paths"),
        related_branches=_strings(fields, "related_branches"),
    )


def validate_reason(reason: str) -> str:
    """A withdrawal's reason, trimmed; raises InvalidDraft with field `reason`."""
    return _prose("reason", reason, REASON_LIMIT)


def query_keyword(keyword: str) -> str:
    """One keyword of a trailer search, folded; raises InvalidDraft with field `keyword`. It may
    look like a trailer: a question puts nothing into a message."""
    return norm(_text("keyword", _one_line("keyword", keyword), KEYWORD_LIMIT))


def _text(field: str, text: str, limit: int) -> str:
    """A trimmed text of 1 to `limit` UTF-16 units without controls."""
    text = js_strip(text)
    if not text:
        raise InvalidDraft(field, "empty")
    if utf16_len(text) > limit:
        raise InvalidDraft(field, "too-long", str(limit))
    _refuse_controls(field, text)
    return text


def _prose(field: str, text: str, limit: int) -> str:
    """The same without lines that would read as trailers."""
    text = _text(field, text, limit)
    if _RESERVED.search(text):
        raise InvalidDraft(field, "reserved")
    return text


def _one_line(field: str, text: str) -> str:
    text = js_strip(text)
    if "\n" in text or "\r" in text:
        raise InvalidDraft(field, "not-one-line")
    return text


def _line(field: str, text: str, limit: int) -> str:
    return _prose(field, _one_line(field, text), limit)


def _refuse_controls(field: str, text: str) -> None:
    if _CONTROLS.search(text):
        raise InvalidDraft(field, "control-character")
    if _SURROGATES.search(text):  # bytes that were no UTF-8: no message could hold them
        raise InvalidDraft(field, "not-unicode")


def _content(content: str) -> str:
    if not js_strip(content):
        raise InvalidDraft("content", "empty")
    _refuse_controls("content", content)
    if len(content) > CONTENT_LIMIT or len(content.encode()) > CONTENT_LIMIT:
        raise InvalidDraft("content", "too-long", str(CONTENT_LIMIT))
    return content


def _keywords(keywords: Sequence[str], *, least: int) -> tuple[str, ...]:
    given = [keyword for keyword in map(js_strip, keywords) if keyword]
    if not least <= len(given) <= KEYWORDS[1]:
        raise InvalidDraft("keywords", "count", str(len(given)))
    distinct: dict[str, str] = {}
    for keyword in given:
        clean = _line("keywords", keyword, KEYWORD_LIMIT)
        distinct.setdefault(norm(clean), clean)
    if len(distinct) < least:
        raise InvalidDraft("keywords", "count-distinct", str(len(distinct)))
    return tuple(distinct.values())


def _branches(branches: Sequence[str]) -> tuple[str, ...]:
    if len(branches) > BRANCHES_LIMIT:
        raise InvalidDraft("related_branches", "count", str(len(branches)))
    clean: list[str] = []
    for given in branches:
        branch = js_strip(normalize("NFKC", given))
        if not 1 <= utf16_len(branch) <= BRANCH_LIMIT:
            raise InvalidDraft("related_branches", "length", branch)
        if "\n" in branch or "\r" in branch:
            raise InvalidDraft("related_branches", "not-one-line", branch)
        _refuse_controls("related_branches", branch)
        clean.append(branch)
    return tuple(dict.fromkeys(clean))


def _paths(paths: Sequence[str]) -> tuple[str, ...]:
    if len(paths) > PATHS_LIMIT:
        raise InvalidDraft("related_paths", "count", str(len(paths)))
    return tuple(dict.fromkeys(map(normal_path, paths)))


def normal_path(path: str) -> str:
    """`path` project-relative and POSIX; raises InvalidDraft with field `related_paths`. Bytes that
    were no UTF-8 may be there as `os.fsdecode` gives them."""
    if not 1 <= utf16_len(path) <= PATH_LIMIT:
        raise InvalidDraft("related_paths", "length", path[:80])
    trimmed = js_strip(path)
    if not trimmed:
        raise InvalidDraft("related_paths", "empty")
    if _CONTROLS.search(trimmed):
        raise InvalidDraft("related_paths", "control-character", trimmed)
    if re.search(r"[\ud800-\udc7f\udd00-\udfff]", trimmed):
        raise InvalidDraft("related_paths", "not-unicode")
    if trimmed.startswith("/") or _DRIVE.match(trimmed):
        raise InvalidDraft("related_paths", "absolute", trimmed)
    parts: list[str] = []
    for part in trimmed.replace("\\", "/").split("/"):
        if part == "..":
            if not parts:
                raise InvalidDraft("related_paths", "escapes", trimmed)
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise InvalidDraft("related_paths", "root", trimmed)
    return "/".join(parts)


def _anchors(anchors: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """Distinct anchors whose text reads back as themselves."""
    for anchor in anchors:
        if parse_anchor(anchor_text(anchor)) != anchor:
            raise InvalidDraft("anchors", "malformed", f"{anchor.path}#{anchor.symbol or ''}")
    return tuple(dict.fromkeys(anchors))


def _strings(fields: Mapping[str, object], name: str, *, lenient: bool = False) -> tuple[str, ...]:
    values = fields.get(name, ())
    if not isinstance(values, list | tuple):
        raise InvalidDraft(name, "type")
    if not lenient and not all(isinstance(value, str) for value in values):
        raise InvalidDraft(name, "type")
    return tuple(value for value in values if isinstance(value, str))


# -- the duplicate guard ---------------------------------------------------------------------------


def digest(
    *, title: str, summary: str, keywords: Sequence[str], content: str, kind: Kind | None
) -> str:
    """64 hex digits over what an entry says; `kind` None gives the earliest build's formula."""
    fields: dict[str, object] = {
        "title": js_strip(title),
        "summary": js_strip(summary),
        "keywords": sorted(set(map(norm, keywords)), key=_utf16),
        "content": content,
    }
    if kind is not None:
        fields["kind"] = kind.value
    return sha256(_json(fields, (",", ":")).encode()).hexdigest()


def digests(
    *, title: str, summary: str, keywords: Sequence[str], content: str, kind: Kind
) -> tuple[str, ...]:
    """All digests under which an equal entry may be stored, the own one first: tasks of the
    earliest build were guarded without their kind."""
    own = digest(title=title, summary=summary, keywords=keywords, content=content, kind=kind)
    if kind is not Kind.TASK:
        return (own,)
    old = digest(title=title, summary=summary, keywords=keywords, content=content, kind=None)
    return (own, old)


def _utf16(s: str) -> bytes:
    return s.encode("utf-16-be", "surrogatepass")


def _json(value: object, separators: tuple[str, str] = (", ", ": ")) -> str:
    """JSON as JavaScript writes it: characters unescaped, lone surrogates as `\\udXXX`."""
    text = dumps(value, ensure_ascii=False, separators=separators)
    return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# -- files -----------------------------------------------------------------------------------------


def file_name(title: str, digest: str, epoch_ms: int) -> str:
    """The base name of an entry file, `.md` included: `<UTC>-<8 of digest>-<slug>.md`."""
    stamp = iso_date(epoch_ms).replace("-", "").replace(":", "")
    return f"{stamp}-{digest[:8]}-{slug(title)}.md"


def render(
    *,
    title: str,
    summary: str,
    keywords: Sequence[str],
    content: str,
    kind: Kind,
    epoch_ms: int,
    code: CodeState,
    related_branches: Sequence[str] = (),
    related_paths: Sequence[str] = (),
    anchors: Sequence[Anchor] = (),
) -> bytes:
    """The bytes of an entry file. `anchors` is our own key, the last one, absent where there are
    none; other engines do not read the front matter back."""
    front = [
        '---\ngitmemo_version: "2"',
        f"date: {_json(iso_date(epoch_ms))}",
        f"kind: {_json(kind.value)}",
        f"code_branch: {_json(code.branch)}",
        f"code_commit: {_json(code.commit)}",
        f"related_branches: {_json(list(related_branches))}",
        f"related_paths: {_json(list(related_paths))}",
        f"keywords: {_json(list(keywords))}",
    ]
    if anchors:
        front.append(f"anchors: {_json([anchor_text(anchor) for anchor in anchors])}")
    body = f"---\n\n# {title}{_SUMMARY}{summary}{_OUTCOME}{content}\n"
    return "\n".join([*front, body]).encode()


# -- reading ---------------------------------------------------------------------------------------

_SUMMARY = "\n\n## Summary\n\n"
_OUTCOME = "\n\n## Final Outcome\n\n"


class EntryFile(NamedTuple):
    """What an entry file says. Absent keys are empty; `kind` is None in the earliest build's
    files; a file of another shape is all `content`."""

    title: str
    summary: str
    content: str
    date: str
    kind: Kind | None
    code: CodeState
    related_branches: tuple[str, ...]
    related_paths: tuple[str, ...]
    keywords: tuple[str, ...]
    anchors: tuple[Anchor, ...]


def parse(data: bytes, *, digest: str | None = None) -> EntryFile:
    """What an entry file says; never raises. `digest` (bare hex) settles where the summary ends
    when it contains a heading of its own like the one that follows it."""
    text = data.decode("utf-8", "replace")
    front, body = _split_front(text)
    keywords = _list(front, "keywords")
    kind = front.get("kind")
    title, summary, content = _split_body(body, keywords, kind, digest)
    return EntryFile(
        title=title,
        summary=summary,
        content=content,
        date=_scalar(front, "date", ""),
        kind=Kind(kind) if kind in (Kind.TASK.value, Kind.TOPIC.value) else None,
        code=CodeState(
            _scalar(front, "code_branch", "unknown"), _scalar(front, "code_commit", "unknown")
        ),
        related_branches=_list(front, "related_branches"),
        related_paths=_list(front, "related_paths"),
        keywords=keywords,
        anchors=tuple(a for a in map(parse_anchor, _list(front, "anchors")) if a is not None),
    )


def _split_front(text: str) -> tuple[dict[str, object], str]:
    """The front matter's keys whose values are JSON, and what follows it."""
    if not text.startswith("---\n"):
        return {}, text
    end = text.find("\n---\n", 3)
    if end < 0:
        return {}, text
    front: dict[str, object] = {}
    for line in text[4:end].split("\n"):
        name, colon, value = line.partition(": ")
        if colon:
            try:
                front.setdefault(name, loads(value))
            except (JSONDecodeError, RecursionError):
                continue  # another engine's plain YAML: not a key of ours
    return front, text[end + len("\n---\n") :]


def _split_body(
    body: str, keywords: Sequence[str], kind: object, wanted: str | None
) -> tuple[str, str, str]:
    """Title, summary and content of the text below the front matter."""
    head, has_summary, rest = body.partition(_SUMMARY)
    if not has_summary or not head.startswith("\n# ") or _OUTCOME not in rest:
        return "", "", body
    title = head.removeprefix("\n# ")
    cuts = [found.start() for found in re.finditer(f"(?={_OUTCOME})", rest)]
    parts = [(rest[:cut], rest[cut + len(_OUTCOME) :].removesuffix("\n")) for cut in cuts]
    if len(parts) > 1 and wanted is not None:
        spoken = Kind.TOPIC if kind == Kind.TOPIC.value else Kind.TASK
        for summary, content in parts:
            if wanted in digests(
                title=title, summary=summary, keywords=keywords, content=content, kind=spoken
            ):
                return title, summary, content
    return title, *parts[0]


def _scalar(front: Mapping[str, object], name: str, default: str) -> str:
    value = front.get(name)
    return value if isinstance(value, str) else default


def _list(front: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = front.get(name)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def links(text: str) -> tuple[str, ...]:
    """Targets of `[[hash]]` in `text`, lower case, the first 32 distinct ones."""
    return tuple(dict.fromkeys(link.lower() for link in _LINK.findall(text)))[:LINKS_LIMIT]
