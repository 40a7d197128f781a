"""One question, answered: a real store, a real index, real files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import gitmemo
from gitmemo import Draft, Kind, Store
from heimdall import anchors, hints
from heimdall.config import Settings
from heimdall.errors import BadArgument
from heimdall.model import Report, Verdict
from heimdall.search import search
from tests.heimdall.search.world import NOW, World

CODE = '''\
"""Retry budget."""


def retry_budget(limit):
    """How many retries are left."""
    return limit - 1


class Backoff:
    def next_delay(self, attempt):
        return 2 ** attempt
'''


class Desk(World):
    """A repository with a memory, an index and someone who asks."""

    def __init__(self, tmp: Path) -> None:
        super().__init__(tmp)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.put("src/retry.py", CODE)
        self.put("src/other.py", "def unrelated():\n    return 0\n")
        self.store = Store.init(str(self.root), clock=lambda: NOW)
        self.settings = Settings(str(self.home), now=lambda: NOW)

    def write(self, title: str, *paths: str, text: str = "", kind: Kind = Kind.TASK) -> str:
        found = anchors.anchor_symbols(str(self.root), f"{title}\n{text}", paths)
        draft = Draft(
            title, "How it is done here.", ("retry", "network"), text, kind, paths, (), found
        )
        return self.store.write(draft).id

    def ask(self, *words: str, **options: object) -> Report:
        return search(self.settings, str(self.root), words, **options)  # type: ignore[arg-type] # named by the test

    def hinted(self) -> list[str]:
        taken, done = hints.take(str(self.home))
        done()
        return [os.path.relpath(path, self.root) for path in taken]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def only(report: Report) -> tuple[Verdict, tuple[str, ...]]:
    (hit,) = (hit for hit in report.hits if hit.source == "memory")
    return hit.verdict, hit.reasons


# -- the five verdicts -----------------------------------------------------------------------------


def test_a_memory_of_unchanged_files_is_strong(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    assert only(desk.ask("retry limit")) == (Verdict.STRONG, ("anchor-same",))


def test_an_edit_makes_it_weak_and_an_edit_elsewhere_does_not(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.write("`retry_budget` counts down", "src/retry.py")
    desk.put("src/retry.py", CODE.replace("2 **", "3 **"))
    report = desk.ask("retry")
    found = {hit.title: (hit.verdict, hit.reasons) for hit in report.hits}
    assert found == {
        "the retry limit": (Verdict.WEAK, ("anchor-drifted",)),
        "`retry_budget` counts down": (Verdict.STRONG, ("symbols-same",)),
    }


def test_a_moved_file_makes_it_rebuilt_with_the_new_path(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.move("src/retry.py", "lib/again.py")
    report = desk.ask("retry limit")
    assert only(report) == (Verdict.REBUILT, ("moved-identical",))
    assert report.hits[0].path == str(desk.root / "lib/again.py")
    assert report.hits[0].anchors[0].now == "lib/again.py"


def test_a_deleted_file_makes_it_stale(desk: Desk) -> None:
    desk.index()
    desk.write("the retry limit", "src/retry.py")
    desk.remove("src/retry.py")
    desk.index("src/retry.py")
    assert only(desk.ask("retry limit")) == (Verdict.STALE, ("path-missing",))


def test_a_withdrawn_or_replaced_memory_is_removed_and_shown_only_on_demand(desk: Desk) -> None:
    old = desk.write("the retry limit", "src/retry.py")
    new = desk.store.replace(old, Draft("the retry limit is ten", "Ten.", ("retry", "limit"))).id
    assert [hit.id for hit in desk.ask("retry limit").hits] == [new]
    found = {hit.id: hit for hit in desk.ask("retry limit", show_all=True).hits}
    assert found[old].verdict is Verdict.REMOVED
    assert found[old].reasons == (f"superseded-by:{new}",)
    desk.store.delete(new, "no longer true")
    assert desk.ask("retry limit").hits == ()
    found = {hit.id: hit for hit in desk.ask("retry limit", show_all=True).hits}
    assert found[new].reasons == ("withdrawn",)


def test_a_memory_without_paths_is_weak(desk: Desk) -> None:
    desk.write("the retry limit")
    assert only(desk.ask("retry limit")) == (Verdict.WEAK, ("no-anchor",))


def test_a_question_that_is_badly_covered_is_never_strong(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    verdict, reasons = only(desk.ask("retry", "kubernetes", "ingress", "certificate"))
    assert (verdict, reasons[0]) == (Verdict.WEAK, "coverage-low")


def test_the_checkout_that_asks_is_the_one_that_counts(desk: Desk) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", str(desk.root), "-c", "user.name=a", "-c", "user.email=a@b", *words],
            check=True,
            capture_output=True,
        )

    desk.write("the retry limit", "src/retry.py")
    git("add", "src")
    git("commit", "-qm", "one")
    other = desk.root.parent / "other"
    git("worktree", "add", "-q", "-b", "side", str(other))
    (other / "src/retry.py").unlink()
    here = search(desk.settings, str(desk.root / "src"), ["retry limit"])
    there = search(desk.settings, str(other / "src"), ["retry limit"])
    assert only(here)[0] is Verdict.STRONG
    assert only(there)[0] is Verdict.STALE


def test_a_dead_anchor_that_comes_back_is_strong_again(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.index()
    desk.remove("src/retry.py")
    assert only(desk.ask("retry limit"))[0] is Verdict.STALE
    desk.put("src/retry.py", CODE)
    assert only(desk.ask("retry limit"))[0] is Verdict.STRONG


def test_what_died_comes_last(desk: Desk) -> None:
    dead = desk.write("retry limit of the network", "src/other.py")
    alive = desk.write("retry", "src/retry.py")
    desk.remove("src/other.py")
    assert [hit.id for hit in desk.ask("retry limit network").hits] == [alive, dead]


# -- code ------------------------------------------------------------------------------------------


def test_code_is_found_by_name_and_judged_by_its_bytes(desk: Desk) -> None:
    desk.index(sink=True)
    report = desk.ask("retry budget")
    assert report.sources == {"memory": "ok", "code": "ok"}
    hit = report.hits[0]
    assert (hit.source, hit.symbol, hit.kind, hit.line) == ("code", "retry_budget", "function", 4)
    assert hit.id == f"{desk.root}/src/retry.py#retry_budget"
    assert (hit.verdict, hit.reasons) == (Verdict.STRONG, ("index-same",))


def test_code_edited_since_it_was_indexed_is_weak(desk: Desk) -> None:
    desk.index(sink=True)
    desk.put("src/retry.py", CODE + "\n")
    hit = desk.ask("retry budget").hits[0]
    assert (hit.verdict, hit.reasons) == (Verdict.WEAK, ("index-behind",))


def test_code_that_is_gone_is_left_out(desk: Desk) -> None:
    desk.index(sink=True)
    desk.remove("src/retry.py")
    assert desk.ask("retry budget").hits == ()
    hit = desk.ask("retry budget", show_all=True).hits[0]
    assert hit.verdict is Verdict.STALE


def test_memory_that_fits_comes_before_code(desk: Desk) -> None:
    desk.index(sink=True)
    desk.write("the retry budget", "src/retry.py")
    assert desk.ask("retry budget").hits[0].source == "memory"


def test_a_kind_asks_only_the_source_that_has_it(desk: Desk) -> None:
    desk.index(sink=True)
    desk.write("the retry budget", "src/retry.py")
    memory = desk.ask("retry budget", kinds=frozenset({"task"}))
    assert (memory.sources, {hit.kind for hit in memory.hits}) == ({"memory": "ok"}, {"task"})
    code = desk.ask("retry delay", kinds=frozenset({"class", "method"}))
    assert code.sources == {"code": "ok"}
    assert code.hits[0].symbol == "Backoff.next_delay"
    assert {hit.kind for hit in code.hits} <= {"class", "method"}
    topic = desk.ask("retry budget", kinds=frozenset({"topic"}))
    assert topic.hits == ()


def test_what_lies_in_another_checkout_is_not_found(desk: Desk) -> None:
    desk.index(sink=True)
    outside = desk.root.parent / "elsewhere"
    outside.mkdir()
    subprocess.run(["git", "init", "-q", str(outside)], check=True)
    Store.init(str(outside))
    assert search(desk.settings, str(outside), ["retry budget"]).hits == ()


# -- sources that cannot answer --------------------------------------------------------------------


def test_without_an_index_the_memory_answers(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    report = desk.ask("retry limit")
    assert report.sources == {"memory": "ok", "code": "absent"}
    assert only(report)[0] is Verdict.STRONG


def test_a_damaged_journal_and_a_damaged_sink_are_named(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.index(sink=True)
    shutil.rmtree(desk.home / "index")
    assert desk.ask("retry limit").sources == {"memory": "ok", "code": "absent"}
    (desk.home / "journal.db").write_bytes(b"SQLite format 3\0" + b"\1" * 4000)
    report = desk.ask("retry limit")
    assert report.sources == {"memory": "ok", "code": "error"}
    assert only(report)[0] is Verdict.STRONG


@pytest.mark.parametrize("suffix", ["idx", "term", "store", "fieldnorm", "json"])
def test_a_sink_whose_files_are_torn_does_not_take_the_memory_down(desk: Desk, suffix: str) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.index(sink=True)
    for file in (desk.home / "index").glob(f"*.{suffix}"):
        file.write_bytes(b"\xff" * file.stat().st_size)
    report = desk.ask("retry limit")
    assert report.sources["memory"] == "ok"
    assert report.sources["code"] in {"ok", "error"}
    assert only(report)[0] is Verdict.STRONG


def test_an_index_with_work_waiting_says_so(desk: Desk) -> None:
    desk.index(sink=True)
    desk.enqueue("src/retry.py")
    assert desk.ask("retry budget").sources["code"] == "behind"


def test_an_index_with_hints_waiting_says_so(desk: Desk) -> None:
    desk.index(sink=True)
    assert desk.ask("retry budget").sources["code"] == "ok"
    hints.append(str(desk.home), ["/anywhere"], "hook", at_ms=1)
    assert desk.ask("retry budget").sources["code"] == "behind"


def test_an_index_that_was_told_nothing_of_an_edit_says_so_where_the_edit_is_met(
    desk: Desk,
) -> None:
    desk.index(sink=True)
    assert desk.ask("retry budget").sources["code"] == "ok"
    path = desk.root / "src/retry.py"
    path.write_text(path.read_text() + "\n# retry\n")
    assert desk.ask("retry budget").sources["code"] == "behind"
    path.unlink()
    assert desk.ask("retry budget").sources["code"] == "behind"


def test_without_a_memory_the_code_answers(desk: Desk) -> None:
    desk.index(sink=True)
    shutil.rmtree(desk.root / ".mem")
    report = desk.ask("retry budget")
    assert report.sources == {"memory": "absent", "code": "ok"}
    assert report.snapshot is None
    assert report.hits[0].source == "code"


def test_a_damaged_memory_does_not_take_the_code_down(desk: Desk) -> None:
    desk.index(sink=True)
    shutil.rmtree(desk.root / ".mem/.git")
    report = desk.ask("retry budget")
    assert report.sources == {"memory": "error", "code": "ok"}
    assert report.hits


def test_where_nothing_can_answer_the_stores_own_error_is_raised(desk: Desk) -> None:
    shutil.rmtree(desk.root / ".mem")
    with pytest.raises(gitmemo.NoStore):
        desk.ask("retry")
    (desk.root / ".mem").mkdir()
    with pytest.raises(gitmemo.PlainFolder):
        desk.ask("retry")
    with pytest.raises(gitmemo.PlainFolder):
        desk.ask("retry", mode="trailer")


def test_outside_every_project_the_personal_memory_answers(desk: Desk, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    with pytest.raises(gitmemo.NoProject):
        search(desk.settings, str(nowhere), ["retry"])
    (desk.home / "memory").mkdir(parents=True)
    mine = Store.init(str(desk.home / "memory"))
    mine.write(Draft("retry by hand", "Three times.", ("retry", "hand")))
    (hit,) = search(desk.settings, str(nowhere), ["retry by hand"]).hits
    assert (hit.store, hit.verdict) == (mine.path, Verdict.WEAK)


# -- pages and modes -------------------------------------------------------------------------------


def test_pages_do_not_shift_while_someone_writes(desk: Desk) -> None:
    written = {desk.write(f"retry rule number {n}", "src/retry.py") for n in range(7)}
    first = desk.ask("retry rule", limit=3)
    assert (len(first.hits), first.total) == (3, 7)
    desk.write("retry rule written meanwhile", "src/retry.py")
    second = desk.ask("retry rule", limit=3, cursor=first.next)
    third = desk.ask("retry rule", limit=3, cursor=second.next)
    assert third.next is None
    seen = [hit.id for page in (first, second, third) for hit in page.hits]
    assert (len(seen), set(seen)) == (7, written)
    assert [hit.rank for page in (first, second, third) for hit in page.hits] == list(range(1, 8))


def test_memory_and_code_share_their_pages(desk: Desk) -> None:
    desk.index(sink=True)
    desk.write("the retry budget", "src/retry.py")
    whole = [hit.id for hit in desk.ask("retry budget delay").hits]
    cursor, paged = None, []
    for _ in range(len(whole) + 1):
        page = desk.ask("retry budget delay", limit=1, cursor=cursor)
        paged += [hit.id for hit in page.hits]
        cursor = page.next
        if cursor is None:
            break
    assert paged == whole
    assert len(whole) >= 2


def test_a_snapshot_of_another_history_is_stale(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    with pytest.raises(gitmemo.StaleSnapshot):
        desk.ask("retry", snapshot="0" * 40)
    with pytest.raises(gitmemo.StaleSnapshot):
        desk.ask("retry", cursor="0" * 40 + ":3")


@pytest.mark.parametrize(
    "options",
    [{"mode": "fuzzy"}, {"cursor": "x"}, {"limit": 0}, {"limit": 101}, {"skip": -1}],
)
def test_a_call_that_cannot_be_understood_is_refused(
    desk: Desk, options: dict[str, object]
) -> None:
    with pytest.raises(BadArgument):
        desk.ask("retry", **options)


def test_the_trailer_modes_ask_the_memory_alone(desk: Desk) -> None:
    desk.index(sink=True)
    entry = desk.write("the retry limit", "src/retry.py")
    for mode in ("trailer", "trailer-weighted"):
        report = desk.ask("retry", mode=mode)
        assert report.sources == {"memory": "ok"}
        assert [(hit.id, hit.verdict) for hit in report.hits] == [(entry, Verdict.STRONG)]


def test_precise_shows_what_it_can_justify_and_nothing_else(desk: Desk) -> None:
    desk.index(sink=True)
    entry = desk.write("the retry limit of the network", "src/retry.py")
    desk.write("the retry limit of the network, once more", "src/other.py")
    desk.put("src/other.py", "edited = 1\n")
    assert [hit.id for hit in desk.ask("retry limit network", precise=True).hits] == [entry]
    assert desk.ask("how do I bake bread with rye", precise=True).hits == ()
    named = desk.ask("what does `retry_budget` return", precise=True, sources=frozenset({"code"}))
    assert [hit.symbol for hit in named.hits] == ["retry_budget"]
    alike = desk.ask("the budget for a retry", precise=True, sources=frozenset({"code"}))
    assert alike.hits == ()


# -- the one trace ---------------------------------------------------------------------------------


def test_a_moved_anchor_leaves_one_hint_batch_and_only_while_the_index_is_wrong(
    desk: Desk,
) -> None:
    desk.index(sink=True)
    desk.write("the retry limit", "src/retry.py")
    desk.ask("retry limit")
    assert desk.hinted() == []
    desk.move("src/retry.py", "lib/again.py")
    desk.ask("retry limit", hint=False)
    assert desk.hinted() == []
    desk.ask("retry limit")
    assert sorted(desk.hinted()) == ["lib/again.py", "src/retry.py"]
    desk.index("src/retry.py", "lib/again.py", sink=True)
    assert only(desk.ask("retry limit"))[0] is Verdict.REBUILT
    assert desk.hinted() == []


def test_a_dead_anchor_is_hinted_until_the_index_knows(desk: Desk) -> None:
    desk.index(sink=True)
    desk.write("the retry limit", "src/retry.py")
    desk.remove("src/retry.py")
    desk.ask("retry limit")
    # The checkout itself: its content may be in a file that the index has never seen.
    assert desk.hinted() == ["src/retry.py", "."]
    desk.index("src/retry.py", sink=True)
    desk.ask("retry limit")
    assert desk.hinted() == []


def test_a_project_that_lives_among_tests_is_not_all_set_aside(tmp_path: Path) -> None:
    inner = tmp_path / "tests"
    inner.mkdir()
    desk = Desk(inner)
    desk.index(sink=True)
    assert desk.ask("retry budget").hits[0].score > 0.8


def test_a_path_may_hold_the_sign_that_parts_it_from_its_symbol(desk: Desk) -> None:
    desk.put("src/c#.py", CODE)
    desk.remove("src/retry.py")
    desk.write("`retry_budget` counts", "src/c#.py")
    desk.index(sink=True)
    desk.move("src/c#.py", "lib/d#.py")
    hit = desk.ask("retry budget counts", sources=frozenset({"memory"})).hits[0]
    assert (hit.path, hit.symbol) == (str(desk.root / "lib/d#.py"), "retry_budget")
    assert sorted(desk.hinted()) == ["lib/d#.py", "src/c#.py"]


@pytest.mark.parametrize(
    "question",
    [
        *(
            '"',
            "a:b",
            "NEAR(a b)",
            "*",
            "\0",
            "\udcff x",
            "the of and",
            "数据库",
            "!!!",
            "",
            "(((",
            "-1",
        ),
        *("x" * 9_000, "x " * 900, "'; DROP TABLE paths", "{}", "retry AND OR NOT"),
    ],
)
def test_any_question_is_answered(desk: Desk, question: str) -> None:
    desk.index(sink=True)
    desk.write("the retry limit", "src/retry.py")
    for options in ({}, {"precise": True}, {"show_all": True}):
        assert desk.ask(question, **options).query == question
