"""Ignore files outside git, and `.heimdallignore` everywhere: git's pattern language by pathspec.

Inside a repository git itself answers (`heimdall.writer.git`); these rules are read only where
there is no git, or on top of it. As in git a file's patterns count from its own directory, deeper
files override, the last match decides, and nothing below an excluded directory can be let in
again. The only importer of pathspec.
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from heimdall import disk, paths

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_LIMIT = 1024 * 1024


class Rules(NamedTuple):
    """The patterns of one directory and of those above it, innermost first."""

    layers: "tuple[tuple[str, GitIgnoreSpec], ...]" = ()

    def deeper(self, directory: str, names: Iterable[str]) -> "Rules":
        """These rules with those of `directory`'s own ignore files `names` on top."""
        lines = [line for name in names for line in _lines(os.path.join(directory, name))]
        if not lines:
            return self
        # Most trees are git's and have no ignore file of ours: they do without it.
        from pathspec import GitIgnoreSpec  # noqa: PLC0415

        return Rules(((directory, GitIgnoreSpec.from_lines(lines)), *self.layers))

    def ignores(self, path: str, *, is_directory: bool) -> bool:
        """Whether the patterns exclude `path`; its directories are known not to be excluded."""
        for directory, spec in self.layers:
            name = paths.relative(path, directory) + ("/" if is_directory else "")
            # To a pattern, which is a line, a line break is one more character that is no slash; to
            # pathspec's regular expressions it is the end of the name.
            verdict = spec.check_file(name.replace("\n", "\0")).include
            if verdict is not None:
                return verdict
        return False


def excluded(path: str, root: str, names: tuple[str, ...], *, is_directory: bool = False) -> bool:
    """Whether `path` or a directory between it and `root` is excluded by the ignore files `names`
    that lie there. Reads those files; `path` itself need not exist."""
    rules = Rules().deeper(root, names)
    for directory in paths.parents(path, root):
        if rules.ignores(directory, is_directory=True):
            return True
        rules = rules.deeper(directory, names)
    return rules.ignores(path, is_directory=is_directory)


def _lines(path: str) -> list[str]:
    """The file's patterns; none where it is not a readable regular file."""
    try:
        descriptor = disk.open_to_read(path)
    except OSError:
        return []
    try:
        data = os.read(descriptor, _LIMIT)
    except OSError:
        return []
    finally:
        os.close(descriptor)
    return data.decode("utf-8", "surrogateescape").splitlines()
