"""Git's objects below the level of commits, for the copy of a store: as files that get a second
name, as things that can or cannot be read, as a working tree.

With `repo` the only room that knows pygit2, under the settings that `repo` makes: nothing of the
person's configuration is read. A file of an object never changes, which is why two repositories may
share it. Nothing here knows what a store or a copy is.
Tests: tests/gitmemo/test_survival.py, with git itself as the judge.
"""

import errno
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress

import pygit2
from pygit2.enums import CheckoutStrategy

from gitmemo import gate, opening
from gitmemo.repo import blank, refusals

FAULTS = 20
"""How many faults are named before the rest is taken as seen."""

_GITLINK = 0o160000  # a commit of another repository
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)
_ASIDE = "tmp_obj_gitmemo"  # git takes a name like that for its own unfinished business
_IDX_V2 = b"\xfftOc\0\0\0\2"
_FANOUT = len(_IDX_V2)
_NAMES = _FANOUT + 256 * 4


def loose(objects: str) -> set[str]:
    """The names of the loose objects in the folder `objects`."""
    return {
        folder + name
        for folder in os.listdir(objects)
        if len(folder) == 2
        for name in os.listdir(os.path.join(objects, folder))
        if len(name) == 38  # what a git at work is still writing has longer names
    }


def link_loose(source: str, target: str, names: Iterable[str]) -> None:
    """Give the loose objects `names` of one folder of objects a second name in another. One that
    is gone lies in a pack by now, or nobody needs it: link the packs afterwards."""
    for name in names:
        path = os.path.join(name[:2], name[2:])
        old, new = os.path.join(source, path), os.path.join(target, path)
        with suppress(FileNotFoundError):
            try:
                _link(old, new)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(new), exist_ok=True)
                _link(old, new)


def link_packs(source: str, target: str) -> bool:
    """The same for packs, each before its index, by which git knows it; whether there were any."""
    old, new = os.path.join(source, "pack"), os.path.join(target, "pack")
    missing = _packs(old) - _packs(new)
    for name in missing:
        for ending in (".pack", ".idx"):
            _link(os.path.join(old, name + ending), os.path.join(new, name + ending))
    return bool(missing)


def holds(target: str, names: Iterable[str]) -> bool:
    """Whether the folder of objects has all of `names`, loose or in a pack."""
    rest = [n for n in names if not os.path.lexists(os.path.join(target, n[:2], n[2:]))]
    if not rest:
        return True
    folder = os.path.join(target, "pack")
    packed = {n for pack in _packs(folder) for n in _pack_names(os.path.join(folder, pack))}
    return packed.issuperset(map(bytes.fromhex, rest))


def drop_doubled(source: str, target: str) -> None:
    """Remove from `target` the loose objects, and the packs that `source` has not, of which every
    object lies in a pack that both have."""
    old, new = os.path.join(source, "pack"), os.path.join(target, "pack")
    shared = _packs(old) & _packs(new)
    held = {name for pack in shared for name in _pack_names(os.path.join(new, pack))}
    for name in loose(target):
        if bytes.fromhex(name) in held:
            os.unlink(os.path.join(target, name[:2], name[2:]))
    for pack in _packs(new) - shared:
        names = _pack_names(os.path.join(new, pack))
        if names and held.issuperset(names):
            for ending in (".idx", ".pack"):
                os.unlink(os.path.join(new, pack + ending))


def _packs(folder: str) -> set[str]:
    ending = ".idx"
    return {name.removesuffix(ending) for name in os.listdir(folder) if name.endswith(ending)}


def _pack_names(pack: str) -> list[bytes]:
    """The objects in a pack by its index; none where that has another form than git's present."""
    data = gate.read(f"{pack}.idx", gate.LARGE)
    if not data.startswith(_IDX_V2):
        return []
    end = _NAMES + 20 * int.from_bytes(data[_NAMES - 4 : _NAMES])
    return [data[at : at + 20] for at in range(_NAMES, end, 20)]


def _link(source: str, target: str) -> None:
    """A second name for a file; where that cannot be, its bytes, whole."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        aside = os.path.join(os.path.dirname(target), _ASIDE)
        shutil.copyfile(source, aside)
        os.replace(aside, target)


def faults(git_dir: str, tips: Iterable[str]) -> tuple[str, ...]:
    """What cannot be read of all that `tips` need, as `missing:<hash>` and `damaged:<hash>`; the
    library hashes what it reads, so a changed byte is found too."""
    found: list[str] = []
    with refusals(git_dir):
        git = opening.opened(git_dir, git_dir)
    waiting = list(tips)
    met = set(waiting)
    while waiting and len(found) < FAULTS:
        name = waiting.pop()
        try:
            needed = _needs(git[name])
        except KeyError:
            found.append(f"missing:{name}")
        except (ValueError, pygit2.GitError):
            found.append(f"damaged:{name}")
        else:
            waiting += needed - met
            met |= needed
    return tuple(sorted(found))


def _needs(thing: object) -> set[str]:
    if isinstance(thing, pygit2.Commit):
        return {str(thing.tree_id), *map(str, thing.parent_ids)}
    if isinstance(thing, pygit2.Tree):
        return {str(item.id) for item in thing if item.filemode != _GITLINK}
    return {str(thing.target)} if isinstance(thing, pygit2.Tag) else set()


def new_repository(mem: str) -> None:
    """A repository without objects at `mem`, which must not exist, set up as a store is."""
    with refusals(mem):
        blank(mem)


def check_out(mem: str) -> None:
    """Write index and files of the repository at `mem` as HEAD has them."""
    with refusals(mem):
        git = opening.opened(mem, os.path.join(mem, ".git"))
        tree = git.head.peel(pygit2.Tree)
        git.checkout_tree(tree, strategy=CheckoutStrategy.FORCE)  # type: ignore[no-untyped-call] # the library types none of its options
