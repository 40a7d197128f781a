"""Python's own parser is the oracle: the same classes and functions, on real code."""

import ast
import os
import sysconfig
import warnings

import pytest

from heimdall.extract.facts import facts
from heimdall.model import Depth
from tests.support.size import FULL

Definition = tuple[int, str, str, int | None]
LIBRARY = sysconfig.get_path("stdlib")
SAMPLE = 1500 if FULL else 60


def expected(source: bytes) -> list[Definition]:
    """(first line, kind, qualified name, last line) of every definition, as `ast` has them."""
    found: list[Definition] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waiting: list[tuple[ast.AST, str, bool]] = [(ast.parse(source), "", False)]
    while waiting:
        around, prefix, in_class = waiting.pop()
        for node in ast.iter_child_nodes(around):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                is_class = isinstance(node, ast.ClassDef)
                kind = "class" if is_class else "method" if in_class else "function"
                line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                found.append((line, kind, prefix + node.name, node.end_lineno))
                waiting.append((node, f"{prefix}{node.name}.", is_class))
            else:
                waiting.append((node, prefix, in_class))
    return sorted(found, key=str)


def extracted(name: str, source: bytes) -> list[Definition]:
    """The same of our own nodes."""
    kinds = {"class", "function", "method"}
    nodes = facts(name, source, Depth.SYMBOL).nodes
    found = [(n.line, n.kind, n.qualname, n.end_line) for n in nodes if n.kind in kinds]
    return sorted(found, key=str)


def sources() -> list[str]:
    """Files of the standard library, evenly taken, the same at each run."""
    found = []
    for folder, folders, names in os.walk(LIBRARY):
        folders[:] = sorted(set(folders) - {"site-packages", "__pycache__"})
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    found.sort()
    return found[:: max(1, len(found) // SAMPLE)]


def test_definitions_are_those_of_pythons_own_parser() -> None:
    compared = 0
    for path in sources():
        with open(path, "rb") as file:
            source = file.read()
        if facts(path, source, Depth.SYMBOL).reason:
            continue
        try:
            wanted = expected(source)
        except (SyntaxError, ValueError):
            continue
        assert extracted(path, source) == wanted, path
        compared += len(wanted)
    assert compared > 1000


@pytest.mark.parametrize(
    "source",
    [
        b"def f():\n    (a.\nb)\n    return 1\ndef g(): pass\n",
        b'def f():\n    x = 1\n    ## text """ quote\n    # more\n\ndef g(): pass\n',
        b'def f():\n    x = """\n    # no comment"""\n    # comment\ny = 1\n',
        b"class A:\r\n    def f(self):\r\n        pass\r\n\r\n    x = 1\r\n",
        b"\x0cdef f():\n\x0c    pass\n",
        b"if 1:\n\tdef f():\n\t\tpass\n\tclass B: pass\n",
        b"def f(): pass; x = 1\nasync def g(): await f()\n",
        b"@a\n@b(\n1)\n# between\nclass C:\n    @d\n    def m(self): ...\n",
        b"def f(x=lambda: [i for i in y]): return lambda z: z\n",
        b"match x:\n    case [1, 2]:\n        def f(): pass\n    case _:\n        def f(): pass\n",
        b"try:\n    def f(): pass\nexcept* E:\n    def g(): pass\nfinally:\n    def h(): pass\n",
    ],
)
def test_spellings_that_mislead_a_grammar_do_not_mislead_us(source: bytes) -> None:
    assert extracted("x.py", source) == expected(source)
