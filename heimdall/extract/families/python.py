"""Python's spelling of imports, parameters, assignments and annotations."""

import re
from unicodedata import normalize

from heimdall.extract.families.base import Assigned, Family, Import, Pairs
from heimdall.extract.families.split import inner, split

_PLAIN = re.compile(r"[\w\s,*/]*")
_COMMENT = re.compile(r"#[^\n]*")
_CHAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_DOTTED = re.compile(r"[^\W\d][\w.]*")
_HEAD = re.compile(
    r"(?P<target>[^\W\d]\w*(?:\.[^\W\d]\w*)?)\s*(?::(?P<kind>[^=]+))?=(?!=)\s*(?P<value>.*)",
    re.DOTALL,
)
_DECLARED = re.compile(r"(?P<target>[^\W\d]\w*(?:\.[^\W\d]\w*)?)\s*:(?P<kind>[^=]+)$")
_ENTERED = re.compile(r"(.*)\sas\s+([^\W\d]\w*)", re.DOTALL)
_AGAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?\s*=(?!=)\s*")
_OPTIONAL = re.compile(r"(?:[\w.]*\.)?(?:Optional|Final|ClassVar|Annotated|Required)\[(.*)\]", re.S)
_CALLER = re.compile(r"(?:[\w.]*\.)?(?:type|Type)\[(.*)\]", re.S)
_DOT_AT_END = re.compile(rb"^[^#\n]*[A-Za-z_)\]]\.[ \t]*\n", re.MULTILINE)
_CONTAINER = re.compile(r"[\[\]()*,]")


def imports(text: str) -> list[Import]:
    """`import a.b, c as d` and `from .m import (x as y, *)`, comments and line ends allowed."""
    text = _COMMENT.sub("", text).replace("\\\n", " ").replace("\\\r\n", " ")
    if text.startswith("from"):
        return _from_import(text)
    found: list[Import] = []
    for part in text.removeprefix("import").split(","):
        words = part.split()
        if not words:
            continue
        module = "".join(words[: words.index("as")] if "as" in words else words)
        if "as" in words[:-1]:
            found.append(Import(words[-1], module, ""))
        else:
            found.append(Import(module.split(".")[0], module.split(".")[0], ""))
            if "." in module:
                found.append(Import("", module, ""))
    return found


def _from_import(text: str) -> list[Import]:
    head, word, rest = re.sub(r"\s+", " ", text[4:]).partition("import")
    # `from importlib import x`: the first "import" may be part of the unit's name.
    while word and not (head[-1:] in " .)" and rest[:1] in " (*"):
        more, word, after = rest.partition("import")
        head, rest = f"{head}import{more}", after
    module = head.replace(" ", "")
    found: list[Import] = []
    for part in rest.strip().strip("()").split(","):
        words = part.split()
        if words:
            found.append(Import(words[-1] if len(words) > 2 else words[0], module, words[0]))
    return [item._replace(target="*") if item.name == "*" else item for item in found]


def params(text: str) -> Pairs:
    """`(self, a: int = 3, *args, **kw)` -> names with their annotations."""
    text = inner(text)
    if _PLAIN.fullmatch(text):
        names = (part.strip(" \t\r\n*/") for part in text.split(","))
        return [(name, "") for name in names if name]
    found: Pairs = []
    for part in split(_COMMENT.sub("", text) if "#" in text else text, ","):
        named = split(part, "=")[0]
        name, _, kind = named.partition(":")
        starred = name.startswith("*")
        name = name.strip(" \t\r\n*/")
        if name.isidentifier():
            found.append((name, "" if starred else kind.strip()))
    return found


def assign(text: str) -> Assigned:
    """`x: T = v`, `self.x = v`, `a = b = v`, `a, b = v, w`, `with v as x`; other
    targets bind opaquely."""
    found = _HEAD.match(text)
    if found is not None:
        target, kind, value = found.groups("")
        while "=" in value and (again := _AGAIN.match(value)):
            value = value[again.end() :]
        return [(target, kind.strip(), value.strip())]
    entered = _ENTERED.fullmatch(text)
    if entered is not None:
        return [(entered[2], "", f"{entered[1]}.__enter__()")]
    declared = _DECLARED.match(text)
    if declared is not None:
        return [(declared["target"], declared["kind"].strip(), "")]
    return _unpack(text)


def _unpack(text: str) -> Assigned:
    sides = split(text, "=")
    if len(sides) < 2:
        return []
    targets = split(inner(sides[0]), ",")
    values = split(inner(sides[-1]) if sides[-1][:1] in "([" else sides[-1], ",")
    paired = len(targets) == len(values) and len(sides) == 2 and "*" not in sides[0]
    found: Assigned = []
    for index, target in enumerate(targets):
        if _CHAIN.fullmatch(target):
            found.append((target, "", values[index] if paired else ""))
        else:
            names = re.findall(r"(?<![.\w\[])[^\W\d]\w*(?![\w.\[(])", target)
            found += [(name, "", "") for name in names]
    return found


def type_name(text: str) -> str:
    """The class that an annotation promises: `"X"`, `Optional[X]`, `X | None`; "" for others."""
    text = text.strip().strip("\"'").strip()
    while found := _OPTIONAL.fullmatch(text):
        text = split(found[1], ",")[0].strip("\"'")
    caller = _CALLER.fullmatch(text)
    if caller is not None:
        return ""
    members = [part for part in split(text, "|") if part != "None"]
    if len(members) != 1:
        return ""
    text = members[0]
    head = _DOTTED.match(text)
    if head is None or _CONTAINER.search(text.replace(head[0], "", 1)[:1]) is None:
        return text if _DOTTED.fullmatch(text) else ""
    # `Stack[int]` is a Stack; whether the name means a class is for the binder to prove.
    return head[0] if text[head.end() :].startswith("[") else ""


def name_parts(text: str) -> list[str]:
    """The name as Python itself knows it."""
    return [text if text.isascii() else normalize("NFKC", text)]


def mend(data: bytes) -> bytes:
    """A line that ends in a dot goes on: the grammar loses count of blocks where the next one,
    in brackets, begins further left. Lines with comments are left alone."""
    return _DOT_AT_END.sub(lambda found: found[0].replace(b"\n", b" "), data)


def is_constant(name: str, kind: str) -> bool:
    """ALL_CAPS, or annotated."""
    return bool(kind) or (name.isupper() and len(name) > 1)


BUILTINS = frozenset(
    re.findall(
        r"\w+",
        """
        ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup
        BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError
        ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError
        DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception
        ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError
        FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError
        IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError
        MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented
        NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError
        ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError
        RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning
        SystemError SystemExit TabError TimeoutError True TypeError UnboundLocalError
        UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
        UnicodeWarning UserWarning ValueError Warning ZeroDivisionError __build_class__
        __debug__ __doc__ __import__ __loader__ __name__ __package__ __spec__ abs aiter all
        anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile
        complex copyright credits delattr dict dir divmod enumerate eval exec exit filter
        float format frozenset getattr globals hasattr hash help hex id input int isinstance
        issubclass iter len license list locals map max memoryview min next object oct open
        ord pow print property quit range repr reversed round set setattr slice sorted
        staticmethod str sum super tuple type vars zip
        """,
    )
)
"""Written out, because facts must not depend on the Python that runs."""

FAMILY = Family(
    imports=imports,
    params=params,
    assign=assign,
    name_parts=name_parts,
    mend=mend,
    type_name=type_name,
    is_constant=is_constant,
    super_words=frozenset({"super"}),
    builtins=BUILTINS,
    comment=b"#",
    constructor="__init__",
    exports_name="__all__",
    first_parameter_is_self=True,
    hoisted=False,
)
