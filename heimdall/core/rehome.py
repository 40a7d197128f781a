"""Where a missing thing went: one place, or none and the reason why none.

Pure. The performer collects candidates and verifies each on the disk; this room alone decides
whether one of them may be believed. Identical bytes come first, likeness second, and a name never
counts by itself: it only parts candidates that are equally good by content. What cannot be parted
is named and not guessed, because a wrong new path is worse than none.
Held by tests/heimdall/core/test_rehome.py.
"""

from collections.abc import Sequence

from gitmemo.values import NamedTuple

LIKE = 0.5
"""The least similarity at which an edited file may be the one that is missing (git's own bar)."""

MARGIN = 0.1
"""How much better than the next one the best similar candidate must be."""

EDITED = 0.99
"""The similarity of a file that was seen moving whole and does not hold the anchored bytes: it was
edited before or after, by how much nobody measured."""

NAMED = 5
"""How many equally good places are named at most."""


class Candidate(NamedTuple):
    """A place that was looked at and holds the content (`similarity` 1.0: byte for byte). `path` is
    project-relative, with `#symbol` for a symbol; `followed` is True where the writer saw it move
    there."""

    path: str
    similarity: float
    followed: bool = False


class Choice(NamedTuple):
    """The new place, or None with the equally good `candidates`, sorted, at most `NAMED`."""

    path: str | None
    similarity: float
    candidates: tuple[str, ...]


NOWHERE = Choice(None, 0.0, ())
"""Nothing was found at all."""


def choose(old: str, found: Sequence[Candidate]) -> Choice:
    """The one new place of `old` among `found`; the order of `found` does not matter."""
    best: dict[str, Candidate] = {}
    for candidate in found:
        known = best.get(candidate.path)
        if known is None or (candidate.similarity, candidate.followed) > known[1:]:
            best[candidate.path] = candidate
    identical = [candidate for candidate in best.values() if candidate.similarity >= 1.0]
    if identical:
        return _part(old, identical)
    similar = [candidate for candidate in best.values() if candidate.similarity >= LIKE]
    if not similar:
        return NOWHERE
    top = max(candidate.similarity for candidate in similar)
    # Loosened by less than a percent, so that 0.9 against 0.8 parts them in binary too.
    rivals = [one for one in similar if one.similarity > top - MARGIN + 1e-9]
    return _part(old, rivals)


def _part(old: str, equals: Sequence[Candidate]) -> Choice:
    """The only one; else the only one seen moving; else the only one that kept its name."""
    for keep in (_all, _followed, _same_name):
        left = [candidate for candidate in equals if keep(old, candidate)]
        if len(left) == 1:
            return Choice(left[0].path, left[0].similarity, ())
    return Choice(None, 0.0, tuple(sorted(one.path for one in equals))[:NAMED])


def _all(_old: str, _candidate: Candidate) -> bool:
    return True


def _followed(_old: str, candidate: Candidate) -> bool:
    return candidate.followed


def _same_name(old: str, candidate: Candidate) -> bool:
    """Whether the last part of the path is the same, with the symbol where there is one."""
    return candidate.path.rsplit("/", 1)[-1] == old.rsplit("/", 1)[-1]
