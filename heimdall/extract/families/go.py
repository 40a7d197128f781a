"""Go's spelling of imports, parameters, declarations and types."""

import re

from heimdall.extract.families.base import Assigned, Family, Import, Pairs
from heimdall.extract.families.split import inner, split

_IMPORT = re.compile(r"""(?:([\w.]+)\s+)?["`]([^"`\n]+)["`]""")
_VERSION = re.compile(r"v\d+")
_NAMED = re.compile(r"([^\W\d]\w*)\s+(?:\.\.\.)?(\S.*)", re.DOTALL)
_KEYWORDS = frozenset({"func", "chan", "map", "struct", "interface"})
_LITERAL = re.compile(r"&?\s*([^\W\d][\w.]*)(?:\[[^\]]*\])?\s*\{")
_NEW = re.compile(r"new\(\s*([^\W\d][\w.]*)\s*\)")
_ASSERTED = re.compile(r".*\.\(\s*\*?\s*([^\W\d][\w.]*)\s*\)$", re.DOTALL)
_TYPE = re.compile(r"\*?\s*([^\W\d][\w.]*)(?:\[.*\])?", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*")
_EMBEDDED = re.compile(r"\*?\s*(?:[^\W\d]\w*\.)?([^\W\d]\w*)(?:\[.*\])?", re.DOTALL)
_TAG = re.compile(r"\s*(?:`[^`]*`|\"[^\"\n]*\")\s*$")


def imports(text: str) -> list[Import]:
    """One import spec: `"a/b"` binds `b`, `"a/b/v2"` too; `x "a/b"`, `. "a/b"`, `_ "a/b"`."""
    found = _IMPORT.search(text)
    if found is None:
        return []
    module = found[2]
    if found[1] == "_":
        return [Import("", module, "")]
    if found[1] == ".":
        return [Import("*", module, "*")]
    parts = module.split("/")
    last = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
    name = last.partition(".")[0].removeprefix("go-").replace("-", "_")
    return [Import(found[1] or name, module, "")]


def params(text: str) -> Pairs:
    """`(a, b int, c *T)`; a nameless `(T)` (of a receiver) has the name ""."""
    parts = [part for part in split(inner(text), ",") if part]
    named = [_NAMED.fullmatch(part) for part in parts]
    if not any(found is not None and found[1] not in _KEYWORDS for found in named):
        return [("", parts[0])] if len(parts) == 1 else []
    found: Pairs = []
    kind = ""
    for part, match in zip(reversed(parts), reversed(named), strict=True):
        if match is not None:
            kind = match[2].strip() if "..." not in part else ""
        found.append((match[1] if match is not None else part, kind))
    return found[::-1]


def assign(text: str) -> Assigned:
    """`a, b := v, w`, `var a, b T = v`, and a struct's fields `a, b T`, `T`, `*p.T`."""
    left, colon, right = text.partition(":=")
    if colon:
        return _assigned(split(left, ","), "", split(right, ","))
    sides = split(_TAG.sub("", text), "=")
    names: list[str] = []
    rest = sides[0]
    while found := _NAME.match(rest):
        names.append(found[0])
        rest = rest[found.end() :].lstrip()
        if not rest.startswith(","):
            break
        rest = rest[1:].lstrip()
    if len(sides) == 1 and (not rest or rest[0] in ".[" or not names):
        embedded = _EMBEDDED.fullmatch(sides[0])
        return [(embedded[1], sides[0], "")] if embedded is not None else []
    return _assigned(names, rest, split(sides[1], ",") if len(sides) > 1 else [])


def _assigned(names: list[str], kind: str, values: list[str]) -> Assigned:
    """A lone call gives its first result to the first name; the others are not known."""
    found: Assigned = []
    for index, name in enumerate(names):
        if not _NAME.fullmatch(name) or name == "_":
            continue
        paired = len(values) == len(names) or index == 0
        value = values[index] if paired and index < len(values) else ""
        found.append((name, *_promised(kind, value)))
    return found


def _promised(kind: str, value: str) -> tuple[str, str]:
    """(type, value) of what a value makes: `T{}`, `&T{}`, `new(T)` and `x.(T)` name their type."""
    if kind:
        return kind, ""
    for pattern in (_LITERAL, _NEW, _ASSERTED):
        found = pattern.match(value)
        if found is not None:
            return found[1], ""
    return "", value


def type_name(text: str) -> str:
    """`T`, `*p.T`, `T[int]`, and of several results the first; "" for what has no methods."""
    text = text.strip()
    if text.startswith("("):
        text = split(inner(text), ",")[0]
        named = _NAMED.fullmatch(text)
        text = named[2] if named is not None and named[1] not in _KEYWORDS else text
    found = _TYPE.fullmatch(text.strip())
    return found[1] if found is not None and found[1] not in BUILTINS | _KEYWORDS else ""


_WORDS = (
    "any append bool byte cap clear close comparable complex complex64 complex128 copy delete "
    "error false float32 float64 imag int int8 int16 int32 int64 iota len make max min new nil "
    "panic print println real recover rune string true uint uint8 uint16 uint32 uint64 uintptr "
    "_"
)
BUILTINS = frozenset(_WORDS.split())

FAMILY = Family(
    imports=imports,
    params=params,
    assign=assign,
    type_name=type_name,
    builtins=BUILTINS | _KEYWORDS,
    open_names=True,
    members_elsewhere=True,
)
