"""Entry files and drafts: what an author hands in, cleaned, and its file."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gitmemo.model import Anchor, CodeState, Draft, Kind


class EntryFile(NamedTuple):
    """What an entry file says. Absent keys are empty; `kind` None in the earliest build's files."""

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


def validate(draft: Draft, *, legacy: bool = False) -> Draft:
    """`draft` cleaned (trimmed, deduped, paths normal); raises InvalidDraft. `kind` None stays."""
    raise NotImplementedError


def from_fields(fields: Mapping[str, object]) -> Draft:
    """A draft from untyped values (JSON); raises InvalidDraft where a type is wrong."""
    raise NotImplementedError


def validate_reason(reason: str) -> str:
    """A withdrawal's reason, trimmed; raises InvalidDraft with field `reason`."""
    raise NotImplementedError


def query_keyword(keyword: str) -> str:
    """One keyword of a trailer search, folded; raises InvalidDraft with field `keyword`."""
    raise NotImplementedError


def normal_path(path: str) -> str:
    """`path` project-relative and POSIX; raises InvalidDraft with field `related_paths`."""
    raise NotImplementedError


def digest(
    *, title: str, summary: str, keywords: Sequence[str], content: str, kind: Kind | None
) -> str:
    """64 hex digits of the duplicate guard; `kind` None gives the earliest build's formula."""
    raise NotImplementedError


def digests(
    *, title: str, summary: str, keywords: Sequence[str], content: str, kind: Kind
) -> tuple[str, ...]:
    """All digests under which an equal entry may be stored: the own one first."""
    raise NotImplementedError


def slug(title: str) -> str:
    """The title's part of a file name."""
    raise NotImplementedError


def file_name(title: str, digest: str, epoch_ms: int) -> str:
    """The base name of an entry file, `.md` included."""
    raise NotImplementedError


def dated_path(name: str) -> str:
    """`entries/YYYY/MM/DD/<name>` for a base name made by `file_name`."""
    raise NotImplementedError


def is_entry_path(path: str) -> bool:
    """Whether `path` (inside `.mem`) is an entry file."""
    return path.startswith("entries/") and path.endswith(".md") and len(path) > len("entries/.md")


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
    """The bytes of an entry file."""
    raise NotImplementedError


def parse(data: bytes, *, digest: str | None = None) -> EntryFile:
    """What an entry file says; never raises. `digest` settles where the summary ends."""
    raise NotImplementedError


def links(text: str) -> tuple[str, ...]:
    """Targets of `[[hash]]` in `text`, lower case, the first 32 distinct ones."""
    raise NotImplementedError
