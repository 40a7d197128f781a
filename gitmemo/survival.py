"""The copy of a store that survives `git clean -ffdx`: in the code repository's own git directory.

The copy is a bare repository of hard links to the store's objects and packs, so it costs names and
no bytes; which commits it stands for is one file, renamed into place after all that they need is
linked. A kill leaves it at the old tips or the new, and the next writer catches up. An object is
dropped from it only once a pack of its own holds it, a tip only once another one leads to it:
what the store lacks may be what was lost. `renew` alone forgets, because a purge must.

Keeping the copy never fails a change that is done. Never here: deciding when a store is missed
(the edge asks), and reading memories. Tests: tests/gitmemo/test_survival.py, tests/faults.
"""

import errno
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from gitmemo import copying, founding, gate, indexing, lock, swap
from gitmemo.errors import DamagedStore, GitMemoError
from gitmemo.model import EntryId
from gitmemo.place import STORE_DIR, copy_dir, is_gone, main_tip
from gitmemo.repo import MAIN, Repo, refusals

__all__ = ["KEPT", "Copy", "catch_up", "copy_dir", "follow", "inspect", "renew", "restore"]

KEPT = "refs/gitmemo/kept/"
"""Tips of histories that main has left: another store was founded, or history was rewritten."""

_REFS = "packed-refs"
_ASIDE = "gitmemo-copy.tmp"
_GONE = ".gone"
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"
_HEX = frozenset("0123456789abcdef")

Refs = Mapping[str, str]


class Copy(NamedTuple):
    """How the copy at `path` stands: `state` is whole, behind (the store has what it has not),
    broken (it cannot give back what its tips need), absent, or none where the store lies outside
    git and can have none. `tip` is its main, `kept` the tips that main has left, `troubles` what
    is wrong, for programs."""

    path: str
    state: str
    tip: EntryId | None
    kept: tuple[EntryId, ...] = ()
    troubles: tuple[str, ...] = ()


# -- after a change --------------------------------------------------------------------------------


def follow(repo: Repo, *, base: EntryId, commit: EntryId) -> None:
    """Bring the copy to `commit`, the change just made on top of `base`; call with the store's
    lock held. A copy that is not at `base` is compared with all of the store. What the machine
    refuses is left to the next time."""
    copy = copy_dir(os.path.dirname(repo.mem))
    if copy is not None:
        with suppress(GitMemoError), refusals(copy):
            _bring_on(repo, copy, base, commit)


def catch_up(root: str, *, timeout_s: float) -> None:
    """The same for a store that nobody has just changed, if its copy is not at its tip; takes the
    store's lock, and where that fails the next writer does it."""
    copy, tip = copy_dir(root), main_tip(os.path.join(root, STORE_DIR))
    with suppress(OSError, GitMemoError):
        if copy is None or tip is None or _refs(copy).get(MAIN) == tip:
            return
        repo = Repo(os.path.join(root, STORE_DIR))
        with lock.hold(root, repo.git_dir, "init", timeout_s=timeout_s):
            tip = repo.tip()
            follow(repo, base=tip, commit=tip)


def renew(root: str, repo: Repo) -> None:
    """Make the copy anew from the store; whatever else it held is gone before this returns. Call
    with the store's lock held; raises IoRefused, because what must go may still be there."""
    copy = copy_dir(root)
    if copy is None:
        return
    with refusals(copy):
        _bury(copy)
        with suppress(FileNotFoundError):
            os.rename(copy, copy + _GONE)
        _bury(copy)
        tip = repo.tip()
        _bring_on(repo, copy, tip, tip)


def _bring_on(repo: Repo, copy: str, base: str, commit: EntryId) -> None:
    ours = _refs(copy)
    # Read before any object is looked for: what these refs need exists by now. Main is the
    # caller's, whose lock is held, and not that of a person who commits at this moment.
    theirs = {**_refs(repo.git_dir), MAIN: commit}
    source, target = os.path.join(repo.git_dir, "objects"), os.path.join(copy, "objects")
    after: Refs
    if ours.get(MAIN) == base and {**ours, **theirs, MAIN: base} == ours:
        after = {**ours, MAIN: commit}
        copying.link_loose(source, target, repo.made_by(commit))
    else:
        after = _moved(repo, ours, theirs)
        _furnish(copy)
        copying.link_loose(source, target, copying.loose(source) - copying.loose(target))
    if copying.link_packs(source, target):
        copying.drop_doubled(source, target)
    if not copying.holds(target, repo.made_by(commit)):
        raise DamagedStore(repo.mem, "being-removed")  # by a cleaner: the copy stays at what it has
    _write_refs(copy, ours, after)


def _moved(repo: Repo, ours: Refs, theirs: Refs) -> Refs:
    """What the copy's refs are after the store's have come: none is lost that the store has left
    or does not have."""
    after = {**ours, **theirs}
    named = set(after.values())
    for name, old in ours.items():
        if old not in named and not _leads(repo, after[name], old):
            after[KEPT + old] = old
    for name, old in list(after.items()):
        if name.startswith(KEPT) and _leads(repo, after[MAIN], old):
            del after[name]  # nothing is lost of it, or it was merged back
    return after


def _leads(repo: Repo, tip: str, old: str) -> bool:
    """Whether `old` lies in the history of `tip`; a note such as a tag has none."""
    return repo.has(tip) and repo.is_ancestor(old, tip)


def _furnish(copy: str) -> None:
    """What makes the folder a repository to git, as far as it is not there."""
    _bury(copy)
    os.makedirs(os.path.join(copy, "objects", "pack"), exist_ok=True)
    os.makedirs(os.path.join(copy, "refs", "heads"), exist_ok=True)
    for name, data in (("config", _CONFIG), ("HEAD", f"ref: {MAIN}\n".encode())):
        if not os.path.lexists(os.path.join(copy, name)):
            _put(copy, name, data)


def _bury(copy: str) -> None:
    """Remove what an interrupted renewal left."""
    if os.path.lexists(copy + _GONE):
        shutil.rmtree(copy + _GONE)


# -- refs ------------------------------------------------------------------------------------------


def _refs(git_dir: str) -> dict[str, str]:
    """Every ref that names an object; empty where there is no repository."""
    found: dict[str, str] = {}
    with suppress(FileNotFoundError):
        for line in _text(os.path.join(git_dir, _REFS)).splitlines():
            target, _, name = line.strip().partition(" ")
            if name.startswith("refs/") and _is_hash(target):
                found[name] = target
    for path in _loose_refs(git_dir):
        with suppress(FileNotFoundError):
            target = _text(path).strip()
            if _is_hash(target):
                found[os.path.relpath(path, git_dir)] = target
    return found


def _is_hash(text: str) -> bool:
    return len(text) == 40 and _HEX.issuperset(text)


def _write_refs(copy: str, ours: Refs, after: Refs) -> None:
    if after == ours:
        return
    lines = ["# pack-refs with: sorted \n"]
    lines += [f"{after[name]} {name}\n" for name in sorted(after)]
    # Main alone is written again by the next writer; what stands beside it stands nowhere else.
    _put(copy, _REFS, "".join(lines).encode(errors="surrogateescape"), sync=len(after) > 1)
    for path in _loose_refs(copy):  # a person's own command made it, and git would believe it first
        os.unlink(path)


def _loose_refs(git_dir: str) -> list[str]:
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(os.path.join(git_dir, "refs"))
        for name in names
        if not name.endswith(".lock")
    ]


def _text(path: str) -> str:
    return gate.read(path).decode("utf-8", "surrogateescape")


def _put(copy: str, name: str, data: bytes, *, sync: bool = False) -> None:
    aside = os.path.join(copy, _ASIDE)
    with suppress(FileNotFoundError):
        os.unlink(aside)
    with open(aside, "xb") as file:
        file.write(data)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    os.replace(aside, os.path.join(copy, name))


# -- looking at it, bringing it back ---------------------------------------------------------------


def inspect(root: str, repo: Repo) -> Copy:
    """How the copy of the store at `root` stands; reads every object of it and changes nothing."""
    copy = copy_dir(root)
    if copy is None:
        return Copy("", "none", None)
    try:
        ours = _refs(copy)
        if MAIN not in ours:
            return Copy(copy, "absent", None)
        found = copying.faults(copy, ours.values())
        theirs = _refs(repo.git_dir)
    except (OSError, GitMemoError) as error:
        return Copy(copy, "broken", None, (), (f"unreadable:{error}",))
    kept = tuple(sorted(EntryId(ours[name]) for name in ours if name.startswith(KEPT)))
    late = tuple(f"behind:{name}" for name in sorted(theirs) if theirs[name] != ours.get(name))
    state = "broken" if found else "behind" if late else "whole"
    return Copy(copy, state, EntryId(ours[MAIN]), kept, found + late)


def restore(root: str, *, timeout_s: float) -> EntryId | None:
    """Bring `<root>/.mem` back from its copy where it is gone (`is_gone`); the remains of one that
    was not removed whole are moved aside. The commit of its main; None where there is nothing to
    do, also because somebody else did it while we waited, or a migration has both folders in its
    hands.

    Raises TrackedByParent, LockTimeout, IoRefused, and DamagedStore where the copy cannot give its
    newest commit back; then there still is no `.mem`.
    """
    copy, mem = copy_dir(root), os.path.join(root, STORE_DIR)
    if copy is None or not is_gone(mem) or swap.pending(root):
        return None
    with refusals(copy):
        if MAIN not in _refs(copy):
            return None
    founding.refuse_tracked(root)
    with refusals(root), lock.hold(root, None, "init", timeout_s=timeout_s):
        if not is_gone(mem) or swap.pending(root):
            return None
        founding.sweep(root)
        aside = lock.private_name(root)
        try:
            _grow(copy, aside)
            _give_way(mem)
            os.rename(aside, mem)
        except DamagedStore as error:
            raise DamagedStore(copy, "copy-broken") from error
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            return None  # whoever put something there takes no lock
        finally:
            with suppress(FileNotFoundError):
                shutil.rmtree(aside)
        repo = Repo(mem)
        tip = repo.tip()
        # Last, and after the store is in place: all of history is read for it, and whoever is
        # killed meanwhile has a store without a derived index, which is only slow.
        with suppress(GitMemoError):
            indexing.up_to_date(repo, tip).close()
    return tip


def _give_way(mem: str) -> None:
    """Move what a cleaner was kept from removing aside, whatever it holds."""
    with suppress(FileNotFoundError):
        if os.listdir(mem):
            os.rename(mem, swap.free_old(os.path.dirname(mem), "gone"))


def _grow(copy: str, mem: str) -> None:
    """A store at `mem` with all that the copy holds, but for the tips that main has left: those
    are the copy's to keep."""
    copying.new_repository(mem)
    git_dir = os.path.join(mem, ".git")
    source, target = os.path.join(copy, "objects"), os.path.join(git_dir, "objects")
    try:
        copying.link_loose(source, target, copying.loose(source))
        copying.link_packs(source, target)
    except FileNotFoundError as error:
        raise DamagedStore(copy, "copy-broken") from error
    refs = {name: at for name, at in _refs(copy).items() if not name.startswith(KEPT)}
    _write_refs(git_dir, {}, refs)
    copying.check_out(mem)
