"""The spelling of includes, parameters, declarations and types in C and C++."""

import re

from heimdall.extract.families.base import Assigned, Family, Import, Pairs
from heimdall.extract.families.split import inner, split_angled

_INCLUDE = re.compile(r"#\s*include\s*(?:\"([^\"\n]+)\"|<([^>\n]+)>)")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_WORDS_BEFORE = (
    r"(?:(?:static|const|constexpr|inline|extern|volatile|mutable|register|thread_local|typename"
    r"|struct|class|enum|union|unsigned|signed|long|short|restrict|virtual|explicit)\b\s*)*"
)
_DECLARED = re.compile(
    rf"{_WORDS_BEFORE}(?P<kind>[^\W\d][\w:]*(?:\s*<.*?>(?:::\w+)?)?)(?P<wrap>(?:\s|\*|&|\bconst\b)+)"
    r"(?P<name>[^\W\d]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=\s*(?P<value>.*)|[({].*)?$",
    re.DOTALL,
)
_FOR = re.compile(r"for\s*\((?P<inside>(?:[^:;]|::)+):")
_LAST = re.compile(r"([^\W\d]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", re.DOTALL)
_MADE = re.compile(r"new\s+([^\W\d][\w:]*)")
_BEFORE = re.compile(_WORDS_BEFORE)
_HOLDER = re.compile(r"(?:\w+::)*(?:unique_ptr|shared_ptr|weak_ptr)\s*<(.*)>[\s&]*$", re.DOTALL)
_TYPE = re.compile(r"([^\W\d][\w:]*)\s*(?:<.*>)?[\s*&]*(?:\bconst\b)?[\s*&]*$", re.DOTALL)
_TEMPLATE = re.compile(r"<[^<>]*>")
_OPERATOR = re.compile(r"(.*?)(operator\b.*)$", re.DOTALL)
_HEADERS = (
    "assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h "
    "math.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h "
    "stdio.h stdlib.h stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h unistd.h "
    "wchar.h wctype.h fcntl.h pthread.h dirent.h poll.h dlfcn.h"
)
_SYSTEM = frozenset(_HEADERS.split())


def imports(text: str) -> list[Import]:
    """`#include "a/b.h"` and `<a/b.h>`; headers of the language and the system are left out."""
    found = _INCLUDE.match(text)
    if found is None:
        return []
    path = found[1] or found[2]
    system = found[2] is not None and ("." not in path or path in _SYSTEM or path[:4] == "sys/")
    return [] if system else [Import("*", path, "*")]


def params(text: str) -> Pairs:
    """`(const T& a, U *b = 0, int (*f)(int), ...)`; those without a name are left out."""
    found: Pairs = []
    for part in split_angled(_COMMENT.sub(" ", inner(text)), ","):
        declared = _declared(part)
        if declared is not None:
            found.append(declared[:2])
    return found


def assign(text: str) -> Assigned:
    """`T a = v;`, `T *a`, `T a(v)`, `auto a = v`, and the variable of a range loop."""
    looped = _FOR.match(text)
    declared = _declared(looped["inside"] if looped is not None else text)
    return [declared] if declared is not None else []


def _declared(text: str) -> tuple[str, str, str] | None:
    """(name, type, value); the value counts only where the type is left to it."""
    text = text.strip().rstrip(";").rstrip()
    found = _DECLARED.match(text)
    if found is None:
        last = _LAST.search(text)
        return (last[1], "", "") if last is not None and last.start() else None
    kind, value = found["kind"], (found["value"] or "").strip()
    if kind != "auto":
        return found["name"], kind, ""
    made = _MADE.match(value)
    return (found["name"], made[1], "") if made is not None else (found["name"], "", value)


def name_parts(text: str) -> list[str]:
    """`ns::A<T>::f` -> ns, A, f; an operator keeps its signs, a conversion its type."""
    operator = _OPERATOR.match(text)
    head, last = (operator[1], operator[2]) if operator is not None else (text, "")
    while (plain := _TEMPLATE.sub("", head)) != head:
        head = plain
    # After a macro that the grammar took for a type, the type stands before the name.
    words = head.split()
    head = words[-1] if words and operator is None else "".join(words)
    parts = [part for part in head.split("::") if part]
    return [*parts, _operator_name(last)] if last else parts or [text]


def _operator_name(text: str) -> str:
    """`operator bool() const` -> `operator bool`, `operator  ==` -> `operator==`."""
    signs = text.removeprefix("operator").strip()
    if signs[:1].isalpha():
        return f"operator {' '.join(signs.partition('(')[0].split())}"
    return f"operator{''.join(signs.split())}"


def type_name(text: str) -> str:
    """`T`, `const ns::T &`, `T<U> *`, `unique_ptr<T>`; "" for other holders and primitives."""
    text = " ".join(text.split())
    text = text[_BEFORE.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text
    holder = _HOLDER.match(text)
    if holder is not None:
        text = holder[1].strip()
    found = _TYPE.match(text)
    if found is None or found[1].startswith("std::") or found[1] in BUILTINS:
        return ""
    return found[1]


_BUILT_IN = (
    "void bool char short int long float double signed unsigned auto size_t ssize_t ptrdiff_t "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t wchar_t "
    "char8_t char16_t char32_t FILE va_list true false nullptr NULL std sizeof const struct class "
    "enum union static volatile typename printf fprintf sprintf snprintf malloc calloc realloc "
    "free memcpy memset memmove memcmp strlen strcmp strncmp strcpy strncpy strcat strdup strchr "
    "strstr assert abort exit fopen fclose fread fwrite va_start va_end static_cast dynamic_cast "
    "reinterpret_cast const_cast defined"
)
BUILTINS = frozenset(_BUILT_IN.split())

FAMILY = Family(
    imports=imports,
    params=params,
    assign=assign,
    name_parts=name_parts,
    type_name=type_name,
    separators=(".", "->", "::"),
    this=frozenset({"this"}),
    builtins=BUILTINS,
    members_visible=True,
    open_names=True,
    members_elsewhere=True,
)
