"""A definition that leaves its file is found where it went, whichever end is seen first."""

import os
from pathlib import Path

import pytest

from heimdall.journal.read import open_reader
from heimdall.journal.values import SymbolMove
from heimdall.writer import reconcile
from tests.support.index import index
from tests.support.trees import plant

BODY = [f"    total = total * {n} + len(text) - {n * n}\n" for n in range(8)]
STAYS = "def stays():\n    return 'here'\n\n\n"


def function(name: str, body: list[str], indent: str = "") -> str:
    head = [f"def {name}(text, total=0):\n", *body, "    return total\n"]
    return "".join(indent + line for line in head) + "\n\n"


def seen(home: str, path: str, symbol: str) -> tuple[SymbolMove, ...]:
    with open_reader(home) as journal:
        return journal.symbol_moves_from(path, symbol)


@pytest.mark.parametrize("order", ["together", "old first", "new first"])
@pytest.mark.parametrize(
    ("there", "now"),
    [
        (function("f", BODY), "f"),
        ("class K:\n" + function("f", BODY, "    "), "K.f"),
        (function("renamed", BODY), "renamed"),
        (function("f", [*BODY[:6], "    print('new')\n", *BODY[6:]]), "f"),
    ],
    ids=["whole", "indented", "renamed", "edited"],
)
def test_a_function_is_followed_into_another_file(
    tmp_path: Path, there: str, now: str, order: str
) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": STAYS + function("f", BODY), "b.py": "X = 1\n"})
    home = str(tmp_path / "home")
    made, _ = index(home, root)
    steps = [{"a.py": STAYS}, {"b.py": "X = 1\n\n\n" + there}]
    if order == "together":
        steps = [{**steps[0], **steps[1]}]
    elif order == "new first":
        steps.reverse()
    for step in steps:
        plant(root, step)
        reconcile(made, None)
    old, new = os.path.join(root, "a.py"), os.path.join(root, "b.py")
    ((*_, place, found, alike, _),) = seen(home, old, "f")
    assert (place, found) == (new, now)
    assert 0.5 <= alike < 1.0
    assert seen(home, old, "stays") == ()


def test_equal_places_are_both_recorded(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": STAYS + function("f", BODY), "z.py": "Z = 1\n"})
    home = str(tmp_path / "home")
    made, _ = index(home, root)
    plant(root, {"a.py": STAYS, "b.py": function("f", BODY), "c.py": function("f", BODY)})
    reconcile(made, None)
    places = {os.path.basename(move.new) for move in seen(home, os.path.join(root, "a.py"), "f")}
    assert places == {"b.py", "c.py"}


def test_a_namesake_with_another_body_is_no_place(tmp_path: Path) -> None:
    root = plant(str(tmp_path / "r"), {"a.py": STAYS + function("f", BODY), "z.py": "Z = 1\n"})
    home = str(tmp_path / "home")
    made, _ = index(home, root)
    other = [f"    other.append(({n}, text))\n" for n in range(8)]
    plant(root, {"a.py": STAYS, "b.py": function("f", other)})
    reconcile(made, None)
    assert seen(home, os.path.join(root, "a.py"), "f") == ()


def test_what_went_with_its_file_is_not_adrift(tmp_path: Path) -> None:
    text = STAYS + function("f", BODY)
    root = plant(str(tmp_path / "r"), {"a.py": text, "z.py": "Z = 1\n"})
    home = str(tmp_path / "home")
    made, _ = index(home, root)
    os.rename(os.path.join(root, "a.py"), os.path.join(root, "b.py"))
    reconcile(made, None)
    assert seen(home, os.path.join(root, "a.py"), "f") == ()
    with open_reader(home) as journal:
        assert len(journal.moves_from(os.path.join(root, "a.py"))) == 1
