"""Old stores whose migration by another engine is recorded: reports, results, read-only searches.

One difference is meant and named here: a file whose name is not ASCII is taken along. The other
engine leaves it out without a word, because git quotes such names.
"""

import json
import os
import re
from datetime import datetime
from typing import Any

import pytest

import gitmemo
from gitmemo import Mode, Store
from tests.support.memory import GOLDEN, assert_sound, files, git
from tests.support.oldstores import opened, recorded

with open(os.path.join(GOLDEN, "legacy.expected.json"), encoding="utf-8") as _file:
    EXPECTED: dict[str, Any] = json.load(_file)

LEFT_OUT_THERE = {
    "title": "修复中文路径",
    "summary": "已修复。",
    "keywords": ["中文"],
    "content": "---\ntags: [中文]\n---\n\n## Final Outcome\n\n已修复。\n",
    "date": "2026-02-04T00:00:00.000Z",
    "codeBranch": "feature/x",
    "codeCommit": "63ccbe359c6434feeb250b914eeff16fc6edab7b",
    "relatedBranches": ["feature/x"],
    "relatedPaths": ["entries/20260204T000000Z-修复.md"],
    "digest": "12f8ea5dbd423ed6a026a5916b2a68f1b56ec74ae4996a88270c646dba602b62",
    "sourceBranch": "feature/x",
    "sourcePath": "entries/20260204T000000Z-修复.md",
}
"""The entry with a name that is not ASCII, on two branches."""


def with_other_names(report: dict[str, Any]) -> dict[str, Any]:
    """The recorded report with the entry that the other engine leaves out."""
    entries = [*report["baseline"]["entries"]]
    entries.insert(2, LEFT_OUT_THERE)
    return {
        **report,
        "oldEntryCount": report["oldEntryCount"] + 2,
        "uniqueEntryCount": report["uniqueEntryCount"] + 1,
        "estimatedMainCommits": report["estimatedMainCommits"] + 1,
        "baseline": {**report["baseline"], "entries": entries},
    }


def placed(report: Any, root: str) -> dict[str, Any]:
    """Our report with the record's words for what depends on place and time."""
    text = json.dumps(report, ensure_ascii=False).replace(root, "<root>")
    loaded: dict[str, Any] = json.loads(text)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", loaded["baseline"]["scannedAt"])
    loaded["baseline"]["scannedAt"] = "<time>"
    return loaded


def test_the_clean_store_gives_the_recorded_report(tmp_path: object) -> None:
    root = recorded("legacy", tmp_path)
    ours = placed(gitmemo.dry_run(opened(root).migration()), root)
    assert ours == with_other_names(EXPECTED["clean"]["dry_run"])


def test_the_store_with_conflicts_gives_the_recorded_report(tmp_path: object) -> None:
    root = recorded("legacy-conflict", tmp_path)
    ours = placed(gitmemo.dry_run(opened(root).migration()), root)
    assert ours == EXPECTED["conflict"]["dry_run"]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = opened(recorded("legacy", tmp_path_factory.mktemp("clean")))
    done = store.migrate(store.migration())
    assert done is not None
    assert (done.kept, done.entries) == (None, EXPECTED["clean"]["apply"]["entries"] + 1)
    assert list(done.branches) == EXPECTED["clean"]["apply"]["oldBranches"]
    assert_sound(store)
    return store


def flat(path: str) -> str:
    """A path of ours as the other engine would have it: without the folders of the day."""
    return re.sub(r"^entries/\d{4}/\d\d/\d\d/", "entries/", path)


def test_the_migrated_commits_are_the_recorded_ones(migrated: Store) -> None:
    commits: list[dict[str, Any]] = []
    for commit in git(migrated.path, "rev-list", "--reverse", "main").split():
        changes = git(migrated.path, "show", "--name-status", "-z", "--format=", commit)
        parts = changes.strip("\0").split("\0")
        commits.append(
            {
                "committer_time": int(git(migrated.path, "show", "-s", "--format=%ct", commit)),
                "changes": [
                    f"{kind}\t{flat(path)}"
                    for kind, path in zip(parts[::2], parts[1::2], strict=True)
                ],
                "message": git(migrated.path, "cat-file", "commit", commit).split("\n\n", 1)[1],
            }
        )
    assert "修复中文路径" in commits[3]["message"]
    del commits[3]
    commits[0]["committer_time"] = "<time>"
    assert commits == EXPECTED["clean"]["apply"]["commits"]


def test_the_migrated_files_are_the_recorded_ones(migrated: Store) -> None:
    listed = (
        git(migrated.path, "ls-tree", "-r", "--name-only", "-z", "main").strip("\0").split("\0")
    )
    ours = {}
    for path in listed:
        with open(os.path.join(migrated.path, path), encoding="utf-8", newline="") as file:
            ours[flat(path)] = file.read()
    extra = [name for name in ours if "12f8ea5d" in name]
    assert len(extra) == 1
    del ours[extra[0]]
    theirs = EXPECTED["clean"]["apply"]["files"]
    assert {name: text for name, text in ours.items() if name in theirs} == theirs
    assert set(ours) - set(theirs) <= {".gitmemo-format", "entries/.gitkeep"}


def test_the_old_branches_are_kept_as_recorded(migrated: Store) -> None:
    refs = git(migrated.path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/gitmemo")
    ours = [re.sub("backup/[^/]+/", "backup/<time>/", line) for line in refs.splitlines()]
    assert ours == EXPECTED["clean"]["apply"]["backup_refs"]


def test_an_old_hash_reads_as_recorded_and_leads_to_what_it_became(migrated: Store) -> None:
    wanted = EXPECTED["clean"]["apply"]["old_hash_read"]
    entry = migrated.read(wanted["hash"])
    assert (entry.id, entry.file, entry.kind, entry.text) == (
        wanted["hash"],
        wanted["file"],
        wanted["kind"],
        wanted["content"],
    )
    (now,) = entry.current
    assert migrated.read(now).title == "[x] only on the feature branch"
    assert [event.id for event in migrated.history(wanted["hash"])] == [now]


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Store:
    now = datetime.fromisoformat(EXPECTED["conflict"]["now"]).timestamp()
    root = recorded("legacy-conflict", tmp_path_factory.mktemp("conflict"))
    return Store.open(root, clock=lambda: now)


@pytest.mark.parametrize(
    "case", EXPECTED["conflict"]["search_while_blocked"], ids=lambda c: str(c["keywords"])
)
def test_a_read_only_search_answers_as_recorded(blocked: Store, case: dict[str, Any]) -> None:
    page = blocked.search(case["keywords"], mode=Mode.TRAILER)
    ours = {
        "snapshot": page.snapshot,
        "total": page.total,
        "next_skip": page.next_skip,
        "results": [
            {
                "hash": hit.id,
                "title": hit.title,
                "date": hit.date,
                "summary": hit.summary,
                "keywords": list(hit.keywords),
                "kind": hit.kind.value,
                "score": hit.score,
                "matched_keywords": list(hit.matched),
            }
            for hit in page.hits
        ],
        "legacy": page.legacy,
    }
    del case["result"]["warning"]  # words of the other engine to its own callers
    assert ours == case["result"]


def test_a_blocked_migration_and_a_write_are_refused_and_change_nothing(blocked: Store) -> None:
    before = files(blocked.path)
    with pytest.raises(gitmemo.MigrationRefused) as refused:
        blocked.migrate()
    assert refused.value.reason == "conflicts"
    for path in ("entries/20260202T000000Z-limit.md", "entries/20260203T000000Z-shared.md"):
        assert path in EXPECTED["conflict"]["apply"]["error"]
        assert path in refused.value.detail
    with pytest.raises(gitmemo.LegacyStore):
        blocked.write(gitmemo.Draft("title", "summary", ("one", "two"), "content"))
    after = files(blocked.path)
    lock = os.path.join(blocked.path, ".git", "gitmemo.lock")
    git_dir = os.path.dirname(lock)  # its own time changes with the lock file
    assert {path: at for path, at in after.items() if path not in (lock, git_dir)} == {
        path: at for path, at in before.items() if path != git_dir
    }


def test_a_commit_that_edited_in_place_reads_here_and_is_refused_there(blocked: Store) -> None:
    # A search of a store that stands on that branch gives its hash: it must be readable.
    commit = re.findall("[0-9a-f]{40}", EXPECTED["conflict"]["read_while_blocked"]["error"])[0]
    assert "no entry file found" in EXPECTED["conflict"]["read_while_blocked"]["error"]
    assert blocked.read(commit).content.endswith("twenty\n")
