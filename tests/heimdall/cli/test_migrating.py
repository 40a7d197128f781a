"""`mem migrate` as people and programs meet it, and an old store in the other commands."""

import json
import os
from pathlib import Path

import pytest

from tests.heimdall.cli.conftest import Box
from tests.support.oldstores import OldStore


@pytest.fixture
def old(box: Box) -> OldStore:
    made = OldStore(box.code)
    text = b"---\ntags: [budget, retry]\n---\n\n## Final Outcome\n\nThe budget is per host.\n"
    made.entry("one.md", "Budget per host", text)
    made.branch("side")
    made.entry("two.md", "On the side")
    made.git("checkout", "-q", "main")
    return made


def conflicting(old: OldStore) -> None:
    old.git("checkout", "-q", "side")
    old.entry("one.md", "Budget per method", b"per method\n")
    old.git("checkout", "-q", "main")


def test_it_only_looks_unless_asked_to_act(box: Box, old: OldStore) -> None:
    before = old.git("for-each-ref")
    for arguments in ((), ("--dry-run",)):
        done = box.mem("migrate", *arguments)
        assert (done.code, done.err) == (0, "")
        assert "becomes   2 entries on main" in done.out
        assert "mem migrate --apply" in done.out
    assert old.git("for-each-ref") == before


def test_after_it_everything_is_found_and_old_hashes_are_read(box: Box, old: OldStore) -> None:
    commit = old.git("rev-parse", "side").strip()
    done = box.mem("migrate", "--apply")
    assert (done.code, done.err) == (0, "")
    assert "migrated 2 entries from 2 branches" in done.out
    (hit,) = box.mem("search", "--json", "budget").json()["hits"]
    assert (hit["title"], hit["verdict"], hit["reasons"]) == (
        "Budget per host",
        "WEAK",
        ["no-anchor"],
    )
    read = box.mem("read", "--json", commit[:10]).json()
    assert (read["title"], read["active"], len(read["current"])) == ("On the side", False, 1)
    assert box.mem("log", "--json").json()["events"][0]["title"] == "On the side"
    assert (
        box.mem("replace", read["current"][0], "--summary", "It holds.", "-k", "a", "-k", "b").code
        == 0
    )
    again = box.mem("migrate", "--apply")
    assert (again.code, "nothing to migrate" in again.out) == (0, True)


def test_conflicts_are_listed_and_block(box: Box, old: OldStore) -> None:
    conflicting(old)
    for arguments in ((), ("--apply",)):
        done = box.mem("migrate", *arguments)
        assert done.code == 1
        assert "conflict  entries/one.md" in done.out
        assert "side@" in done.out
    value = box.mem("migrate", "--apply", "--json")
    assert value.code == 1
    assert (value.json()["conflictCount"], value.json()["applied"]) == (1, None)


def test_dirt_is_refused_with_its_name(box: Box, old: OldStore) -> None:
    Path(old.path, "entries", "draft.md").write_text("draft\n")
    done = box.mem("migrate", "--apply")
    assert (done.code, done.out) == (5, "")
    assert "entries/draft.md" in done.err
    assert box.mem("migrate").code == 0


def test_the_report_is_written_to_a_file_and_printed_as_json(box: Box, old: OldStore) -> None:
    done = box.mem("migrate", "--json", "--out", "report.json")
    value = done.json()
    assert value["schema"] == "mem.migrate/1"
    assert value["baseline"]["format"] == "dsh-gitmemo-migration-baseline"
    with open(box.code / "report.json", encoding="utf-8") as file:
        written = json.load(file)
    assert written["baseline"]["entries"] == value["baseline"]["entries"]
    assert box.mem("migrate", "--out", "no/such/folder").code == 2
    assert box.mem("migrate", "--apply", "--dry-run").code == 2


def test_an_interrupted_migration_is_named_to_readers_and_ended_by_the_next(
    box: Box, old: OldStore
) -> None:
    aside = f"{old.path}.gitmemo-old-1"
    os.rename(old.path, aside)
    record = {"oldDir": aside, "tmpDir": f"{old.path}.gitmemo-tmp-9-ab", "phase": "old-renamed"}
    (box.code / ".mem.gitmemo-migration.json").write_text(json.dumps(record))
    for arguments in (("migrate",), ("log",)):
        done = box.mem(*arguments)
        assert (done.code, "interrupted" in done.err) == (6, True), done
    assert "migrated 2 entries" in box.mem("migrate", "--apply").out


def test_secrets_and_equal_contents_are_named(box: Box, old: OldStore) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    old.entry("key.md", "A key", f"token {token}\n".encode())
    old.entry("same.md", "The same", f"token {token}\n".encode())
    done = box.mem("migrate")
    assert "secret    main:entries/key.md holds github-token" in done.out
    assert "same      main:entries/same.md as main:entries/key.md" in done.out
    assert token not in done.out


def test_an_old_store_is_searched_and_says_so(box: Box, old: OldStore) -> None:
    value = box.mem("search", "--json", "budget").json()
    assert value["sources"]["memory"] == "legacy"
    assert [hit["title"] for hit in value["hits"]] == ["Budget per host"]
    shown = box.mem("search", "budget")
    assert (shown.code, "`mem migrate`" in shown.out) == (0, True)
    assert box.mem("search", "--mode", "trailer", "budget").code == 0
    assert box.mem("read", value["hits"][0]["id"]).code == 0
    assert "Budget per host" in box.mem("log").out


def test_a_write_to_an_old_store_is_refused_with_the_way_out(box: Box, old: OldStore) -> None:
    done = box.mem("write", "--title", "t", "--summary", "s", "-k", "a", "-k", "b")
    assert (done.code, done.out) == (5, "")
    assert "mem migrate" in done.err


def test_an_unknown_marker_is_refused_in_one_sentence(box: Box, old: OldStore) -> None:
    old.commit("newer", {".gitmemo-format": b"3\n"})
    for arguments in (("migrate", "--apply"), ("log",), ("search", "budget")):
        done = box.mem(*arguments)
        assert done.code == 5, arguments
        assert "not known here (3)" in done.err
