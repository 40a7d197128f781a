"""Ignore files outside git, and `.heimdallignore` everywhere.

Inside a repository git itself answers (`heimdall.writer.git`); these rules are read only where
there is no git, or on top of it. As in git a file's patterns count from its own directory, deeper
files override, the last match decides, and nothing below an excluded directory can be let in
again. `.heimdallignore` is a set of rules of its own: it takes away and never brings back. What a
line means is `heimdall.writer.wildmatch`'s business.
"""

import os
from typing import NamedTuple

from heimdall import disk, paths
from heimdall.writer.wildmatch import Pattern, patterns

GIT_FILE = ".gitignore"
_LIMIT = 1024 * 1024

_Layers = tuple[tuple[str, tuple[Pattern, ...]], ...]


class Rules(NamedTuple):
    """The patterns that hold in one directory, innermost first: those of git's files, and ours."""

    git: _Layers = ()
    own: _Layers = ()

    def deeper(self, directory: str, *, outside_git: bool) -> "Rules":
        """These rules with those of `directory`'s own ignore files on top."""
        git = self.git
        if outside_git and (found := _read(os.path.join(directory, GIT_FILE))):
            git = ((directory, found), *git)
        if found := _read(os.path.join(directory, paths.IGNORE_FILE)):
            return Rules(git, ((directory, found), *self.own))
        return self if git is self.git else Rules(git, self.own)

    def ignores(self, path: str, *, is_directory: bool) -> bool:
        """Whether the patterns exclude `path`; its directories are known not to be excluded."""
        return _decides(self.git, path, is_directory=is_directory) or _decides(
            self.own, path, is_directory=is_directory
        )


def users_rules(root: str, file: str) -> Rules:
    """The rules of the user's own ignore file, which hold in every root outside git."""
    # Unlike one inside a tree it may be a link, as dotfiles often are.
    found = _read(os.path.realpath(file)) if file else ()
    return Rules(((root, found),)) if found else Rules()


def excluded(path: str, root: str, rules: Rules, *, is_directory: bool = False) -> bool:
    """Whether `path` or a directory between it and `root` is excluded outside git: by `rules` or by
    the ignore files that lie there. Reads those files; `path` itself need not exist."""
    rules = rules.deeper(root, outside_git=True)
    for directory in paths.parents(path, root):
        if rules.ignores(directory, is_directory=True):
            return True
        rules = rules.deeper(directory, outside_git=True)
    return rules.ignores(path, is_directory=is_directory)


def _decides(layers: _Layers, path: str, *, is_directory: bool) -> bool:
    if not layers:
        return False
    for directory, found in layers:
        name = os.fsencode(paths.relative(path, directory))
        for pattern in reversed(found):
            if pattern.matches(name, is_directory=is_directory):
                return pattern.ignores
    return False


def _read(path: str) -> tuple[Pattern, ...]:
    """The file's patterns; none where it is not a readable regular file."""
    try:
        descriptor = disk.open_to_read(path)
    except OSError:
        return ()
    try:
        return patterns(os.read(descriptor, _LIMIT))
    except OSError:
        return ()
    finally:
        os.close(descriptor)
