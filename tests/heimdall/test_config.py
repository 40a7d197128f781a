"""What may be set, where it comes from, and what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gitmemo import Identity
from heimdall import config, hints
from heimdall.errors import BadConfig, IoRefused
from heimdall.model import Depth


def home_with(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    return {"HEIMDALL_HOME": str(tmp_path)}


def test_without_anything_the_state_lies_in_the_home_and_nothing_is_made(tmp_path: Path) -> None:
    settings = config.load({}, str(tmp_path))
    assert settings.home == str(tmp_path / ".heimdall")
    assert settings.depth is Depth.GRAPH
    assert settings.jobs >= 1
    assert settings.identity is None
    assert list(tmp_path.iterdir()) == []


def test_the_file_sets_and_the_environment_overrides(tmp_path: Path) -> None:
    env = home_with(
        tmp_path,
        'jobs = 3\nlock_timeout_s = 2.5\nshared_worktrees = false\ndepth = "symbol"\n'
        'identity = { name = " Ada ", email = "ada@example.org" }\n',
    )
    settings = config.load({**env, "HEIMDALL_JOBS": "5"}, "/nowhere")
    assert settings.jobs == 5
    assert settings.lock_timeout_s == 2.5
    assert settings.shared_worktrees is False
    assert settings.depth is Depth.SYMBOL
    assert settings.identity == Identity("Ada", "ada@example.org")


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("job = 3", "job", "jobs"),
        ("lock_timout_s = 3", "lock_timout_s", "lock_timeout_s"),
        ("colour = 'red'", "colour", ""),
        ("jobs = 0", "jobs", ""),
        ("jobs = true", "jobs", ""),
        ("jobs = 1.5", "jobs", ""),
        ("lock_timeout_s = -1", "lock_timeout_s", ""),
        ("lock_timeout_s = nan", "lock_timeout_s", ""),
        ("shared_worktrees = 1", "shared_worktrees", ""),
        ("depth = 'deep'", "depth", ""),
        ("identity = 'me'", "identity", ""),
        ("identity = { name = 'a' }", "identity", ""),
        ("identity = { name = 'a<', email = 'b' }", "identity", ""),
        ("jobs = [", "", ""),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_nearest_key(
    tmp_path: Path, text: str, key: str, nearest: str
) -> None:
    with pytest.raises(BadConfig) as caught:
        config.load(home_with(tmp_path, text), "/nowhere")
    assert (caught.value.key, caught.value.nearest) == (key, nearest)


@pytest.mark.parametrize(
    "env", [{"HEIMDALL_JOBS": "many"}, {"HEIMDALL_LOCK_TIMEOUT_S": "-1"}, {"HEIMDALL_DEPTH": "3"}]
)
def test_a_variable_that_cannot_be_meant_is_named(tmp_path: Path, env: dict[str, str]) -> None:
    with pytest.raises(BadConfig) as caught:
        config.load({"HEIMDALL_HOME": str(tmp_path), **env}, "/nowhere")
    assert caught.value.path in env


def test_a_file_that_cannot_be_read_is_the_machines_refusal(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(IoRefused):
        config.load({"HEIMDALL_HOME": str(tmp_path)}, "/nowhere")


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"HEIMDALL_HOME": ""},
        {"HEIMDALL_HOME": "/var/state/../heimdall/"},
        {"HEIMDALL_HOME": "~"},
        {"HEIMDALL_HOME": "~/state"},
    ],
)
def test_a_hook_and_a_command_find_the_same_state_directory(env: Mapping[str, str]) -> None:
    assert config.load(env, "/home/ada").home == hints.state_home(dict(env), "/home/ada")


def test_a_relative_state_directory_is_refused_by_both() -> None:
    env = {"HEIMDALL_HOME": "state"}
    assert hints.state_home(env, "/home/ada") == ""
    with pytest.raises(BadConfig):
        config.load(env, "/home/ada")
