"""What the index can tell, and that it may have nothing to tell."""

import sqlite3
from pathlib import Path

import pytest

from heimdall.search.knowledge import Knowledge
from tests.heimdall.search.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.put("a.py", "def f():\n    return 1\n")
    return made


def nothing(knowledge: Knowledge, path: str) -> bool:
    return (
        knowledge.row(path) is None
        and knowledge.nodes(path) == ()
        and knowledge.node(path, "f") is None
        and knowledge.by_digest(b"") == ()
        and knowledge.symbols_by_digest(b"") == ()
        and knowledge.moves_from(path) == ()
    )


def test_an_index_that_was_never_made_knows_nothing(world: World) -> None:
    knowledge = Knowledge(str(world.home))
    assert knowledge.state == "absent"
    assert nothing(knowledge, str(world.root / "a.py"))
    knowledge.close()


def test_an_index_answers(world: World) -> None:
    world.index()
    knowledge = Knowledge(str(world.home))
    row = knowledge.row(str(world.root / "a.py"))
    assert (knowledge.state, row is not None) == ("ok", True)
    assert [node.key for node in knowledge.nodes(str(world.root / "a.py"))] == ["", "f"]
    knowledge.close()


def test_an_index_with_work_waiting_is_behind(world: World) -> None:
    world.index()
    world.enqueue("a.py")
    knowledge = Knowledge(str(world.home))
    assert knowledge.state == "behind"
    knowledge.close()


@pytest.mark.parametrize("damage", ["nonsense", "truncated", "newer"])
def test_an_index_that_cannot_be_read_is_an_error_and_knows_nothing(
    world: World, damage: str
) -> None:
    world.index()
    file = world.home / "journal.db"
    if damage == "nonsense":
        file.write_bytes(b"x" * 10_000)
    elif damage == "truncated":
        file.write_bytes(file.read_bytes()[:5000])
    else:
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA user_version = 9999")
        connection.close()
    knowledge = Knowledge(str(world.home))
    path = str(world.root / "a.py")
    assert nothing(knowledge, path)
    assert knowledge.state == "error"
    knowledge.close()
