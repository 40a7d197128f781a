"""Java's spelling of imports, parameters, declarations and types."""

import re

from heimdall.extract.families.base import Assigned, Family, Import, Pairs
from heimdall.extract.families.split import inner, split_angled

_IMPORT = re.compile(r"import\s+(?:static\s+)?([\w.\s]+?)(\s*\.\s*\*)?\s*;?\s*$")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_MODIFIER = re.compile(
    r"\s*(?:@[\w.]+(?:\s*\([^)]*\))?|(?:public|private|protected|static|final|transient|volatile"
    r"|abstract|synchronized|native|strictfp|default)\b)\s*"
)
_FOR = re.compile(r"for\s*\((?P<inside>[^:;]+):")
_INSTANCE = re.compile(r".*\binstanceof\s+(?:final\s+)?([\w.]+(?:<[^>]*>)?)\s+(\w+)$", re.DOTALL)
_DECLARED = re.compile(
    r"(?P<kind>[\w.]+(?:\s*<.*?>)?(?:\s*\[\s*\])*)\s+(?P<names>[^\W\d][\w$]*[^=]*)"
    r"(?:=(?P<value>.*))?$",
    re.DOTALL,
)
_NAME = re.compile(r"[^\W\d][\w$]*")
_TYPE = re.compile(r"([^\W\d][\w.$]*)\s*(?:<.*>)?", re.DOTALL)
_BRACKET = re.compile(r"[()]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_MAX_CALLED = 600


def imports(text: str) -> list[Import]:
    """`import a.b.C;`, `import a.b.*;`, `import static a.b.C.f;`."""
    found = _IMPORT.match(" ".join(_COMMENT.sub(" ", text).split()))
    if found is None:
        return []
    path = "".join(found[1].split())
    if found[2]:
        return [Import("*", path, "*")]
    module, _, name = path.rpartition(".")
    return [Import(name, module, name)] if module else []


def params(text: str) -> Pairs:
    """`(final T a, @A U<V> b, W... c)`, `(a, b)` and the lone `a` of a lambda."""
    found: Pairs = []
    for part in split_angled(_COMMENT.sub(" ", inner(text)), ","):
        words = _plain(part).rsplit(None, 1)
        if words and _NAME.fullmatch(words[-1]):
            kind = words[0] if len(words) == 2 and not words[0].endswith("...") else ""
            found.append((words[-1], kind))
    return found


def assign(text: str) -> Assigned:
    """`T a = v, b;`, `for (T a : v)`, `x instanceof T a`, `T a` of a pattern or resource."""
    looped = _FOR.match(text)
    if looped is not None:
        text = looped["inside"].rstrip()
    instance = _INSTANCE.match(text)
    if instance is not None:
        return [(instance[2], instance[1], "")]
    found = _DECLARED.match(_plain(text.rstrip("; \n")))
    if found is None:
        return []
    name = _NAME.match(found["names"])
    assert name is not None  # the pattern of `names` begins with one
    kind = "" if found["kind"] == "var" else found["kind"]
    value = (found["value"] or "").strip()
    first = (name[0], kind, "" if kind else value)
    others = found["names"][name.end() :].replace("=", ",").split(",")
    more = [part.strip() for part in others if _NAME.fullmatch(part.strip())]
    return [first, *((other, kind, "") for other in more)]


def _plain(text: str) -> str:
    """A declaration without the modifiers and annotations before it."""
    text = text.strip()
    while found := _MODIFIER.match(text):
        text = text[found.end() :]
    return text


def type_name(text: str) -> str:
    """`T`, `a.b.T`, `T<X>`; "" for arrays and primitives."""
    found = _TYPE.fullmatch(text.strip())
    return found[1] if found is not None and found[1] not in BUILTINS else ""


def called(text: str) -> str:
    """`a.b(c).d` of the invocation `a.b(c).d(e)`. Of one that is too long, what is called first:
    that is a call at the same place too."""
    depth = start = 0
    for found in _BRACKET.finditer(text[:_MAX_CALLED]):
        if found[0] == "(":
            start = found.start() if depth == 0 else start
            depth += 1
        elif found[0] == ")":
            depth -= 1
    return text[:start] if start else text


def is_constant(name: str, _kind: str) -> bool:
    """ALL_CAPS."""
    return name.isupper() and len(name) > 1


_WORDS = (
    "boolean byte char double float int long short void var null true false String Object Integer "
    "Long Double Float Short Byte Character Boolean Number Math System Thread Runnable Iterable "
    "Comparable CharSequence StringBuilder StringBuffer Class Enum Record Void Throwable Exception "
    "RuntimeException Error IllegalArgumentException IllegalStateException NullPointerException "
    "IndexOutOfBoundsException UnsupportedOperationException InterruptedException "
    "ClassCastException ArithmeticException CloneNotSupportedException AutoCloseable Cloneable "
    "Override Deprecated SuppressWarnings SafeVarargs FunctionalInterface "
    "Process Runtime Package"
)
BUILTINS = frozenset(_WORDS.split())

FAMILY = Family(
    imports=imports,
    params=params,
    assign=assign,
    type_name=type_name,
    called=called,
    is_constant=is_constant,
    separators=(".", "::"),
    this=frozenset({"this"}),
    super_words=frozenset({"super"}),
    builtins=BUILTINS,
    members_visible=True,
    open_names=True,
)
