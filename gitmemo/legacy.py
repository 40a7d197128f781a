"""What an entry of an old store says, and what it becomes: bytes and values in, values out.

Old stores have no marker: branches that follow the code's, no trailers, front matter written by
whoever wrote the entry. Title, keywords and summary are inferred by fixed rules; what cannot be
inferred stays empty and is warned about, nothing is guessed. The content is the whole old file, so
nothing of it is lost and the digest can be checked against any other engine's migration.

No YAML library reads this front matter, on purpose: such lines were never promised to be YAML
(`tags: a, b` is one text there, `tags: [a: b]` an error), and the migration of the format keeps the
quotes and commas of list items and drops those of flow lists, which no YAML reader does. The rules
below are those of the recorded reports, to the letter.

Never here: git, disk, clock. Tests: tests/gitmemo/test_legacy.py, test_legacy_golden.py.
"""

import re
from collections.abc import Container, Iterable, Sequence
from json import dumps
from typing import NamedTuple
from unicodedata import normalize

from gitmemo import entry, redact, trailers
from gitmemo.chain import is_entry_path
from gitmemo.errors import InvalidDraft
from gitmemo.model import Change, CodeState, Draft, EntryId, Kind
from gitmemo.text import JS_SPACE, dated_path, iso_date, js_strip, norm, utf16_len

UNTITLED = "legacy memory"
KEYWORDS_MOST = entry.KEYWORDS[1]
BASELINE = "dsh-gitmemo-migration-baseline"

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SPACES = re.compile(f"[{JS_SPACE}]+")
_RESERVED = re.compile(r"^(?=\s*GitMemo-[A-Za-z0-9-]+:)", re.IGNORECASE | re.MULTILINE)
_COMMAS = re.compile("[,，、]")
_KEY = re.compile(r"([A-Za-z_]+)[ \t]*:[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_SAID = re.compile(
    r"^[ \t]*(?:keywords?|tags?)[ \t]*[:：](.*[,，、].*)$", re.IGNORECASE | re.MULTILINE
)
_OUTCOME = re.compile(r"^#{1,6}[ \t]+final outcome[ \t]*$", re.IGNORECASE | re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Said(NamedTuple):
    """What one old file and the message of its commit say. `related_paths` are those that its
    author named; `warnings` tell what was changed or could not be found."""

    title: str
    summary: str
    keywords: tuple[str, ...]
    content: str
    related_paths: tuple[str, ...]
    warnings: tuple[str, ...]


class Source(NamedTuple):
    """An old entry as it was found: its file on `branch`, last touched by `commit`. `digest` is the
    SHA-256 of its bytes, `author` and `time_s` those of the commit."""

    branch: str
    path: str
    commit: EntryId
    time_s: int
    author: str
    digest: str


class OldEntry(NamedTuple):
    """An entry that a migration will make. `digest` is the new one, of the format."""

    source: Source
    said: Said
    digest: str
    secrets: tuple[str, ...]


class Conflict(NamedTuple):
    """One path with different contents on different branches: which one is true, nobody guesses."""

    path: str
    variants: tuple[Source, ...]


class Migration(NamedTuple):
    """What a migration would do. `legacy` is False where the store has the present format already;
    `tips` are the branches (and HEAD, where it stands on none); `found` counts files on all
    branches; `doubles` are (left out, same as) for equal contents under two names; `marked` are
    sources that have the present format's trailers: the store only lost its marker."""

    mem: str
    legacy: bool
    scanned_ms: int
    tips: tuple[tuple[str, EntryId], ...] = ()
    found: int = 0
    entries: tuple[OldEntry, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    warnings: tuple[str, ...] = ()
    doubles: tuple[tuple[str, str], ...] = ()
    marked: tuple[str, ...] = ()


class Migrated(NamedTuple):
    """What a migration did: the new tip of main, how many entries, from which branches; `backup`
    is where the old commits stay readable, `kept` the old folder where it had to stay, `why`
    names what it holds that no history does."""

    tip: EntryId
    entries: int
    branches: tuple[str, ...]
    backup: str
    kept: str | None
    why: tuple[str, ...]


# -- one file --------------------------------------------------------------------------------------


def read(data: bytes, message: str) -> Said:
    """What the old file `data` says, whose last commit has `message`; never raises."""
    warnings: list[str] = []
    content, problem = decoded(data)
    if problem:
        warnings.append(problem)
    text = content.removeprefix("\ufeff").replace("\r\n", "\n")
    body = js_strip(_GAPS.sub("\n\n", message.replace("\r\n", "\n").lstrip("\n")))
    front = _front(text)
    title = _title(body, warnings)
    keywords = _keywords(front, body, warnings)
    summary = _summary(text, body, warnings)
    related = _related(front, warnings)
    if len(data) > entry.CONTENT_LIMIT:
        warnings.append("content is larger than 1 MiB")
    return Said(title, summary, keywords, content, related, tuple(warnings))


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file, and what had to be done to get it ("" for UTF-8)."""
    encoding = _BOMS.get(data[:2])
    if encoding is not None:
        return data.decode(encoding, "replace"), "content was UTF-16 and becomes UTF-8"
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), "content is not UTF-8; unreadable bytes are marked"


def _title(body: str, warnings: list[str]) -> str:
    subject = _harmless(body.partition("\n")[0], "title", warnings)
    if not subject:
        warnings.append("entry with empty subject — titled 'legacy memory'")
        return UNTITLED
    return _cut(_SPACES.sub(" ", subject), entry.TITLE_LIMIT)


def _summary(text: str, body: str, warnings: list[str]) -> str:
    found = _cut(_harmless(_outcome(text) or body, "summary", warnings), entry.SUMMARY_LIMIT)
    if not found:
        warnings.append("no summary could be inferred")
    return found


def _outcome(text: str) -> str:
    """The first paragraph under a `Final Outcome` heading, on one line; "" where there is none."""
    heading = _OUTCOME.search(text)
    if heading is None:
        return ""
    lines: list[str] = []
    for line in map(js_strip, text[heading.end() :].split("\n")):
        if line.startswith("#") or (not line and lines):
            break
        if line:
            lines.append(line)
    return " ".join(lines)


def _harmless(text: str, field: str, warnings: list[str]) -> str:
    """`text` without what a message cannot hold: controls, and lines that would be trailers."""
    clean = _RESERVED.sub("> ", _CONTROLS.sub("", text.replace("\r", "\n")))
    clean = js_strip(re.sub("[\u2028\u2029]", "\n", clean) if _RESERVED.search(clean) else clean)
    if clean != js_strip(text):
        warnings.append(f"sanitized legacy {field}")
    return clean


def _cut(text: str, limit: int) -> str:
    """At most `limit` UTF-16 units of `text`, no character halved."""
    if utf16_len(text) <= limit:
        return text
    cut = text.encode("utf-16-le", "surrogatepass")[: 2 * limit]
    return js_strip(cut.decode("utf-16-le", "ignore"))


# -- keywords --------------------------------------------------------------------------------------


def _front(text: str) -> dict[str, list[str]]:
    """The lists of the front matter by their keys, in lower case; none where there is no front."""
    if not text.startswith("---\n"):
        return {}
    lines = text.split("\n")[1:]
    end = next((at for at, line in enumerate(lines) if line.rstrip() == "---"), None)
    front: dict[str, list[str]] = {}
    at = 0
    while end is not None and at < end:
        key = _KEY.fullmatch(lines[at])
        at += 1
        if key is None:
            continue
        value = key[2].strip()
        items: list[str] = []
        if not value:  # list style: what stands behind the dash, as it stands there
            while at < end and (item := _ITEM.fullmatch(lines[at])):
                items.append(item[1].strip())
                at += 1
        else:
            while value.startswith("[") and not value.endswith("]") and at < end:
                value += lines[at].strip()
                at += 1
            items = [_bare(part) for part in _COMMAS.split(value.strip("[]"))]
        front.setdefault(key[1].lower(), items)
    return front


def _bare(text: str) -> str:
    text = js_strip(text)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return js_strip(text[1:-1]) if quoted else text


def _keywords(front: dict[str, list[str]], body: str, warnings: list[str]) -> tuple[str, ...]:
    given = [word for key, words in front.items() if key in ("tags", "keywords") for word in words]
    if not any(given):
        given = [part for line in _SAID.findall(body) for part in _COMMAS.split(line)]
    distinct: dict[str, str] = {}
    for word in map(js_strip, given):
        if not word:
            continue
        clean = _keyword(word)
        if clean != word:
            warnings.append(f"sanitized legacy keyword: {dumps(word, ensure_ascii=False)}")
        if clean:
            distinct.setdefault(norm(clean), clean)
    if not distinct:
        warnings.append(
            "no keywords could be inferred deterministically (legacy entries allow 0-12)"
        )
    return tuple(distinct.values())[:KEYWORDS_MOST]


def _keyword(word: str) -> str:
    clean = _SPACES.sub(" ", _CONTROLS.sub("", normalize("NFKC", word)))
    clean = "" if _RESERVED.match(clean) else clean
    return _cut(js_strip(clean), entry.KEYWORD_LIMIT)


def _related(front: dict[str, list[str]], warnings: list[str]) -> tuple[str, ...]:
    """The files that the author named, as far as they are paths of a project."""
    paths: list[str] = []
    for given in filter(None, map(_bare, front.get("related_paths", ()))):
        try:
            paths.append(entry.normal_path(given))
        except InvalidDraft:
            warnings.append(f"left out a related path: {dumps(given[:80], ensure_ascii=False)}")
    return tuple(dict.fromkeys(paths))[: entry.PATHS_LIMIT - 1]


# -- what it becomes -------------------------------------------------------------------------------


def planned(source: Source, said: Said) -> OldEntry:
    """The entry that `source` becomes. Secrets are named and stay: they are history already, and a
    silent change would break the promise that the content is the old file."""
    draft = Draft(said.title, said.summary, said.keywords, said.content)
    kinds = dict.fromkeys(one.kind for one in redact.redact(draft)[1])
    digest = entry.digest(
        title=said.title,
        summary=said.summary,
        keywords=said.keywords,
        content=said.content,
        kind=Kind.TASK,
    )
    return OldEntry(source, said, digest, tuple(kinds))


def related_paths(one: OldEntry) -> tuple[str, ...]:
    """The related paths of the new entry: where the old one lay, then those of its author."""
    old = f"entries/{one.source.path.rpartition('/')[2]}"
    return tuple(dict.fromkeys((old, *one.said.related_paths)))


def change(one: OldEntry, taken: Container[str]) -> Change:
    """The commit that adds the new entry, dated as the old one; `taken` are paths in use."""
    source, said = one.source, one.said
    at_ms = source.time_s * 1000
    data = entry.render(
        title=said.title,
        summary=said.summary,
        keywords=said.keywords,
        content=said.content,
        kind=Kind.TASK,
        epoch_ms=at_ms,
        code=CodeState(source.branch, source.commit),
        related_branches=(source.branch,),
        related_paths=related_paths(one),
    )
    message = trailers.build(
        title=said.title,
        summary=said.summary,
        keywords=said.keywords,
        digest=one.digest,
        legacy=True,
    )
    path = dated_path(entry.file_name(said.title, one.digest, at_ms))
    stem, number, free = path.removesuffix(".md"), 1, path
    while free in taken:
        number += 1
        free = f"{stem}-{number}.md"
    return Change("add", ((free, data),), (), trailers.tidy(message), one.digest)


def project_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """The related paths of a migrated entry that are files of the project: where the entry itself
    lay in the old store is none, and must not be looked for in the code."""
    return tuple(path for path in paths if not is_entry_path(path))


def in_order(entries: Sequence[OldEntry]) -> list[OldEntry]:
    """The entries in the order in which they are committed: oldest first."""
    return sorted(entries, key=lambda one: one.source.time_s)


def baseline(report: Migration) -> dict[str, object]:
    """The report in the form that other engines of the format write and read."""
    conflicts = [
        {
            "path": conflict.path,
            "variants": [
                {"branch": one.branch, "hash": one.commit, "digest": one.digest}
                for one in conflict.variants
            ],
        }
        for conflict in report.conflicts
    ]
    return {
        "format": BASELINE,
        "version": 1,
        "root": report.mem.rpartition("/")[0],
        "memDir": report.mem,
        "scannedAt": iso_date(report.scanned_ms),
        "tips": dict(report.tips),
        "entries": [_baseline_entry(one) for one in report.entries],
        "conflicts": conflicts,
        "warnings": list(report.warnings),
    }


def dry_run(report: Migration) -> dict[str, object]:
    """The whole report in that form: what a dry run of another engine prints."""
    return {
        "legacy": report.legacy,
        "branches": [branch for branch, _ in report.tips],
        "tips": dict(report.tips),
        "oldEntryCount": report.found,
        "uniqueEntryCount": len(report.entries),
        "conflictCount": len(report.conflicts),
        "estimatedMainCommits": len(report.entries) + 1,
        "baseline": baseline(report),
        "warnings": list(report.warnings),
    }


def _baseline_entry(one: OldEntry) -> dict[str, object]:
    source, said = one.source, one.said
    return {
        "title": said.title,
        "summary": said.summary,
        "keywords": list(said.keywords),
        "content": said.content,
        "date": iso_date(source.time_s * 1000),
        "codeBranch": source.branch,
        "codeCommit": source.commit,
        "relatedBranches": [source.branch],
        "relatedPaths": list(related_paths(one)),
        "digest": one.digest,
        "sourceBranch": source.branch,
        "sourcePath": source.path,
    }
