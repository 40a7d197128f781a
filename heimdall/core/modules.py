"""Where a unit lies that a file names: from a language's spelling to paths."""

from posixpath import basename, dirname, splitext

_FAMILIES = {
    "python": "python",
    "javascript": "js",
    "jsx": "js",
    "typescript": "js",
    "tsx": "js",
    "go": "go",
    "gomod": "go",
    "rust": "rust",
    "java": "java",
    "c": "c",
    "cpp": "c",
}


def family(language: str) -> str:
    """The family of languages whose files can name each other, "" where none can."""
    return _FAMILIES.get(language, "")


def tail(path: str) -> str:
    """The last part of the name by which other files import this one."""
    name = basename(path)
    stem, suffix = splitext(name)
    if suffix in {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".mod"}:
        return name
    if suffix == ".go" or stem in {"__init__", "index", "mod"}:
        return basename(dirname(path))
    if suffix == ".rs" and stem in {"lib", "main"}:
        crate = dirname(path)
        crate = dirname(crate) if basename(crate) == "src" else crate
        return basename(crate).replace("-", "_")
    return stem.removesuffix(".d")
