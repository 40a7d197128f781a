"""JavaScript's and TypeScript's spelling of imports, exports, parameters and assignments."""

import re

from heimdall.extract.families.base import Assigned, Family, Import, Pairs
from heimdall.extract.families.split import inner, split, split_angled

_SOURCE = re.compile(r"""\bfrom\s*["']([^"'\n]+)["']|^\s*import\s*["']([^"'\n]+)["']""")
_REQUIRE = re.compile(r"""\b(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]\s*\)(?:\.([\w$]+))?""")
_CLAUSE = re.compile(r"\{([^}]*)\}")
_NAMESPACE = re.compile(r"\*\s*as\s+([\w$]+)")
_LEADING = re.compile(r"^\s*import\s+(?:type\s+)?([\w$]+)\s*(?:,|from\b)")
_EQUALS = re.compile(r"^\s*import\s+([\w$]+)\s*=")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_TARGET = re.compile(
    r"(?:(?:const|let|var)\s+)?(?P<target>(?:this\.)?#?[A-Za-z_$][\w$]*)\s*[!?]?\s*"
    r"(?::(?P<kind>[^=]+))?(?:=(?![=>])\s*(?P<value>.*))?;?$",
    re.DOTALL,
)
_MODIFIER = re.compile(
    r"^(?:@[\w$.]+(?:\([^)]*\))?\s*|(?:public|private|protected|readonly|static|override|declare"
    r"|accessor)\s+|\.\.\.\s*)+"
)
_PROPERTY = re.compile(r"\s*(?:@[\w$.]+(?:\([^)]*\))?\s*)*(?:public|private|protected|readonly)\s")
_TYPE = re.compile(r":?\s*([A-Za-z_$][\w$.]*)\s*(?:<.*>)?\s*$", re.DOTALL)
_PRIMITIVE = frozenset(
    re.findall(
        r"\w+",
        """
        any unknown never void null undefined string number boolean bigint symbol object Array
        Promise Record Partial Readonly Map Set
        """,
    )
)
_EXPORTS = ("module.exports.", "exports.")


def imports(text: str) -> list[Import]:
    """`import …`, `export … from`, `export {…}`, `x = require("…")`, `module.exports = …`."""
    text = _COMMENT.sub(" ", text)
    start = text.lstrip()
    if start.startswith("export"):
        return _exports(text)
    if start.startswith("import") and not start[6:].lstrip().startswith("("):
        return _imports(text)
    if start.startswith(("module.exports", "exports")):
        return _common_exports(start)
    return _required(text)


def _imports(text: str) -> list[Import]:
    required = _REQUIRE.search(text)
    named = _EQUALS.match(text)
    if required is not None and named is not None:
        return [Import(named[1], required[1], "")]
    found = _SOURCE.search(text)
    if found is None:
        return []
    module = found[1] or found[2]
    head = text[: found.start()]
    names: list[Import] = []
    leading = _LEADING.match(text)
    if leading is not None:
        names.append(Import(leading[1], module, "default"))
    space = _NAMESPACE.search(head)
    if space is not None:
        names.append(Import(space[1], module, ""))
    clause = _CLAUSE.search(head)
    if clause is not None:
        names += [Import(own, module, target) for own, target in _specifiers(clause[1])]
    return names or [Import("", module, "")]


def _specifiers(text: str) -> list[tuple[str, str]]:
    """(name here, name there) of `a, b as c, type D`."""
    found: list[tuple[str, str]] = []
    for part in text.split(","):
        words = [word for word in part.split() if word != "type" or part.split() == ["type"]]
        if words and _WORD.fullmatch(words[-1]):
            found.append((words[-1], words[0].strip("\"'")))
    return found


def _exports(text: str) -> list[Import]:
    found = _SOURCE.search(text)
    module = (found[1] or "") if found is not None else ""
    head = text[: found.start()] if found is not None else text
    space = _NAMESPACE.search(head)
    if space is not None:
        return [Import(space[1], module, "", reexport=True)]
    clause = _CLAUSE.search(head)
    if clause is not None:
        return [Import(own, module, name, reexport=True) for own, name in _specifiers(clause[1])]
    return [Import("*", module, "*", reexport=True)] if module and "*" in head else []


def _common_exports(text: str) -> list[Import]:
    """`module.exports = {a, b: c}` and `= name`."""
    left, _, right = text.partition("=")
    right = right.strip().rstrip(";").strip()
    own = left.strip().removeprefix("module.").removeprefix("exports").lstrip(".")
    if own:
        plain = _WORD.fullmatch(right) is not None
        return [Import(own, "", right, reexport=True)] if plain and own != right else []
    if _WORD.fullmatch(right):
        return [Import("default", "", right, reexport=True)]
    found: list[Import] = []
    for part in split(inner(right), ",") if right.startswith("{") else []:
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if _WORD.fullmatch(name) and (not value or _WORD.fullmatch(value)):
            found.append(Import(name, "", value or name, reexport=True))
    return found


def _required(text: str) -> list[Import]:
    required = _REQUIRE.search(text)
    if required is None:
        return []
    module, member = required[1], required[2] or ""
    left = text[: required.start()].partition("=")[0].strip()
    if left.startswith("{"):
        return _taken_apart(left, module)
    return [Import(left if _WORD.fullmatch(left) else "", module, member)]


def _taken_apart(left: str, module: str) -> list[Import]:
    """`{a, b: c, d: {e}} = require(…)`."""
    found: list[Import] = []
    for part in split(inner(left), ","):
        key, colon, rest = part.partition(":")
        key = key.split("=")[0].strip()
        own = rest.split("=")[0].strip() if colon else key
        if own[:1] in ("{", "["):
            found += [Import(name, module, f"{key}.{name}") for name in _pattern(own)]
        elif _WORD.fullmatch(own):
            found.append(Import(own, module, key))
    return found


def params(text: str) -> Pairs:
    """`(a, b: T = 1, {c, d: e}, [f], ...g)`; a lone `a` of an arrow too. Patterns bind opaquely;
    `private a: T` is a property as well."""
    found: Pairs = []
    for part in split_angled(_COMMENT.sub(" ", inner(text)), ","):
        bare = split(_MODIFIER.sub("", part), "=")[0]
        if bare[:1] in ("{", "["):
            found += [(name, "") for name in _pattern(bare)]
            continue
        name, _, kind = bare.partition(":")
        name = name.strip().rstrip("?").strip()
        if _WORD.fullmatch(name):
            found.append((name, kind.strip()))
            if _PROPERTY.match(part):
                found.append((f"this.{name}", kind.strip()))
    return found


def _pattern(text: str) -> list[str]:
    """The names that `{a, b: c, d = 1, ...e}` or `[a, [b]]` binds."""
    names: list[str] = []
    waiting = [text]
    while waiting:
        one = waiting.pop()
        if one[:1] in ("{", "["):
            waiting += split(inner(one), ",")
            continue
        one = split(one, "=")[0].removeprefix("...")
        named = split(one, ":")[-1].strip()
        if named[:1] in ("{", "["):
            waiting.append(named)
        elif _WORD.fullmatch(named):
            names.append(named)
    return sorted(names)


def assign(text: str) -> Assigned:
    """`x: T = v`, `this.x = v`, a class's field `x = v`, `{a, b} = v`."""
    text = text.strip()
    if text[:1] in ("{", "["):
        return [(name, "", "") for name in _pattern(split(text, "=")[0])]
    found = _TARGET.match(_MODIFIER.sub("", text))
    if found is None:
        return []
    value = (found["value"] or "").strip().rstrip(";")
    if _REQUIRE.match(value):
        return []
    return [(found["target"], (found["kind"] or "").strip(), value)]


def name_parts(text: str) -> list[str]:
    """`Foo.prototype.bar` is Foo's; `exports.f` is the file's own; quoted keys lose the quotes."""
    for prefix in _EXPORTS:
        text = text.removeprefix(prefix)
    parts = text.strip("\"'[]").replace("?.", ".").split(".")
    return [part for part in parts if part not in ("prototype", "this")] or [text]


def type_name(text: str) -> str:
    """The class that `: T`, `T<X>` or `T | null` promises."""
    members = split_angled(text.strip().lstrip(":"), "|")
    named = [part for part in members if part not in ("null", "undefined")]
    found = _TYPE.match(named[0]) if len(named) == 1 else None
    return found[1] if found is not None and found[1] not in _PRIMITIVE else ""


def is_constant(name: str, _kind: str) -> bool:
    """ALL_CAPS."""
    return name.isupper() and len(name) > 1


FAMILY = Family(
    imports=imports,
    params=params,
    assign=assign,
    name_parts=name_parts,
    type_name=type_name,
    is_constant=is_constant,
    separators=(".", "?."),
    this=frozenset({"this"}),
    super_words=frozenset({"super"}),
    builtins=_PRIMITIVE | {"require", "console", "module", "exports"},
    constructor="constructor",
    default_call="default",
)
