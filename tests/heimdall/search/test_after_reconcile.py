"""The whole way round: a memory, a change, a question, the hint it leaves, the writer, and the
question again."""

import subprocess
from pathlib import Path

import pytest

from heimdall import writer
from heimdall.model import Report, Verdict
from tests.heimdall.search.test_engine import CODE, Desk

LONG = CODE + "".join(f"\n\ndef step_{n}(value):\n    return value * {n}\n" for n in range(12))


class Whole(Desk):
    """A desk whose index is the real writer's."""

    def reconcile(self) -> None:
        writer.reconcile(self.settings)

    def memory(self, *words: str) -> Report:
        return self.ask(*words, sources=frozenset({"memory"}))

    def verdict(self, *words: str) -> tuple[Verdict, tuple[str, ...]]:
        (hit,) = self.memory(*words).hits
        return hit.verdict, hit.reasons

    def git(self, *words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(
            ["git", "-C", str(self.root), *identity, *words], check=True, capture_output=True
        )


@pytest.fixture
def desk(tmp_path: Path) -> Whole:
    made = Whole(tmp_path)
    made.put("src/retry.py", LONG)
    writer.add_root(made.settings, str(made.root))
    writer.reconcile(made.settings, [str(made.root)])
    made.write("the retry limit", "src/retry.py")
    return made


def test_unchanged_is_strong_and_leaves_no_hint(desk: Whole) -> None:
    assert desk.verdict("retry limit") == (Verdict.STRONG, ("anchor-same",))
    assert desk.hinted() == []


def test_an_edit_is_weak_before_and_after(desk: Whole) -> None:
    desk.put("src/retry.py", LONG + "\n# more\n")
    before = desk.verdict("retry limit")
    desk.reconcile()
    assert desk.verdict("retry limit") == before == (Verdict.WEAK, ("anchor-drifted",))


def test_a_move_is_rebuilt_before_and_after(desk: Whole) -> None:
    desk.move("src/retry.py", "lib/again.py")
    before = desk.verdict("retry limit")
    desk.reconcile()
    assert desk.verdict("retry limit") == before == (Verdict.REBUILT, ("moved-identical",))
    assert desk.hinted() == []


def test_moved_and_edited_is_rebuilt_before_and_after(desk: Whole) -> None:
    desk.move("src/retry.py", "lib/again.py")
    desk.put("lib/again.py", LONG.replace("limit - 1", "limit - 2"))
    before = desk.verdict("retry limit")
    desk.reconcile()
    verdict, reasons = desk.verdict("retry limit")
    assert (verdict, reasons) == before
    assert verdict is Verdict.REBUILT
    assert reasons[0].startswith("moved-similar:0.")
    assert desk.memory("retry limit").hits[0].path == str(desk.root / "lib/again.py")
    assert desk.hinted() == []


def test_deleted_is_stale_before_and_after_and_hinted_once(desk: Whole) -> None:
    desk.remove("src/retry.py")
    assert desk.verdict("retry limit")[0] is Verdict.STALE
    desk.reconcile()
    assert desk.verdict("retry limit") == (Verdict.STALE, ("path-missing",))
    assert desk.hinted() == []


def test_a_symbol_that_went_to_another_file_is_rebuilt_there(desk: Whole) -> None:
    body = "def step_7(value):\n    return value * 7\n"
    desk.write("`step_7` multiplies by seven", "src/retry.py")
    desk.put("src/retry.py", LONG.replace(body, ""))
    desk.put("src/steps.py", "import os\n\n\n" + body)
    writer.reconcile(desk.settings, [str(desk.root)])
    (hit,) = (hit for hit in desk.memory("step_7 multiplies").hits if "seven" in hit.title)
    assert (hit.verdict, hit.reasons) == (Verdict.REBUILT, ("symbol-moved",))
    assert (hit.path, hit.symbol) == (str(desk.root / "src/steps.py"), "step_7")


def test_a_branch_without_the_file_is_stale_and_the_way_back_is_strong(desk: Whole) -> None:
    desk.git("add", "src")
    desk.git("commit", "-qm", "one")
    desk.git("switch", "-qc", "side")
    desk.git("rm", "-q", "src/retry.py")
    desk.git("commit", "-qm", "two")
    assert desk.verdict("retry limit")[0] is Verdict.STALE
    desk.reconcile()
    assert desk.verdict("retry limit")[0] is Verdict.STALE
    desk.git("switch", "-q", "-")
    assert desk.verdict("retry limit") == (Verdict.STRONG, ("anchor-same",))


def test_code_is_found_where_the_writer_saw_it_last(desk: Whole) -> None:
    code = frozenset({"code"})
    assert desk.ask("step_7", sources=code).hits[0].symbol == "step_7"
    desk.move("src/retry.py", "lib/again.py")
    assert desk.ask("step_7", sources=code).hits == ()
    writer.reconcile(desk.settings, [str(desk.root)])
    hit = desk.ask("step_7", sources=code).hits[0]
    assert (hit.path, hit.verdict) == (str(desk.root / "lib/again.py"), Verdict.STRONG)
