"""The words a query may say: the names of captures, and nothing else.

A language joins the index by a `queries/<language>.scm` that uses these names; `outline` and `bind`
know only them, never a node type of some grammar. The order is a law: of two captures that cover
the same bytes the earlier one here is seen first, so what opens a scope precedes what lies in it.
Every name is explained in docs/howto/add-a-language.md, and a test compares the two lists.
"""

KINDS = (
    "module",
    "class",
    "interface",
    "trait",
    "enum",
    "struct",
    "function",
    "method",
    "property",
    "constant",
    "type",
    "macro",
)
"""What a definition can be; each is a capture `@def.<kind>`."""

CLASSLIKE = frozenset({"class", "interface", "trait", "enum", "struct"})
"""Kinds whose inner names are members: reached through an instance or the class."""

_ORDER = (
    "outer",
    "body",
    *(f"def.{kind}" for kind in KINDS),
    "within",
    "scope.function",
    "scope",
    "decorator",
    "name",
    "receiver",
    "package",
    "import",
    "global",
    "params",
    "result",
    "value",
    "bind",
    "base",
    "export",
    "export.default",
    "return",
    "type",
    "new",
    "call",
    "use",
)

CODES = {name: code for code, name in enumerate(_ORDER)}
"""Capture name -> its number; a smaller one is seen first."""

OUTER = CODES["outer"]
BODY = CODES["body"]
FIRST_DEF = CODES["def.module"]
LAST_DEF = CODES["def.macro"]
WITHIN = CODES["within"]
SCOPE_FUNCTION = CODES["scope.function"]
SCOPE = CODES["scope"]
DECORATOR = CODES["decorator"]
NAME = CODES["name"]
RECEIVER = CODES["receiver"]
PACKAGE = CODES["package"]
IMPORT = CODES["import"]
GLOBAL = CODES["global"]
PARAMS = CODES["params"]
RESULT = CODES["result"]
VALUE = CODES["value"]
BIND = CODES["bind"]
BASE = CODES["base"]
EXPORT = CODES["export"]
EXPORT_DEFAULT = CODES["export.default"]
RETURN = CODES["return"]
TYPE = CODES["type"]
NEW = CODES["new"]
CALL = CODES["call"]
USE = CODES["use"]

Event = tuple[int, int, int]
"""(first byte, minus the byte after the last, code): sorted, an outer node precedes its inner."""
