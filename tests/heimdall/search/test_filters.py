"""A search kept to paths and to a time, and a list without words."""

import subprocess
from pathlib import Path

import pytest

from gitmemo import Draft, Kind
from heimdall.errors import BadArgument
from heimdall.model import Report, Verdict
from heimdall.search import search
from tests.heimdall.search.test_engine import CODE, Desk
from tests.heimdall.search.world import NOW

DAY = 86_400


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def titles(report: Report) -> list[str]:
    return [hit.title for hit in report.hits]


def test_a_file_lists_what_is_remembered_of_it(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.write("about another file", "src/other.py")
    desk.write("about no file")
    report = desk.ask(paths=["src/retry.py"])
    assert report.sources == {"memory": "ok"}, "code has no list"
    (hit,) = report.hits
    assert (hit.title, hit.verdict, hit.reasons) == (
        "the retry limit",
        Verdict.STRONG,
        ("anchor-same",),
    )
    assert (hit.coverage, hit.content_coverage, hit.matched) == (1.0, None, ())
    assert titles(desk.ask(paths=["src"])) == ["about another file", "the retry limit"]
    assert titles(desk.ask(paths=["./src/../src/"])) == titles(desk.ask(paths=["src"]))
    assert titles(desk.ask(paths=["."])) == titles(desk.ask(paths=["src"]))
    assert titles(desk.ask(paths=["sr"])) == [], "never a part of a name"
    both = desk.ask("retry", paths=["src/retry.py", "src/other.py"])
    assert set(titles(both)) == {"the retry limit", "about another file"}


def test_a_list_is_judged_by_its_anchors_alone(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.store.write(Draft("only named", "A folder.", ("a", "b"), "", None, ("src",)))
    desk.put("src/retry.py", CODE + "\n# edited\n")
    found = {hit.title: (hit.verdict, hit.reasons) for hit in desk.ask(paths=["src"]).hits}
    assert found == {
        "the retry limit": (Verdict.WEAK, ("anchor-drifted",)),
        "only named": (Verdict.WEAK, ("not-hashed",)),
    }
    assert titles(desk.ask(paths=["src"], precise=True)) == []
    desk.put("src/retry.py", CODE)
    assert titles(desk.ask(paths=["src"], precise=True)) == ["the retry limit"]


def test_a_path_that_is_no_more_is_asked_for_like_any_other(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    desk.remove("src/retry.py")
    (hit,) = desk.ask(paths=["src/retry.py"]).hits
    assert hit.verdict is Verdict.STALE


def test_a_path_is_seen_from_the_current_directory(desk: Desk, tmp_path: Path) -> None:
    desk.write("the retry limit", "src/retry.py")
    inside = str(desk.root / "src")

    def ask(path: str) -> list[str]:
        return titles(search(desk.settings, inside, [], paths=[path]))

    assert ask("retry.py") == ask(".") == ask("..") == ask("../src/retry.py") == ["the retry limit"]
    assert ask(str(desk.root / "src/retry.py")) == ["the retry limit"]
    (tmp_path / "link").symlink_to(desk.root)
    assert ask(str(tmp_path / "link/src/retry.py")) == ["the retry limit"]
    (desk.root / "alias").symlink_to("src")
    assert ask("../alias/retry.py") == ["the retry limit"], "through a link inside as well"
    assert ask("other.py") == []


@pytest.mark.parametrize("path", ["", "  ", "..", "/etc/passwd", "src/../../up", "a\0b"])
def test_what_is_no_path_of_the_project_is_refused(desk: Desk, path: str) -> None:
    with pytest.raises(BadArgument) as caught:
        desk.ask("retry", paths=[path])
    assert caught.value.argument == "path"


def test_code_is_kept_to_the_paths(desk: Desk) -> None:
    desk.put("lib/again.py", CODE)
    desk.index(sink=True)

    def where(*paths: str) -> set[str]:
        hits = desk.ask("retry budget", paths=paths).hits
        return {str(Path(hit.path or "").relative_to(desk.root)) for hit in hits}

    assert where() == {"lib/again.py", "src/retry.py"}
    assert where("src/retry.py") == where("src") == {"src/retry.py"}
    assert where("src", "lib/again.py") == {"lib/again.py", "src/retry.py"}
    assert where("src/other.py") == where("gone") == set()


def test_since_keeps_the_younger_memories_and_leaves_code_out(desk: Desk) -> None:
    desk.index(sink=True)
    moments = iter([NOW - 40 * DAY, NOW - 40 * DAY, NOW - 5 * DAY, NOW - 5 * DAY])
    store = type(desk.store)(
        str(desk.root), identity=None, clock=lambda: next(moments), lock_timeout_s=5
    )
    store.write(Draft("old retry", "Of the budget.", ("retry", "a")))
    store.write(Draft("young retry", "Of the budget.", ("retry", "b")))
    report = desk.ask("retry budget", since="30d")
    assert (titles(report), report.sources) == (["young retry"], {"memory": "ok"})
    assert titles(desk.ask(since="30d")) == ["young retry"]
    assert titles(desk.ask(since="60d")) == ["young retry", "old retry"]
    assert titles(desk.ask(since="60d", kinds=frozenset({"topic"}))) == []
    assert titles(desk.ask("retry", since="60d", mode="trailer")) == ["young retry", "old retry"]
    with pytest.raises(BadArgument, match="since"):
        desk.ask("retry", since="soon")


def test_pages_of_an_age_are_of_the_moment_of_the_first(desk: Desk) -> None:
    now = NOW
    settings = desk.settings._replace(now=lambda: now)
    for n in range(4):
        desk.write(f"retry {n}")
    first = search(settings, str(desk.root), [], since="1h", limit=2)
    now += 2 * 3600
    rest = search(settings, str(desk.root), [], since="1h", cursor=first.next, limit=2)
    assert titles(first) + titles(rest) == ["retry 3", "retry 2", "retry 1", "retry 0"]
    assert titles(search(settings, str(desk.root), [], since="1h")) == []


def test_a_file_that_was_seen_moving_brings_its_memories(desk: Desk) -> None:
    desk.index()
    desk.write("the retry limit", "src/retry.py")
    desk.move("src/retry.py", "lib/again.py")
    desk.moved("src/retry.py", "lib/again.py")
    for path in ("lib/again.py", "lib", "src/retry.py"):
        (hit,) = desk.ask(paths=[path]).hits
        assert (hit.verdict, hit.path) == (Verdict.REBUILT, str(desk.root / "lib/again.py"))
    desk.put("src/retry.py", "another thing\n")
    desk.write("of the new file in the old place", "src/retry.py")
    assert "of the new file in the old place" not in titles(desk.ask(paths=["lib/again.py"]))


def test_all_with_kind_time_and_path_together(desk: Desk) -> None:
    old = desk.write("the retry limit", "src/retry.py")
    new = desk.store.replace(
        old, Draft("limit ten", "Ten.", ("retry", "limit"), "", None, ("src/retry.py",))
    ).id
    gone = desk.write("withdrawn", "src/retry.py")
    desk.store.delete(gone, "wrong")
    desk.write("a page", "src/retry.py", kind=Kind.TOPIC)
    desk.write("elsewhere", "src/other.py")
    kept = {"paths": ["src/retry.py"], "since": "1d", "kinds": frozenset({"task"})}
    assert [hit.id for hit in desk.ask(**kept).hits] == [new]
    found = {hit.id: hit.reasons for hit in desk.ask(show_all=True, **kept).hits}
    assert found == {
        new: ("anchor-same",),
        old: (f"superseded-by:{new}",),
        gone: ("withdrawn",),
    }


def test_a_replaced_entry_names_the_living_end_of_its_chain(desk: Desk) -> None:
    first = desk.write("retry one")
    second = desk.store.replace(first, Draft("retry two", "2.", ("retry", "b"))).id
    third = desk.store.replace(second, Draft("retry three", "3.", ("retry", "c"))).id
    found = {hit.id: hit for hit in desk.ask("retry", show_all=True).hits}
    for dead in (first, second):
        assert found[dead].verdict is Verdict.REMOVED
        assert found[dead].reasons == (f"superseded-by:{third}",)
    desk.store.delete(third, "all wrong")
    found = {hit.id: hit for hit in desk.ask("retry", show_all=True).hits}
    assert found[first].reasons == (f"superseded-by:{second}", "withdrawn")
    assert found[second].reasons == (f"superseded-by:{third}", "withdrawn")
    assert found[third].reasons == ("withdrawn",)


def test_a_worktree_asks_by_its_own_paths(desk: Desk) -> None:
    desk.write("the retry limit", "src/retry.py")
    git = ["git", "-C", str(desk.root), "-c", "user.name=a", "-c", "user.email=a@b"]
    other = desk.root.parent / "other"
    for words in (["add", "src"], ["commit", "-qm", "one"], ["worktree", "add", "-q", str(other)]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    report = search(desk.settings, str(other / "src"), [], paths=["retry.py"])
    assert titles(report) == ["the retry limit"]
