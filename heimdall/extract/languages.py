"""The table of languages: one row each, and the rule that picks a row for a file.

No grammar is loaded here and no file opened: a name and the first bytes are all that is asked. A
new language is one row in `TABLE`, one `queries/<name>.scm`, and, where imports, parameters or
assignments are spelled in a new way, one small family module (docs/howto/add-a-language.md).
"""

import re
from typing import NamedTuple


class Language(NamedTuple):
    """One row. `binding` is the grammar's module in tree_sitter_language_pack.bindings; `family`
    names the module in `heimdall.extract.families` that reads its imports, parameters and
    assignments; `doc` is where documentation stands: "inside" the body or in comments "before".
    `shebangs` are program names after `#!`."""

    name: str
    binding: str
    family: str
    suffixes: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    doc: str = "before"


TABLE = (
    Language(
        "python",
        "python",
        "python",
        (".py", ".pyi", ".pyw"),
        filenames=("SConstruct", "SConscript", "wscript"),
        shebangs=("python", "python2", "python3", "pypy", "pypy3"),
        doc="inside",
    ),
    Language(
        "javascript",
        "javascript",
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        filenames=("Jakefile",),
        shebangs=("node", "nodejs", "bun"),
    ),
    Language("typescript", "typescript", "javascript", (".ts", ".mts", ".cts"), shebangs=("deno",)),
    Language("tsx", "tsx", "javascript", (".tsx",)),
    Language("go", "go", "go", (".go",)),
    Language("gomod", "gomod", "go", (), filenames=("go.mod",)),
    Language("rust", "rust", "rust", (".rs",)),
    Language("java", "java", "java", (".java",)),
    Language("c", "c", "cfamily", (".c", ".h")),
    Language(
        "cpp",
        "cpp",
        "cfamily",
        (".cpp", ".cc", ".cxx", ".c++", ".C", ".H", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl"),
    ),
)

BY_NAME = {row.name: row for row in TABLE}
_BY_SUFFIX = {suffix: row.name for row in TABLE for suffix in row.suffixes}
_BY_FILENAME = {name: row.name for row in TABLE for name in row.filenames}
_BY_SHEBANG = {name: row.name for row in TABLE for name in row.shebangs}

_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?(\w+)(?:[ \t]+(?:-\S+[ \t]+)*(?:\S*/)?([\w.]+))?")
_CPLUSPLUS = re.compile(
    rb"^[ \t]*(?:class|namespace|template|using|public:|private:|protected:)\b"
    rb"|\b(?:struct|class)\s+\w+\s*(?:final\s*)?:\s*(?:public|private|protected|\w)"
    rb"|\b(?:constexpr|virtual|noexcept|nullptr)\b|#include\s*<[a-z_]+>|\w::\w",
    re.MULTILINE,
)
_MPEG_PACKET = 188


def detect(path: str, head: bytes) -> str:
    """The name of the language of the file called `path` that begins with `head` (some kilobytes
    are enough), "" where no row fits. Only the last part of `path` matters."""
    name = path.rsplit("/", 1)[-1]
    found = _BY_FILENAME.get(name) or _BY_SUFFIX.get(_suffix(name), "")
    if not found:
        return _by_shebang(head) if head.startswith(b"#!") else ""
    if found == "typescript" and _not_typescript(head):
        return ""
    if found == "c" and name.endswith(".h") and "cpp" in BY_NAME and _CPLUSPLUS.search(head):
        return "cpp"
    return found


def _suffix(name: str) -> str:
    """The last suffix, lower-cased, except that C++ has its own capital ones."""
    stem, dot, last = name.rpartition(".")
    if not (stem and dot):
        return ""
    suffix = dot + last
    return suffix if suffix in _BY_SUFFIX else suffix.lower()


def _not_typescript(head: bytes) -> bool:
    """Qt translations are XML and transport streams have a sync byte in every packet."""
    if head.startswith(b"\x47") and head[_MPEG_PACKET : _MPEG_PACKET + 1] in (b"", b"\x47"):
        return b"\0" in head or len(head) > _MPEG_PACKET
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith((b"<?xml", b"<!DOCTYPE", b"<TS"))


def _by_shebang(head: bytes) -> str:
    found = _SHEBANG.match(head)
    if found is None:
        return ""
    program = found[2] if found[1] == b"env" and found[2] else found[1]
    name = program.decode("ascii", "replace")
    return _BY_SHEBANG.get(name) or _BY_SHEBANG.get(name.rstrip("0123456789."), "")
