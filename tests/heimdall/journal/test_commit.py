"""What commits do to a path's rows, and to nobody else's."""

import sqlite3
from pathlib import Path

import pytest

from heimdall.journal.read import open_reader
from heimdall.journal.values import Move, Refresh, Retract, Skip, Unreadable
from heimdall.journal.write import JournalWriter
from heimdall.model import Action, Depth, Presence, Stat
from tests.heimdall.journal import made

A, B = "/p/a.py", "/p/b.py"
B_USES_A = made.facts("b.py", ["g"], [("g", "a", "f")])


def test_what_was_committed_is_read_back_as_it_was(tmp_path: Path) -> None:
    facts = made.facts(
        "a.py", ["f", "C", "C.m", "f~2"], [("f", "os", "path.join")], local=[("C", "f")]
    )
    with made.writer(tmp_path) as journal:
        assert made.commit(journal, A, facts) == (A, Action.INDEXED, "")
        assert journal.facts(A) == facts
    with open_reader(str(tmp_path)) as journal:
        assert journal.facts(A) == facts
        assert journal.nodes(A) == facts.nodes
        assert journal.node(A, "C.m") == facts.nodes[3]
        assert journal.node(A, "nobody") is None
        assert [(r.path, r.key) for r in journal.symbols_named("f", 9)] == [(A, "f"), (A, "f~2")]
        assert [r.key for r in journal.symbols_by_digest(made.digest("C.m"))] == ["C.m"]
        assert journal.by_digest(made.digest(A)) == (A,)


def test_a_second_commit_replaces_every_row_of_the_path_and_no_other(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py", ["f", "old"], [("f", "x", "y")]))
        made.commit(journal, B, B_USES_A)
        journal.settle()
        before = journal.facts(B)
        assert made.commit(journal, A, made.facts("a.py", ["f"])).action is Action.UPDATED
        assert [n.key for n in journal.nodes(A)] == ["", "f"]
        assert journal.facts(B) == before
    database = sqlite3.connect(tmp_path / "journal.db")
    left = database.execute("SELECT count(*) FROM edges WHERE owner = 1").fetchone()
    database.close()
    assert left == (0,)


def test_committing_twice_is_committing_once(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        for path, facts in ((A, made.facts("a.py", ["f"])), (B, B_USES_A)):
            made.commit(journal, path, facts)
        journal.settle()
    once = made.graph(tmp_path)
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py", ["f"]))
        made.commit(journal, B, B_USES_A)
        journal.settle()
    assert made.graph(tmp_path) == once


def test_a_commit_whose_path_has_moved_on_is_refused_and_stays_queued(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        old = made.generation(journal, A)
        new = made.generation(journal, A)
        assert new > old
        (outcome,) = journal.commit([made.entry(A, made.facts("a.py", ["f"]), old)])
        assert outcome.action is Action.STALE
        assert journal.path(A) is None
        assert [q.generation for q in journal.take(9)] == [new]


def test_a_late_commit_cannot_bring_back_a_path_that_was_retracted(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        late = made.generation(journal, A)
        now = made.generation(journal, A)
        journal.retract([Retract(A, now)])
        (outcome,) = journal.commit([made.entry(A, made.facts("a.py", ["f"]), late)])
        assert outcome.action is Action.STALE
        assert [q.path for q in journal.take(9)] == [A], "it is looked at once more"
        again = made.generation(journal, A)
        assert again > now, "a forgotten path never gets an old generation back"


def test_refresh_retract_and_keep_obey_the_generation_too(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py", ["f"]))
        old = made.generation(journal, A)
        made.generation(journal, A)
        before = journal.path(A)
        outcomes = [
            *journal.refresh([Refresh(A, old, Stat(9, 9, 9))]),
            *journal.retract([Retract(A, old)]),
            *journal.keep_unreadable([Unreadable(A, made.ROOT, old, "EACCES")]),
        ]
        assert {outcome.action for outcome in outcomes} == {Action.STALE}
        assert journal.path(A) == before


def test_a_retracted_path_owns_nothing_and_keeps_its_row(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py", ["f"]))
        (outcome,) = journal.retract([Retract(A, made.generation(journal, A))])
        assert outcome.action is Action.RETRACTED
        row = journal.path(A)
        assert row is not None
        assert row.state is Presence.GONE
        assert row.digest == made.digest(A), "so that the content can be recognised elsewhere"
        assert journal.nodes(A) == ()
        assert journal.by_digest(made.digest(A)) == ()
        assert journal.facts(A) is None
        (again,) = journal.retract([Retract(A, made.generation(journal, A))])
        assert again.action is Action.UNCHANGED


def test_a_path_that_was_never_there_leaves_no_row(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        (outcome,) = journal.retract([Retract(A, made.generation(journal, A))])
        assert outcome.action is Action.UNCHANGED
        assert journal.path(A) is None
        assert not journal.behind()


def test_an_unreadable_path_keeps_all_that_is_known_and_comes_back_by_a_refresh(
    tmp_path: Path,
) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py", ["f"], reason="huge"))
        journal.keep_unreadable([Unreadable(A, made.ROOT, made.generation(journal, A), "EACCES")])
        row = journal.path(A)
        assert row is not None
        assert (row.state, row.reason) == (Presence.UNREADABLE, "EACCES")
        assert [n.key for n in journal.nodes(A)] == ["", "f"]
        assert journal.skips() == (Skip(A, "EACCES"),)
        journal.refresh([Refresh(A, made.generation(journal, A), Stat(1, 2, 3))])
        row = journal.path(A)
        assert row is not None
        assert (row.state, row.reason) == (Presence.PRESENT, "huge")


def test_an_unreadable_path_that_was_never_indexed_has_its_reason(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        number = made.generation(journal, A)
        (outcome,) = journal.keep_unreadable([Unreadable(A, made.ROOT, number, "EACCES")])
        assert outcome == (A, Action.KEPT, "EACCES")
        assert journal.skips(made.ROOT) == (Skip(A, "EACCES"),)
        assert journal.counts().reasons == {"EACCES": 1}


def test_a_refresh_changes_the_stat_and_cannot_revive_what_is_gone(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py", ["f"]))
        (outcome,) = journal.refresh([Refresh(A, made.generation(journal, A), Stat(7, 8, 9), 5)])
        assert outcome.action is Action.UNCHANGED
        row = journal.path(A)
        assert row is not None
        assert (row.stat, row.reconciled_at) == (Stat(7, 8, 9), 5)
        journal.retract([Retract(A, made.generation(journal, A))])
        (outcome,) = journal.refresh([Refresh(A, made.generation(journal, A), Stat(7, 8, 9))])
        assert outcome.action is Action.STALE
        assert [q.path for q in journal.take(9)] == [A]


def test_a_batch_is_all_or_nothing(tmp_path: Path) -> None:
    broken = made.facts("b.py", ["g", "g"])
    with made.writer(tmp_path) as journal:
        numbers = [made.generation(journal, path) for path in (A, B)]
        with pytest.raises(sqlite3.IntegrityError):
            journal.commit(
                [made.entry(A, made.facts("a.py"), numbers[0]), made.entry(B, broken, numbers[1])]
            )
        assert journal.path(A) is None
        assert len(journal.take(9)) == 2
        made.commit(journal, A, made.facts("a.py"))


def _interrupted(journal: JournalWriter) -> None:
    with journal.transaction():
        made.commit(journal, A, made.facts("a.py"))
        raise KeyboardInterrupt


def test_an_inner_transaction_is_undone_with_the_outer_one(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        with pytest.raises(KeyboardInterrupt):
            _interrupted(journal)
        assert journal.path(A) is None
        assert journal.roots() == ()
        made.commit(journal, A, made.facts("a.py"))
        assert [root.path for root in journal.roots()] == [made.ROOT]


def test_a_path_that_only_exists_is_in_the_graph_with_its_reason(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        assert made.commit(journal, "/p/pipe", None, reason="fifo").reason == "fifo"
    assert made.kinds(made.graph(tmp_path)) == ["node", "skip"]


def test_names_that_are_not_text_come_back_as_they_went(tmp_path: Path) -> None:
    odd = "/p/caf\udce9\n.py"
    with made.writer(tmp_path) as journal:
        made.commit(journal, odd, made.facts("caf\udce9\n.py", ["f"]))
        assert [row.path for row in journal.paths()] == [odd]
        assert journal.nodes(odd)[0].name == "caf\udce9\n.py"
        journal.settle()
        assert [ref.path for ref in journal.symbols_named("f", 3)] == [odd]
        journal.enqueue([odd], "x")
        assert journal.take(1)[0].path == odd
    assert made.kinds(made.graph(tmp_path)) == ["node", "node"]


def test_the_queue_gives_the_oldest_first_and_a_path_once(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        journal.enqueue(["/p/1", "/p/2"], "a")
        journal.enqueue(["/p/1"], "b")
        taken = journal.take(9)
        assert [(q.path, q.reason) for q in taken] == [("/p/2", "a"), ("/p/1", "b")]
        assert journal.take(9, after=taken[0].generation) == taken[1:]
        assert journal.behind()
        journal.drop([(q.path, q.generation) for q in taken])
        assert not journal.behind()


def test_a_dropped_generation_does_not_take_a_newer_one_with_it(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        old = made.generation(journal, A)
        made.generation(journal, A)
        journal.drop([(A, old)])
        assert [q.path for q in journal.take(9)] == [A]


def test_roots_stores_moves_and_skips_are_registered_and_forgotten(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        journal.add_root("/p", Depth.FILE)
        journal.add_root("/q")
        assert [(r.path, r.depth) for r in journal.roots()] == [("/p", Depth.FILE), ("/q", None)]
        journal.add_store("/p/.mem", "/p")
        assert [s.path for s in journal.stores()] == ["/p/.mem"]
        journal.remove_store("/p/.mem")
        assert journal.stores() == ()
        journal.record_move(Move(A, B, 0.8, 5))
        assert journal.moves_from(A) == (Move(A, B, 0.8, 5),)
        journal.set_skips("/q", [Skip("/q/sub", "boundary")])
        journal.set_skips("/q", [Skip("/q/other", "boundary")])
        assert journal.skips("/q") == (Skip("/q/other", "boundary"),)
        assert journal.skips("/p") == ()
        made.commit(journal, A, made.facts("a.py", ["f"]))
        assert journal.remove_root("/p") == (A,)
        assert journal.remove_root("/p") == ()
        assert [r.path for r in journal.roots()] == ["/q"]
        assert journal.counts().nodes == 0


def test_a_root_inside_a_root_takes_over_its_paths_and_no_others(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        for path in ("/p/a.py", "/p/in/b.py", "/p/in/deep/c.py", "/p/inner.py"):
            made.commit(journal, path, made.facts("x"))
        journal.add_root("/p/in/deep")
        journal.add_root("/p/in")
        found = {row.path: row.root for row in journal.paths()}
    assert found == {
        "/p/a.py": "/p",
        "/p/in/b.py": "/p/in",
        "/p/in/deep/c.py": "/p/in/deep",
        "/p/inner.py": "/p",
    }


def test_the_stamp_goes_up_with_each_pass_and_only_when_told(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        first, coming = journal.stamp(), journal.next_stamp()
        assert coming != first
        assert journal.stamp() == first
        journal.set_stamp(coming)
        assert journal.stamp() == coming
    with made.writer(tmp_path / "other") as other:
        assert other.stamp() != first, "another journal is another one"


def test_pruning_forgets_what_has_long_been_gone(tmp_path: Path) -> None:
    clock = made.Clock()
    with made.writer(tmp_path) as journal:
        made.commit(journal, A, made.facts("a.py"))
        made.commit(journal, B, made.facts("b.py"))
        journal.retract([Retract(A, made.generation(journal, A))])
        now_ms = int(clock.at * 1000)
        assert journal.prune(now_ms) == 0
        assert journal.prune(now_ms + 1) == 1
        assert [row.path for row in journal.paths()] == [B]


def test_a_sketch_stays_with_a_path_that_is_gone(tmp_path: Path) -> None:
    with made.writer(tmp_path) as journal:
        assert journal.sketch(A) == b""
        number = made.generation(journal, A)
        journal.commit([made.entry(A, made.facts("a.py"), number)._replace(sketch=b"lines")])
        journal.retract([Retract(A, made.generation(journal, A))])
        assert journal.sketch(A) == b"lines"
