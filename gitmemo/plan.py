"""Plans: what one commit will do to a store, decided purely and carried out by the store.

Given a validated and redacted draft, a plan holds the bytes of the file, the message, and what is
removed, so the intent record, the commit and the tests speak of the same value. Never here: disk,
git, clock; whether an equal entry is active is the store's question. Tests:
tests/gitmemo/test_plan.py.
"""

from collections.abc import Container, Sequence

from gitmemo import entry as entries
from gitmemo import trailers
from gitmemo.model import Act, Anchor, Change, CodeState, Draft, Entry, Kind
from gitmemo.text import dated_path

_NOWHERE = CodeState()


def add(
    draft: Draft,
    *,
    now_ms: int,
    code: CodeState = _NOWHERE,
    anchors: Sequence[Anchor] = (),
    taken: Container[str] = (),
) -> Change:
    """Add `draft`. `anchors` are all of them, file anchors included; `taken` are paths of `.mem`
    that exist. Kind None means task."""
    return _write(
        draft._replace(kind=draft.kind or Kind.TASK),
        None,
        now_ms=now_ms,
        code=code,
        anchors=anchors,
        taken=taken,
    )


def replace(
    old: Entry,
    draft: Draft,
    *,
    now_ms: int,
    code: CodeState = _NOWHERE,
    anchors: Sequence[Anchor] = (),
    taken: Container[str] = (),
) -> Change:
    """Replace `old`, which must be active. Kind None means the old entry's."""
    return _write(
        draft._replace(kind=draft.kind or old.kind),
        old,
        now_ms=now_ms,
        code=code,
        anchors=anchors,
        taken=taken,
    )


def delete(entry: Entry, reason: str) -> Change:
    """Withdraw `entry`; `reason` is validated and redacted."""
    name = entry.file.rpartition("/")[2].removesuffix(".md")
    message = trailers.build_delete(entry_name=name, reason=reason, deletes=entry.id)
    return Change(Act.DELETE.value, (), (entry.file,), trailers.tidy(message), None)


def _write(
    draft: Draft,
    old: Entry | None,
    *,
    now_ms: int,
    code: CodeState,
    anchors: Sequence[Anchor],
    taken: Container[str],
) -> Change:
    kind = draft.kind or Kind.TASK
    # Before tidying: the digest is over what the author said, as every engine takes it.
    digest = entries.digest(
        title=draft.title,
        summary=draft.summary,
        keywords=draft.keywords,
        content=draft.content,
        kind=kind,
    )
    data = entries.render(
        title=draft.title,
        summary=draft.summary,
        keywords=draft.keywords,
        content=draft.content,
        kind=kind,
        epoch_ms=now_ms,
        code=code,
        related_branches=tuple(dict.fromkeys((*draft.related_branches, code.branch))),
        related_paths=draft.related_paths,
        anchors=anchors,
    )
    message = trailers.build(
        title=draft.title,
        summary=draft.summary,
        keywords=draft.keywords,
        digest=digest,
        kind=kind,
        replaces=None if old is None else old.id,
        anchors=anchors,
    )
    path = _free(dated_path(entries.file_name(draft.title, digest, now_ms)), taken)
    return Change(
        operation=(Act.ADD if old is None else Act.REPLACE).value,
        add=((path, data),),
        remove=() if old is None else (old.file,),
        message=trailers.tidy(message),
        digest=digest,
    )


def _free(path: str, taken: Container[str]) -> str:
    """`path`, or with `-2`, `-3`, … before its suffix where it is taken. The file that a
    replacement removes counts as taken: its name stays its own in history."""
    stem, number, free = path.removesuffix(".md"), 1, path
    while free in taken:
        number += 1
        free = f"{stem}-{number}.md"
    return free
