"""Laws of `facts`: a pure function of bytes, for all bytes."""

import gc
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heimdall.extract.facts import facts
from heimdall.extract.languages import TABLE
from heimdall.model import Depth, Facts, Relation
from tests.heimdall.extract import golden

SUFFIXES = [row.suffixes[0] for row in TABLE if row.suffixes]
CASES = [golden.load(case)[:2] for case in golden.cases()]


def well_formed(found: Facts) -> None:
    """What the journal relies on."""
    keys = [node.key for node in found.nodes]
    assert keys[0] == ""
    assert len(keys) == len(set(keys))
    for node in found.nodes:
        assert 1 <= node.line <= node.end_line or node.key == ""
        assert len(node.digest) == 32
        assert len(node.signature) <= 200
        assert len(node.doc) <= 200
        assert "\n" not in node.signature + node.doc
    for edge in found.edges:
        assert edge.src in keys
        assert edge.dst is None or (edge.dst in keys and not edge.module and not edge.name)
        assert edge.dst is not None or edge.module or edge.name
        assert 0 < edge.confidence <= 1
    assert len(found.edges) == len(set(found.edges))
    assert len(found.bindings) == len(set(found.bindings))


@pytest.mark.parametrize(("name", "source"), CASES)
def test_twice_is_once_and_the_place_does_not_matter(name: str, source: str) -> None:
    data = source.encode()
    first = facts(f"/here/{name}", data, Depth.GRAPH)
    assert first == facts(f"/somewhere/quite else/{name}", data, Depth.GRAPH)
    well_formed(first)


def test_another_process_with_another_hash_seed_says_the_same() -> None:
    code = (
        "from tests.heimdall.extract import golden\n"
        "for case in golden.cases(): print(golden.told(*golden.load(case)[:2]))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_what_was_read_leaves_no_garbage_to_collect() -> None:
    sources = [(name, source.encode()) for name, source in CASES]
    for name, data in sources:
        facts(name, data, Depth.GRAPH)
    gc.collect()
    gc.disable()
    try:
        for name, data in sources:
            facts(name, data, Depth.GRAPH)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_each_depth_says_what_the_one_before_says_and_more() -> None:
    data = b"import a\ndef f(): return g()\ndef g(): pass\n"
    by_depth = [facts("x.py", data, depth) for depth in Depth]
    assert [len(found.nodes) for found in by_depth] == [1, 1, 3, 3]
    assert [bool(found.edges) for found in by_depth] == [False, False, False, True]
    assert [found.depth for found in by_depth] == list(Depth)
    assert by_depth[2].nodes == by_depth[3].nodes


@pytest.mark.parametrize(("name", "source"), CASES)
def test_symbols_do_not_depend_on_whether_references_are_wanted(name: str, source: str) -> None:
    data = source.encode()
    assert facts(name, data, Depth.SYMBOL).nodes == facts(name, data, Depth.GRAPH).nodes


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SUFFIXES), st.binary(max_size=400))
def test_no_bytes_break_it(suffix: str, data: bytes) -> None:
    well_formed(facts("x" + suffix, data, Depth.GRAPH))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CASES), st.data())
def test_no_cut_or_patch_of_a_source_breaks_it(case: tuple[str, str], data: st.DataObject) -> None:
    name, source = case
    text = source.encode()
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    middle = data.draw(st.sampled_from([b"", b"(", b'"""', b"<<<<<<< HEAD\n", b"\0", b"\xff{"]))
    well_formed(facts(name, text[:begin] + middle + text[end:], Depth.GRAPH))


HOSTILE = {
    "brackets": b"(" * 100_000 + b")" * 100_000,
    "open brackets": b"([{" * 30_000,
    "one long name": b"a" * 300_000,
    "invalid UTF-8": b"x = '\xff\xfe\xc3'\n",
    "half a character": b"x = '\xe6\x97'\n",
    "carriage returns": b"x = 1\r\ny = 2\r\n",
    "form feeds": b"\x0c\x0c\n",
    "conflict": b"<<<<<<< ours\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_the_neighbours_of_hostile_text_are_found(what: str) -> None:
    lines = HOSTILE[what]
    data = b"def before():\n    pass\n\n" + lines + b"\n\ndef after():\n    before()\n"
    found = facts("x.py", data, Depth.GRAPH)
    well_formed(found)
    if found.reason == "minified":
        assert max(map(len, lines.splitlines())) > 20_000
        return
    assert "before" in {node.key for node in found.nodes}
    if what != "open brackets":
        assert "after" in {node.key for node in found.nodes}
    assert found.nodes[0].end_line >= 6


def nested(depth: int, open_: bytes, middle: bytes, close: bytes) -> bytes:
    """Text nested line by line, so that no line is long."""
    return (open_ + b"\n") * depth + middle + (b"\n" + close) * depth


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("x.py", nested(100_000, b"(", b"1", b")") + b"\ndef after(): pass\n"),
        ("x.js", nested(20_000, b"(function(){", b"f()", b"})()") + b"\nfunction after() {}\n"),
        ("x.js", nested(50_000, b"[", b"1", b"]") + b"\nfunction after() {}\n"),
        ("x.ts", nested(20_000, b"{", b"let a = 1;", b"}") + b"\nfunction after() {}\n"),
        ("x.py", b"x = (\n" + b"f().\n" * 50_000 + b"g)\ndef after(): pass\n"),
        ("x.py", b"x = a" + b"\\\n= a" * 20_000 + b"\ndef after(): pass\n"),
    ],
)
def test_nesting_a_hundred_thousand_deep_neither_crashes_nor_hides(
    name: str, source: bytes
) -> None:
    found = facts(name, source, Depth.GRAPH)
    assert found.reason == ""
    assert "after" in {node.qualname.rpartition(".")[2] for node in found.nodes}


def test_deeply_nested_definitions_have_their_whole_names() -> None:
    lines = [b" " * depth + b"def f%d():" % depth for depth in range(300)]
    found = facts("x.py", b"\n".join(lines) + b"\n" + b" " * 300 + b"pass\n", Depth.GRAPH)
    assert found.nodes[-1].qualname == ".".join(f"f{depth}" for depth in range(300))


def test_circles_of_names_and_bases_end() -> None:
    source = b"""
a = b
b = a
a()
class A(B): pass
class B(A): pass
A().m()
def f(): return g()
def g(): return f()
f()()
x = x.y
x.z()
"""
    well_formed(facts("x.py", source, Depth.GRAPH))


def test_a_receiver_that_is_not_proved_is_never_a_call() -> None:
    source = b"""
class Mock:
    def print(self): pass
def f(accelerator, *rest):
    accelerator.print()
    for item in rest: item.print()
    make().print()
    rest[0].print()
    with open(accelerator) as file: file.print()
    global_thing.print()
"""
    found = facts("x.py", source, Depth.GRAPH)
    assert not [edge for edge in found.edges if edge.relation is Relation.CALLS]


def test_two_functions_of_one_name_on_one_line_are_two() -> None:
    found = facts("x.js", b"{function f(){}} {function f(){}}\n", Depth.SYMBOL)
    assert [node.key for node in found.nodes] == ["", "f", "f~2"]


def test_a_digest_is_that_of_the_definition_and_of_nothing_around_it() -> None:
    one = facts("x.py", b"def f():\n    return 1\n", Depth.SYMBOL).nodes[1]
    moved = facts("y.py", b"import a\n\n\ndef f():\n    return 1\n\n# end\n", Depth.SYMBOL).nodes[1]
    edited = facts("x.py", b"def f():\n    return 2\n", Depth.SYMBOL).nodes[1]
    assert one.digest == moved.digest != edited.digest


def test_bytes_that_cannot_be_decoded_are_no_node_of_another_name() -> None:
    found = facts("x.py", b"def caf\xe9(): pass\ndef after(): pass\n", Depth.GRAPH)
    assert "after" in {node.key for node in found.nodes}
