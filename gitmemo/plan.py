"""Plans: what one commit will do, decided purely."""

from collections.abc import Container, Sequence

from gitmemo.model import Anchor, Change, CodeState, Draft, Entry


def add(
    draft: Draft,
    *,
    now_ms: int,
    code: CodeState = CodeState(),
    anchors: Sequence[Anchor] = (),
    taken: Container[str] = (),
) -> Change:
    """Add a validated, redacted `draft`. `anchors` are all of them, file anchors included;
    `taken` are paths of `.mem` that exist. Kind None means task."""
    raise NotImplementedError


def replace(
    old: Entry,
    draft: Draft,
    *,
    now_ms: int,
    code: CodeState = CodeState(),
    anchors: Sequence[Anchor] = (),
    taken: Container[str] = (),
) -> Change:
    """Replace `old`, which must be active. Kind None means the old entry's."""
    raise NotImplementedError


def delete(entry: Entry, reason: str) -> Change:
    """Withdraw `entry`; `reason` is validated and redacted."""
    raise NotImplementedError
