"""Binding across files: pending, bound, pending again, in whatever order things come and go."""

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heimdall.journal import settle as settling
from heimdall.journal.values import Retract
from heimdall.journal.write import JournalWriter
from heimdall.model import Binding, Facts
from tests.heimdall.journal import made

A, B = "/p/a.py", "/p/b.py"
HAS_F = made.facts("a.py", ["f"])
USES_F = made.facts("b.py", ["g"], [("g", "a", "f")])
BOUND = {(f"{B}#g", f"{A}#f")}


def retract(journal: JournalWriter, path: str) -> None:
    journal.retract([Retract(path, made.generation(journal, path))])


def test_a_reference_waits_until_its_target_comes(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, B, USES_F)
        journal.settle()
        assert journal.counts().pending == 1
        made.commit(journal, A, HAS_F)
        assert journal.behind(), "it says that something is still to be bound"
        assert journal.settle() == 1
        assert not journal.behind()
    assert made.ends(tmp_path) == BOUND


def test_a_reference_goes_back_to_pending_with_its_target_even_before_settling(
    tmp_path: Path,
) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, HAS_F)
        made.commit(journal, B, USES_F)
        journal.settle()
        retract(journal, A)
    assert made.ends(tmp_path) == set()
    assert made.pending(tmp_path) == {(f"{B}#g", "a", "f")}


def test_a_definition_that_is_renamed_frees_its_references(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, HAS_F)
        made.commit(journal, B, USES_F)
        journal.settle()
        made.commit(journal, A, made.facts("a.py", ["renamed"]))
        journal.settle()
        assert journal.counts().pending == 1
        made.commit(journal, A, HAS_F)
        journal.settle()
    assert made.ends(tmp_path) == BOUND


def test_an_edit_that_keeps_the_definition_keeps_the_edge_without_binding_again(
    tmp_path: Path,
) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, HAS_F)
        made.commit(journal, B, USES_F)
        journal.settle()
        made.commit(journal, A, made.facts("a.py", ["before", "f"]))
        assert [hit.path for hit in journal.edges_to(A, "f")] == [B]
        assert journal.settle() == 0


def test_neighbours_are_seen_from_both_ends(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, HAS_F)
        made.commit(journal, B, USES_F)
        journal.settle()
        (there,) = journal.edges_from(B, "g")
        (back,) = journal.edges_to(A, "f")
        assert (there.path, there.key, there.relation, there.line) == (A, "f", "calls", 1)
        assert (back.path, back.key, back.kind) == (B, "g", "function")


def test_what_waits_survives_a_crash_between_commit_and_settling(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, B, USES_F)
        journal.settle()
        made.commit(journal, A, HAS_F)
    with made.writer(tmp_path) as journal:
        assert journal.behind()
        assert journal.settle() == 1
    assert made.ends(tmp_path) == BOUND


def test_an_edit_binds_only_whom_it_concerns(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, HAS_F)
        made.commit(journal, B, USES_F)
        for number in range(40):
            facts = made.facts(f"m{number}.py", ["h"], [("h", f"m{number + 1}", "h")])
            made.commit(journal, f"/p/m{number}.py", facts)
        journal.settle()
        made.commit(journal, A, made.facts("a.py", ["renamed"]))
    database = sqlite3.connect(tmp_path / "journal.db")
    waiting = settling._waiting(database)
    concerned = {
        owner
        for (owner,) in database.execute(
            "SELECT id FROM paths WHERE path IN (?, ?)", (A.encode(), B.encode())
        )
    }
    database.close()
    assert set(waiting) == concerned


def test_a_new_root_inside_another_frees_references_that_cross_it(tmp_path: Path) -> None:
    inner = "/p/in/a.py"
    with made.writer(tmp_path) as journal:
        made.commit(journal, inner, HAS_F)
        made.commit(journal, "/p/in/b.py", USES_F)
        made.commit(journal, "/p/c.py", made.facts("c.py", ["g"], [("g", "in.a", "f")]))
        journal.settle()
        assert journal.counts().pending == 0
        journal.add_root("/p/in")
        journal.settle()
    assert made.ends(tmp_path) == {("/p/in/b.py#g", f"{inner}#f")}


# -- the law ---------------------------------------------------------------------------------------

_NAMES = ("a", "b", "c")
_PATHS = tuple(f"/p/{folder}{name}.py" for folder in ("", "k/") for name in (*_NAMES, "__init__"))


@st.composite
def _facts(draw: st.DrawFn) -> Facts:
    keys = draw(st.lists(st.sampled_from(["f", "g", "C", "C.m"]), unique=True, max_size=4))
    module = st.sampled_from(["a", "b", "c", "k", "k.a", ".a", ".", "nowhere"])
    calls = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["", *keys]), module, st.sampled_from(["f", "g", "C", "C.m", "y"])
            ),
            max_size=4,
        )
    )
    bindings = draw(
        st.lists(
            st.builds(
                Binding, st.sampled_from(["f", "y", "*"]), module, st.sampled_from(["f", "g", "*"])
            ),
            max_size=2,
        )
    )
    return made.facts("x.py", keys, calls, bindings=bindings)


_STEPS = st.lists(
    st.tuples(st.sampled_from(_PATHS), st.one_of(st.none(), _facts()), st.booleans()),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(steps=_STEPS)
def test_any_history_ends_as_if_built_from_scratch_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Facts | None, bool]]
) -> None:
    base = tmp_path_factory.mktemp("journals")
    lived, fresh = base / "lived", base / "fresh"
    state: dict[str, Facts] = {}
    with made.writer(lived) as journal:
        for path, facts, settle in steps:
            if facts is None:
                retract(journal, path)
                state.pop(path, None)
            else:
                made.commit(journal, path, facts)
                state[path] = facts
            if settle:
                journal.settle()
        journal.settle()
    with made.writer(fresh) as journal:
        for path in sorted(state, reverse=True):
            made.commit(journal, path, state[path])
        journal.settle()
    assert made.graph(lived) == made.graph(fresh)
    assert all(json.loads(line) for line in made.graph(lived))
