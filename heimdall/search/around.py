"""A look around for what is missing, when the index cannot have seen where it went.

Bounded: `ENTRIES` directory entries and `BYTES` read in one search, for all its missing anchors
together. It starts where the file was and widens from there, because that is where most moves end.
Only names and sizes are compared until something fits, and only files count that the caller does
not know already (those the index has answered for): first those with the same bytes, then newcomers
that are like it by the sketch that the index has kept. Never writes.
Held by tests/heimdall/search/test_around.py.
"""

import os
from collections.abc import Callable, Iterator

from gitmemo.values import NamedTuple
from heimdall import paths as names
from heimdall.core.rehome import LIKE
from heimdall.search.disk import look

ENTRIES = 4000
"""Directory entries that one search lists at most."""

BYTES = 32 * 1024 * 1024
"""Bytes that one search hashes at most while looking around."""

SKETCHED = 8 * 1024 * 1024
"""Bytes that one search compares line by line at most."""

_LARGE = 256 * 1024
_SIZES = 3

_BUILT = frozenset({"build", "dist", "target", "out"})
# A copy in a build's output is no new place of its source; where such a name is a source folder
# after all, the writer, who asks git, finds what moved there.
_SKIPPED = names.NEVER | names.DERIVED | _BUILT


class Missing(NamedTuple):
    """What is looked for: the absolute path where it was, the raw digest of its bytes, and their
    number where the index knew it. `by_name` keeps to files that kept their name."""

    path: str
    digest: bytes
    size: int | None
    by_name: bool = False


class _Listing(NamedTuple):
    """One directory: its regular files with their sizes (asked late), and its directories."""

    files: tuple["os.DirEntry[str]", ...]
    folders: tuple[str, ...]


class Around:
    """The looking around of one search inside the checkout `root`; `known` says of a path whether
    the index has answered for it, so that it need not be read here."""

    def __init__(self, root: str, known: Callable[[str], bool]) -> None:
        self._root = root
        self._known = known
        self._listed: dict[str, _Listing] = {}
        self._entries = ENTRIES
        self._bytes = BYTES
        self._compared = SKETCHED
        self._sketches: dict[str, bytes] = {}
        self.exhausted = False

    def find(self, missing: Missing) -> tuple[str, ...]:
        """The absolute paths with these very bytes, as far as the budget reaches."""
        found = []
        for entry in self._candidates(missing):
            size = _size(entry)
            if size is None or size == 0 or (missing.size is not None and size != missing.size):
                continue
            if self._known(entry.path):
                continue
            if size > self._bytes:
                self.exhausted = True
                continue
            self._bytes -= size
            if look(entry.path).digest == missing.digest:
                found.append(entry.path)
        return tuple(found)

    def alike(
        self, missing: Missing, sketch: bytes, new: Callable[[str], bool]
    ) -> dict[str, float]:
        """The files like the missing one, of those for which `new` says that the index has never
        seen them: what was there before is nobody's new place. All or none: where the budget ends
        a rival may be left unread, and nothing is said."""
        from heimdall.core.sketch import similarity  # noqa: PLC0415 # few searches miss a file

        if not sketch or missing.size is None or missing.size > _LARGE:
            return {}
        found: dict[str, float] = {}
        for entry in self._kin(missing):
            size = _size(entry)
            if not size or size > _LARGE or not _comparable(size, missing.size):
                continue
            if not new(entry.path):
                continue
            theirs = self._sketch(entry.path, size)
            if theirs is None:
                self.exhausted = True
                return {}
            likeness = similarity(sketch, theirs)
            if likeness >= LIKE:
                found[entry.path] = likeness
        return {} if self.exhausted else found

    def _sketch(self, path: str, size: int) -> bytes | None:
        """The sketch of a file, made once per search; None where the budget is spent."""
        from heimdall.core.sketch import sketch  # noqa: PLC0415 # few searches miss a file

        if path not in self._sketches:
            if size > self._compared:
                return None
            self._compared -= size
            data = look(path).data
            # What the index takes for binary has no sketch, and no lines.
            self._sketches[path] = sketch(data) if data and b"\0" not in data[:8192] else b""
        return self._sketches[path]

    def _kin(self, missing: Missing) -> "Iterator[os.DirEntry[str]]":
        """Files that may be it edited: of the same kind by their names, or of its own name."""
        name = os.path.basename(missing.path)
        stem, suffix = os.path.splitext(name)
        for listing in self._nearest(missing.path):
            for entry in listing.files:
                theirs = os.path.splitext(entry.name)
                if entry.path != missing.path and (theirs[1] == suffix or theirs[0] == stem):
                    yield entry

    def _candidates(self, missing: Missing) -> "Iterator[os.DirEntry[str]]":
        """Files that may be it: of its size where that is known, else of its name or suffix."""
        name = os.path.basename(missing.path)
        suffix = os.path.splitext(name)[1]
        for listing in self._nearest(missing.path):
            for entry in listing.files:
                if entry.path == missing.path:
                    continue
                if entry.name == name:
                    yield entry
                elif missing.by_name:
                    continue
                elif missing.size is not None or (suffix and entry.name.endswith(suffix)):
                    yield entry

    def _nearest(self, path: str) -> Iterator[_Listing]:
        """The directories of the checkout, nearest first: where it was and below, then one up."""
        here = os.path.dirname(path)
        visited: set[str] = set()
        while names.under(here, self._root):
            yield from self._below(here, visited)
            if here == self._root:
                return
            here = os.path.dirname(here)

    def _below(self, top: str, visited: set[str]) -> Iterator[_Listing]:
        """`top` and what is below it, breadth first."""
        waiting = [top]
        for folder in waiting:
            if folder in visited:
                continue
            visited.add(folder)
            listing = self._list(folder)
            if listing is None:
                self.exhausted = True
                return
            yield listing
            waiting.extend(listing.folders)

    def _list(self, folder: str) -> _Listing | None:
        """One directory's content, listed once per search; None where the budget is spent."""
        if folder in self._listed:
            return self._listed[folder]
        if self._entries <= 0:
            return None
        files: list[os.DirEntry[str]] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._entries -= 1
                    if self._entries < 0:
                        return None
                    if entry.name == ".git" and folder != self._root:
                        # Another checkout inside this one: its files are not ours.
                        files, folders = [], []
                        break
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _SKIPPED:
                            folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(entry)
        except OSError:
            # A directory that cannot be listed hides its files from us, and kills nothing.
            pass
        listing = _Listing(tuple(files), tuple(sorted(folders)))
        self._listed[folder] = listing
        return listing


def _comparable(size: int, other: int) -> bool:
    """Whether files of these sizes can have half of their lines in common."""
    return size <= _SIZES * other and other <= _SIZES * size


def _size(entry: "os.DirEntry[str]") -> int | None:
    """The file's size, or None where it vanished since it was listed."""
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return None
