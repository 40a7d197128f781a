"""Rust's spelling of uses, parameters, bindings and types."""

import re

from heimdall.extract.families.base import Assigned, Family, Import, Pairs
from heimdall.extract.families.split import split_angled

_VISIBLE = r"(?:pub\s*(?:\([^)]*\)\s*)?)?"
_USE = re.compile(rf"{_VISIBLE}use\s+(.*?);?\s*$", re.DOTALL)
_MOD = re.compile(rf"(?:#\[[^\]]*\]\s*)*{_VISIBLE}mod\s+(\w+)\s*;?\s*$")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_LET = re.compile(
    r"let\s+(?:mut\s+)?(?P<name>[^\W\d]\w*)\s*(?::(?P<kind>[^=]+))?(?:=\s*(?P<value>.*))?$",
    re.DOTALL,
)
_FIELD = re.compile(
    rf"(?:#\[[^\]]*\]\s*)*{_VISIBLE}(?P<name>[^\W\d]\w*)\s*:(?P<kind>.+)$", re.DOTALL
)
_LITERAL = re.compile(r"([^\W\d][\w:]*)(?:::<[^>]*>)?\s*\{")
_PARAMETER = re.compile(r"(?:mut\s+)?([^\W\d]\w*)\s*(?::(.+))?$", re.DOTALL)
_SIGIL = re.compile(r"\s*(?:&|\*(?:const|mut)\b|'\w+|mut\b|dyn\b|impl\b)\s*")
_HOLDER = re.compile(r"(?:\w+::)*(?:Box|Rc|Arc)\s*<(.*)>\s*$", re.DOTALL)
_TYPE = re.compile(r"([^\W\d][\w:]*?)\s*(?:(?:::)?<.*>)?\s*(?:\+.*)?$", re.DOTALL)


def imports(text: str) -> list[Import]:
    """`use a::{b::c, d as e, self, f::*};` and `mod m;`."""
    text = " ".join(_COMMENT.sub(" ", text).split())
    declared = _MOD.match(text)
    if declared is not None:
        return [Import(declared[1], f"self::{declared[1]}", "")]
    used = _USE.match(text)
    if used is None:
        return []
    found: list[Import] = []
    waiting = [("", used[1])]
    while waiting:
        prefix, rest = waiting.pop()
        before, brace, inside = rest.partition("{")
        path = "".join((prefix, "".join(before.split()) if brace else rest.strip()))
        if brace:
            parts = split_angled(inside.rpartition("}")[0], ",")
            waiting += [(path, part) for part in reversed(parts) if part]
        else:
            found += _used(path)
    return found


def _used(path: str) -> list[Import]:
    path, _, own = (part.strip() for part in path.removeprefix("::").partition(" as "))
    module, _, name = path.rpartition("::")
    if name == "self" and module:
        return [Import(own or module.rpartition("::")[2], module, "")]
    if name == "*":
        return [Import("*", module, "*")]
    if not module:
        return [Import(own or name, name, "")] if name.isidentifier() else []
    return [Import("" if own == "_" else own or name, module, name)]


def params(text: str) -> Pairs:
    """`(&mut self, a: T, mut b: U)` without the self, and `|a, b: T|`."""
    text = _COMMENT.sub(" ", text.strip())
    found: Pairs = []
    for part in split_angled(text[1:-1], ","):
        match = _PARAMETER.match(part)
        if match is not None and match[1] != "self":
            found.append((match[1], (match[2] or "").strip()))
    return found


def assign(text: str) -> Assigned:
    """`let mut a: T = v;`, `let a = T { … };`, and a field `a: T`."""
    text = text.strip().rstrip(";").rstrip()
    found = _LET.match(text)
    if found is None:
        field = _FIELD.match(text)
        return [(field["name"], field["kind"].strip(), "")] if field is not None else []
    kind = (found["kind"] or "").strip()
    value = (found["value"] or "").strip().removesuffix(".await").rstrip("?")
    literal = _LITERAL.match(value)
    if not kind and literal is not None:
        return [(found["name"], literal[1], "")]
    return [(found["name"], kind, "" if kind else value)]


def name_parts(text: str) -> list[str]:
    """A type in an impl, without the path that it is reached by."""
    return [text.rpartition("::")[2]]


def type_name(text: str) -> str:
    """`T`, `&'a mut T`, `Box<dyn T>`, `a::T<U>`; "" for other holders, tuples and slices."""
    text = text.strip().removeprefix("->").strip()
    for _ in range(4):
        while found := _SIGIL.match(text):
            text = text[found.end() :]
        holder = _HOLDER.match(text)
        if holder is None:
            break
        text = holder[1].strip()
    named = _TYPE.match(text)
    return named[1] if named is not None and named[1] not in BUILTINS else ""


_WORDS = (
    "bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 true false String "
    "Vec Option Some None Result Ok Err Box Fn FnMut FnOnce Send Sync Sized Copy Clone Drop "
    "Iterator IntoIterator Into From Default ToString AsRef AsMut Eq PartialEq Ord PartialOrd "
    "Debug Display drop println print eprintln eprint format write writeln panic vec assert "
    "assert_eq assert_ne debug_assert debug_assert_eq matches todo unimplemented unreachable "
    "include_str include_bytes concat env cfg stringify line file dyn impl mut ref where for _"
)
BUILTINS = frozenset(_WORDS.split())

FAMILY = Family(
    imports=imports,
    params=params,
    assign=assign,
    name_parts=name_parts,
    type_name=type_name,
    separators=(".", "::"),
    this=frozenset({"self"}),
    this_type=frozenset({"Self"}),
    builtins=BUILTINS,
    open_names=True,
    members_elsewhere=True,
)
