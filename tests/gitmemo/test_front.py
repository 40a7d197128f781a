"""The front door: its list of names, its rooms, and how little it costs to look at."""

import importlib
import subprocess
import sys

import pytest

import gitmemo


def test_the_list_of_names_is_what_the_rooms_have() -> None:
    assert sorted(gitmemo.__all__) == gitmemo.__all__ == sorted(gitmemo._HOMES)
    for name, room in gitmemo._HOMES.items():
        value = getattr(importlib.import_module(f"gitmemo.{room}"), name)
        assert getattr(gitmemo, name) is value
    assert dir(gitmemo) == gitmemo.__all__


def test_every_error_of_the_tree_is_public() -> None:
    def below(error: type[Exception]) -> set[str]:
        return {error.__name__}.union(*map(below, error.__subclasses__()))

    assert below(gitmemo.GitMemoError) <= set(gitmemo.__all__)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="Manager"):
        _ = gitmemo.Manager


def test_looking_at_the_door_opens_no_room() -> None:
    code = "import sys, gitmemo; print([m for m in sys.modules if m.startswith('gitmemo.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
