"""The only room that knows tree-sitter: grammars, parsers, compiled queries, and their version.

Everything beyond this file sees sorted events, never a node or a tree. One parser and one cursor
per language and process; threads must never come here, and no progress callback is ever given
(both crash the interpreter). A row whose grammar cannot be loaded or whose query does not compile
is switched off with a reason; the other rows go on.
"""

import os
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from heimdall.extract.captures import CODES, Event
from heimdall.extract.languages import BY_NAME

if TYPE_CHECKING:
    from tree_sitter import Parser, QueryCursor

RULES = "2"
"""Raised by hand whenever the Python of this package changes what a file's facts are; the version
of the grammars and the text of the query are seen without it."""

_REFERENCES = "\n; References.\n"
"""The line that ends the part of a query which finds definitions."""

_DEEPEST = 2000
"""Levels of the tree below which nothing is captured: in each open list a match waits for all that
follows, so nesting without end costs its square, and below 32,767 the cursor loses count and hardly
ends. Nobody writes such code."""

_QUERIES = os.path.join(os.path.dirname(__file__), "queries")
_UNDECODED = re.compile("[\udc80-\udcff]")
_INHERITS = re.compile(r"^; inherits: ([a-z, ]+)$", re.MULTILINE)


class Grammar(NamedTuple):
    """A language ready to parse; one of each per process. `lean` finds definitions only."""

    parser: "Parser"
    cursor: "QueryCursor"
    lean: "QueryCursor"


class Disabled(NamedTuple):
    """A row that cannot be used; `reason` is machine-readable, `detail` the library's own word."""

    reason: str
    detail: str


_byte_range = attrgetter("byte_range")
_ready: dict[str, Grammar | Disabled] = {}
_versions: dict[str, str] = {}


def query_text(language: str, folder: str = _QUERIES) -> str:
    """The query of a language, definitions before references; a line `; inherits: a, b` puts those
    languages' queries first. Raises OSError where a file is missing."""
    definitions, references = _parts(language, folder)
    return definitions + _REFERENCES + references


def _parts(language: str, folder: str) -> tuple[str, str]:
    with open(os.path.join(folder, f"{language}.scm"), encoding="utf-8") as file:
        own = file.read()
    found = _INHERITS.search(own)
    parents = [name.strip() for name in found[1].split(",")] if found else []
    parts = [*(_parts(name, folder) for name in parents), own.partition(_REFERENCES)[::2]]
    return "\n".join(part[0] for part in parts), "\n".join(part[1] for part in parts)


def load(language: str, text: str) -> Grammar | Disabled:
    """Compile `text` for the grammar of `language`; whatever is wrong comes back as a value."""
    # An audit asks for versions alone, and mostly finds nothing to parse.
    from tree_sitter import Language, Parser, Query, QueryCursor, QueryError  # noqa: PLC0415

    try:
        grammar = Language(_capsule(BY_NAME[language].binding))
    except (ImportError, OSError, ValueError) as error:
        return Disabled("no-grammar", str(error))
    try:
        query = Query(grammar, text)
        lean = Query(grammar, text.partition(_REFERENCES)[0])
    except QueryError as error:
        return Disabled("bad-query", str(error))
    count: int = query.capture_count  # type: ignore[assignment]  # a number, whatever the stub says
    names = [query.capture_name(index) for index in range(count)]
    unknown = [name for name in names if name not in CODES and not name.startswith("_")]
    if unknown:
        return Disabled("bad-query", f"unknown captures: {', '.join(unknown)}")
    cursors = QueryCursor(query), QueryCursor(lean)
    for cursor in cursors:
        cursor.set_max_start_depth(_DEEPEST)
    return Grammar(Parser(grammar), *cursors)


def grammar(language: str) -> Grammar | Disabled:
    """The grammar of a row of the table, loaded once per process."""
    found = _ready.get(language)
    if found is None:
        try:
            found = load(language, query_text(language))
        except OSError as error:
            found = Disabled("no-query", str(error))
        _ready[language] = found
    return found


def events(
    loaded: Grammar, data: bytes, mend: Callable[[bytes], bytes] | None, *, references: bool
) -> list[Event]:
    """Parse `data` (UTF-8) and return what the query captured, in the order of `Event`: without
    `references` only what its first part captures.

    Where the tree has errors, `mend` may offer the same text with bytes replaced one for one; it
    is taken if that parses without any.
    """
    if b"\0" in data:
        # A grammar takes a zero for the end of the file.
        data = data.replace(b"\0", b" ")
    tree = loaded.parser.parse(data)
    if mend is not None and tree.root_node.has_error:
        mended = mend(data)
        again = loaded.parser.parse(mended) if mended != data else tree
        tree = tree if again.root_node.has_error else again
    cursor = loaded.cursor if references else loaded.lean
    try:
        captured = cursor.captures(tree.root_node)
    except UnicodeDecodeError:
        # A predicate reads the text of its node, and the library insists on UTF-8 there.
        tree = loaded.parser.parse(_readable(data))
        captured = cursor.captures(tree.root_node)
    found: list[Event] = []
    for name, nodes in captured.items():
        code = CODES.get(name)
        if code is not None:
            found += [(start, -end, code) for start, end in map(_byte_range, nodes)]
    found.sort()
    return found


def _readable(data: bytes) -> bytes:
    """The same text with a question mark for each byte that is no UTF-8."""
    text = data.decode("utf-8", "surrogateescape")
    return _UNDECODED.sub("?", text).encode()


def extractor(language: str) -> str:
    """A short hash of all that decides what is extracted from a file of `language`: the grammars'
    version, the query and the rules. "-" for a file without a grammar ("")."""
    if language not in BY_NAME:
        return "-"
    known = _versions.get(language)
    if known is None:
        try:
            text = query_text(language)
        except OSError:
            text = ""
        seed = "\0".join((RULES, *_packages(), language, text))
        known = _versions[language] = sha256(seed.encode()).hexdigest()[:12]
    return known


@cache
def _packages() -> tuple[str, str]:
    """The versions of the grammars and of the library, as their installers recorded them."""
    names = "tree_sitter_language_pack", "tree_sitter"
    found = {name: _recorded(name) for name in names}
    if not all(found.values()):
        from importlib.metadata import version  # noqa: PLC0415 # only an unusual installation asks

        found = {name: version(name) for name in names}
    return found[names[0]], found[names[1]]


def _recorded(name: str) -> str:
    """The version in the name of the package's `.dist-info` folder beside it; "" where there is not
    exactly one. To read the metadata itself takes longer than to look at a thousand files."""
    package = find_spec(name)
    if package is None or not package.submodule_search_locations:
        return ""
    beside = os.listdir(os.path.dirname(package.submodule_search_locations[0]))
    start, end = f"{name}-", ".dist-info"
    found = [one for one in beside if one.startswith(start) and one.endswith(end)]
    return found[0][len(start) : -len(end)] if len(found) == 1 else ""


def _capsule(binding: str) -> object:
    """The pointer to one grammar, loaded from its own file: importing the package itself would
    load what belongs to every language."""
    package = find_spec("tree_sitter_language_pack")
    if package is None or not package.submodule_search_locations:
        raise ImportError("tree_sitter_language_pack")
    folder = os.path.join(package.submodule_search_locations[0], "bindings")
    for suffix in EXTENSION_SUFFIXES:
        path = os.path.join(folder, binding + suffix)
        if os.path.exists(path):
            loader = ExtensionFileLoader(binding, path)
            spec = spec_from_file_location(binding, path, loader=loader)
            if spec is None:
                break
            module = module_from_spec(spec)
            loader.exec_module(module)
            pointer: object = module.language()
            return pointer
    raise ImportError(binding)
