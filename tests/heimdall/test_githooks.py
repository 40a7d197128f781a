"""The hooks' text in real shells, and what is planned for files of every kind."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heimdall import githooks, hints
from heimdall.edits import Edit
from heimdall.githooks import EVENTS, Found, Ground, Plan, State

ROOT = Path(__file__).parents[2]
EVENT = "post-commit"
SHELLS = ["dash", "bash", "bash --posix"]


def ground(
    data: bytes | None = None,
    *,
    mode: int = 0o755,
    version: tuple[int, int] = (2, 39),
    config: bytes = b"[core]\n\tbare = false\n",
    **more: object,
) -> Ground:
    """A repository at /r whose post-commit hook says `data`."""
    made = {event: Found(f"/r/.git/hooks/{event}") for event in EVENTS}
    if data is not None:
        made[EVENT] = Found(f"/r/.git/hooks/{EVENT}", "file", data, mode)
    found = Ground(
        top="/r",
        common="/r/.git",
        version=version,
        directory="/r/.git/hooks",
        own="/r/.git/hooks",
        scope="",
        config=Found("/r/.git/config", "file", config, 0o644),
        used=made,
        kept={},
    )
    return found._replace(**more)  # type: ignore[arg-type] # fields by name


def after(found: Ground, plan: Plan) -> Ground:
    """The ground once the plan was carried out."""
    new = {edit.path: edit for edit in plan.edits}

    def now(one: Found) -> Found:
        edit = new.get(one.path)
        if edit is None:
            return one
        if edit.new is None:
            return Found(one.path)
        return Found(one.path, "file", edit.new, edit.mode)

    return found._replace(
        config=now(found.config),
        used={event: now(one) for event, one in found.used.items()},
        kept={event: now(one) for event, one in found.kept.items()},
    )


def hook(plan: Plan, event: str = EVENT) -> githooks.Hook:
    return next(one for one in plan.hooks if one.event == event)


def edit(plan: Plan, event: str = EVENT) -> Edit | None:
    return next((one for one in plan.edits if one.path.endswith(f"/{event}")), None)


# -- the text --------------------------------------------------------------------------------------


def test_the_files_in_the_repository_are_what_is_installed() -> None:
    assert sorted(os.listdir(ROOT / "hooks")) == sorted(EVENTS)
    for event in EVENTS:
        path = ROOT / "hooks" / event
        assert path.read_bytes() == githooks.whole_file(event)
        assert path.stat().st_mode & 0o111 == 0o111
        assert path.read_bytes().count(b"\n") <= 10


def run(
    shell: str, cwd: Path | str | bytes, script: str | None = None, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """The lines of a hook in a shell that is as strict as a script around them may be."""
    text = githooks.body(EVENT) if script is None else script
    return subprocess.run(
        [*shell.split(), "-eu", "-c", text, "hook", "1", "0"],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **env},
        input=b"not for the hook",
        capture_output=True,
        check=False,
        timeout=20,
    )


def silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "state"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "work tree"
    made.mkdir()
    return made


def taken(home: Path) -> list[str]:
    paths, done = hints.take(str(home))
    done()
    return paths


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_appends_one_line_and_says_nothing(shell: str, home: Path, place: Path) -> None:
    assert silent(run(shell, place, HEIMDALL_HOME=str(home)))
    file = home / hints.FILE_NAME
    value = json.loads(file.read_bytes())
    assert value == {"path": str(place), "reason": EVENT, "at": 0}
    assert file.stat().st_mode & 0o777 == 0o600
    assert silent(run(shell, place, HEIMDALL_HOME=str(home)))
    assert file.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "name", [b"caf\xe9", b"\xed\xa0\x80", "日本".encode(), b"$(x) `y` %s%n", b"[a-b]*", b"-n", b" "]
)
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_name_of_any_bytes_comes_back(
    shell: str, name: bytes, locale: str, home: Path, tmp_path: Path
) -> None:
    top = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(top)
    assert silent(run(shell, top, HEIMDALL_HOME=str(home), LC_ALL=locale))
    assert taken(home) == [os.fsdecode(top)]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ['q"uote', "back\\slash", "new\nline", "tab\t", "\x01", "\x7f"])
def test_a_name_that_is_no_json_goes_to_the_command_or_is_passed_over(
    shell: str, name: str, home: Path, tmp_path: Path
) -> None:
    top = tmp_path / name
    top.mkdir()
    bare = tmp_path / "without-the-command"
    bare.mkdir()
    words = shell.split()
    (bare / words[0]).symlink_to(shutil.which(words[0]) or "")
    assert silent(run(shell, top, HEIMDALL_HOME=str(home), PATH=str(bare)))
    assert not (home / hints.FILE_NAME).exists()
    program = tmp_path / "bin" / "heimdall"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho noise; printf "%s|" "$@" >{shlex.quote(str(home))}/given\n'
    )
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    assert silent(run(shell, top, HEIMDALL_HOME=str(home), PATH=path))
    assert (home / "given").read_text() == f"hint|--reason|{EVENT}|--|{top}|"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("given", ["", "~", "~/x", "/a/../b", "relative", "~x", "./x", "none"])
def test_a_hook_finds_the_state_directory_by_the_rule_of_the_settings(
    shell: str, given: str, place: Path, tmp_path: Path
) -> None:
    user = tmp_path / "user"
    env = {"HOME": str(user)}
    if given != "none":
        env["HEIMDALL_HOME"] = given.replace("/a/../b", f"{tmp_path}/../{tmp_path.name}/b")
    expected = hints.state_home(env, str(user))
    for folder in filter(None, (expected, str(user / ".heimdall"), str(place / "relative"))):
        os.makedirs(folder, exist_ok=True)
    assert silent(run(shell, place, **env))
    found = {str(one.parent) for one in tmp_path.rglob(hints.FILE_NAME)}
    assert found == ({expected} if expected else set())


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_makes_nothing_where_it_cannot_or_must_not_write(
    shell: str, home: Path, place: Path, tmp_path: Path
) -> None:
    state = str(home)
    file = home / hints.FILE_NAME
    precious = tmp_path / "precious"
    assert silent(run(shell, place))  # neither HOME nor HEIMDALL_HOME
    assert silent(run(shell, place, HEIMDALL_HOME="~/x"))
    assert silent(run(shell, place, HEIMDALL_HOME=str(tmp_path / "missing")))
    assert not (tmp_path / "missing").exists()
    assert silent(run(shell, place, HEIMDALL_HOME=state, GIT_DIR="."))
    assert list(home.iterdir()) == []
    os.mkfifo(file)
    assert silent(run(shell, place, HEIMDALL_HOME=state))  # it does not wait for a reader
    file.unlink()
    file.symlink_to(precious)
    assert silent(run(shell, place, HEIMDALL_HOME=state))
    assert not precious.exists()
    file.unlink()
    file.mkdir()
    assert silent(run(shell, place, HEIMDALL_HOME=state))
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_standard_input_is_for_the_script_around_even_where_the_command_would_read_it(
    shell: str, home: Path, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "heimdall"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ncat\n")
    program.chmod(0o755)
    (tmp_path / 'a"b').mkdir()
    path = f"{program.parent}:{os.environ['PATH']}"
    script = githooks.body(EVENT) + "\ncat"
    done = run(shell, tmp_path / 'a"b', script, HEIMDALL_HOME=str(home), PATH=path)
    assert done.stdout == b"not for the hook"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_around_the_lines_keeps_its_world(shell: str, home: Path, place: Path) -> None:
    around = 'h=mine; umask 022; cd /; {}\necho "$h $PWD $(umask) $# $(cat)"'
    script = around.replace("{}", githooks.body(EVENT))
    done = run(shell, place, script, HEIMDALL_HOME=str(home))
    assert done.stdout == b"mine / 0022 2 not for the hook\n"
    assert done.stderr == b""
    assert taken(home) == ["/"]


def test_hooks_at_once_tear_no_line(home: Path, place: Path) -> None:
    deep = place
    for number in range(14):
        deep = deep / (f"{number:02}" + "x" * 240)
        os.mkdir(deep)
    storm = f"for i in 1 2 3 4 5 6 7 8 9 10; do {githooks.body(EVENT)}\ndone"
    children = [
        subprocess.Popen(
            [shell, "-c", storm], cwd=deep, env={**os.environ, "HEIMDALL_HOME": str(home)}
        )
        for shell in ("dash", "bash") * 4
    ]
    assert [child.wait() for child in children] == [0] * 8
    lines = (home / hints.FILE_NAME).read_bytes().splitlines()
    assert [json.loads(line)["path"] for line in lines] == [str(deep)] * 80


# -- files -----------------------------------------------------------------------------------------

SCRIPTS = [
    b"#!/bin/sh\n",
    b"#!/bin/sh",
    b"#!/bin/sh\n\n",
    b"#!/usr/bin/env bash\nset -eu\nexec other \\\n  --more",
    b"#! /usr/bin/env -S bash -eu\nexit 0\n",
    b"#!/bin/bash\ncat <<EOF\nexit\nEOF\n",
    b"#!/bin/dash\nif true; then\r\n  exit 1\r\nfi\xff",
]


@pytest.mark.parametrize("data", SCRIPTS)
def test_a_script_gets_one_section_below_its_first_line_and_keeps_its_mode(data: bytes) -> None:
    found = ground(data, mode=0o750)
    plan = githooks.install(found)
    done = edit(plan)
    assert done is not None
    assert done.new is not None
    assert (hook(plan).state, done.mode, done.old) == (State.MISSING, 0o750, data)
    first, *rest = done.new.split(b"\n")
    assert first == data.split(b"\n")[0]
    assert b"\n".join(rest).startswith(githooks.section(EVENT))
    assert done.new.count(b">>> heimdall") == 1
    again = githooks.install(after(found, plan))
    assert again.edits == ()
    assert {one.state for one in again.hooks} == {State.INSTALLED}


def test_a_missing_hook_is_made_and_removed_as_a_whole() -> None:
    plan = githooks.install(ground())
    assert len(plan.edits) == len(EVENTS)
    assert edit(plan) == Edit(f"/r/.git/hooks/{EVENT}", None, githooks.whole_file(EVENT), 0o755)
    back = githooks.remove(after(ground(), plan))
    assert {one.new for one in back.edits} == {None}
    assert after(after(ground(), plan), back) == ground()


script = st.one_of(
    st.sampled_from(SCRIPTS),
    st.tuples(
        st.sampled_from([b"#!/bin/sh\n", b"#!/bin/bash -e\n", b"#!/usr/bin/env sh\n"]),
        st.binary(max_size=200),
    ).map(b"".join),
    st.lists(
        st.sampled_from(
            [b"#!/bin/sh\n", b"\n", b"exit 0", b"exec x", b"# <<< heimdall\n", b"\r\n", b"heimdall"]
        )
    ).map(b"".join),
    st.none(),
)


@settings(max_examples=300, deadline=None)
@given(data=script, config=st.sampled_from([b"", b"[core]\n", b"[core]", b"[a]\n\tb = c\n\n# x"]))
@example(data=b"#!/bin/sh", config=b"")
@pytest.mark.parametrize("version", [(2, 39), (2, 54)])
def test_removing_what_was_installed_gives_the_bytes_of_before(
    version: tuple[int, int], data: bytes | None, config: bytes
) -> None:
    found = ground(data, version=version, config=config)
    plan = githooks.install(found)
    there = after(found, plan)
    assert githooks.install(there).edits == ()
    assert all(one.why or one.state is State.INSTALLED for one in githooks.install(there).hooks)
    assert after(there, githooks.remove(there)) == found
    assert githooks.remove(found).edits == ()


def older(text: bytes) -> bytes:
    return text.replace(b"heimdall 1", b"heimdall 0").replace(b"umask 077; ", b"")


@pytest.mark.parametrize("data", [None, *SCRIPTS])
def test_an_older_section_is_stale_and_replaced_and_still_leaves_no_trace(
    data: bytes | None,
) -> None:
    found = ground(data)
    new = after(found, githooks.install(found))
    stale = ground(older(new.used[EVENT].data))
    plan = githooks.install(stale)
    assert hook(plan).state is State.STALE
    assert after(stale, plan).used[EVENT].data == new.used[EVENT].data
    assert after(stale, githooks.remove(stale)).used[EVENT] == found.used[EVENT]._replace(
        kind="missing" if data is None else "file"
    )


def test_lines_that_a_person_added_to_our_file_stay_when_ours_go() -> None:
    found = ground(githooks.whole_file(EVENT) + b"echo mine\n")
    (back,) = githooks.remove(found).edits
    assert back.new == b"#!/bin/sh\necho mine\n"


def test_a_section_that_a_person_moved_or_a_merge_doubled_is_understood() -> None:
    text = githooks.section(EVENT) + b"\n"
    moved = ground(b"#!/bin/sh\necho mine\n" + text)
    assert hook(githooks.install(moved)).state is State.INSTALLED
    doubled = ground(b"#!/bin/sh\n" + text + b"echo mine\n" + text)
    plan = githooks.install(doubled)
    assert hook(plan).state is State.STALE
    assert after(doubled, plan).used[EVENT].data == b"#!/bin/sh\n" + text + b"echo mine\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(b"# <<< heimdall <<<\n", b""),
        lambda text: text.split(b"\n", 1)[1],
        lambda text: text.replace(b"# <<< heimdall <<<\n", b"") + text,
    ],
)
def test_marks_that_do_not_pair_are_left_to_the_person(damage: Callable[[bytes], bytes]) -> None:
    text = damage(githooks.section(EVENT) + b"\n")
    found = ground(b"#!/bin/sh\n" + text + b"echo mine\n")
    plan = githooks.install(found)
    assert (hook(plan).state, hook(plan).why) == (State.STALE, "broken-section")
    assert edit(plan) is None
    assert githooks.remove(found).edits == ()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x7fELF\0", "binary"),
        (b"#!/bin/sh\ntail -n +3 $0\n\0\0", "binary"),
        (b"#!/usr/bin/env python3\n", "not-sh"),
        (b"#!/bin/zsh\n", "not-sh"),
        (b"#!/usr/bin/fish\n", "not-sh"),
        (b"#!/bin/sh\r\n", "not-sh"),
        (b"", "not-sh"),
        (b"echo no first line\n", "not-sh"),
        (b'#!/bin/sh\n\ncall_lefthook()\n{\n:\n}\ncall_lefthook run "post-commit"\n', "lefthook"),
        (b"#!/usr/bin/env bash\n# File generated by pre-commit: https://x\n", "pre-commit"),
        (b"#!/usr/bin/env bash\n# File generated by prek: https://x\n", "prek"),
        (b"#!/bin/sh\n# husky\n", "husky"),
    ],
)
def test_what_is_not_ours_to_edit_is_named_with_what_to_add(data: bytes, why: str) -> None:
    plan = githooks.install(ground(data))
    assert (hook(plan).why, hook(plan).state) == (why, State.MISSING)
    assert edit(plan) is None
    assert len(plan.edits) == len(EVENTS) - 1
    assert "heimdall hint" in githooks.snippet(EVENT, why)


def test_a_hook_that_is_switched_off_stays_so() -> None:
    plan = githooks.install(ground(b"#!/bin/sh\n", mode=0o644))
    assert (hook(plan).why, edit(plan)) == ("not-executable", None)
    off = githooks.install(ground(githooks.whole_file(EVENT), mode=0o644))
    assert (hook(off).why, hook(off).state) == ("not-executable", State.STALE)


@pytest.mark.parametrize("kind", ["link", "other", "unreadable"])
def test_a_hook_that_is_no_plain_file_is_left_alone(kind: str) -> None:
    used = {**ground().used, EVENT: Found(f"/r/.git/hooks/{EVENT}", kind)}
    plan = githooks.install(ground(used=used))
    assert (hook(plan).why, edit(plan)) == (kind, None)


# -- directories -----------------------------------------------------------------------------------


def elsewhere(directory: str, scope: str, **more: object) -> Ground:
    """core.hooksPath leads to `directory`; the repository's own hooks are installed."""
    own = ground()
    own = after(own, githooks.install(own))
    used = {event: Found(f"{directory}/{event}") for event in EVENTS}
    return own._replace(directory=directory, scope=scope, used=used, kept=own.used, **more)  # type: ignore[arg-type] # fields by name


@pytest.mark.parametrize(
    ("directory", "scope", "why"),
    [
        ("/r/.githooks", "local", ""),
        ("/r/.githooks", "worktree", ""),
        ("/r/.git/other", "local", ""),
        ("/r/.githooks", "global", "global-path"),
        ("/home/me/hooks", "global", "global-path"),
        ("/home/me/hooks", "system", "global-path"),
        ("/home/me/hooks", "", "global-path"),
        ("/home/me/hooks", "local", "outside"),
        ("/dev/null", "local", "outside"),
        ("/r", "local", "outside"),
        ("/r/.husky/_", "local", "husky"),
        ("/r/.husky", "local", "husky"),
    ],
)
def test_only_a_directory_of_this_repository_alone_is_written_to(
    directory: str, scope: str, why: str
) -> None:
    found = elsewhere(directory, scope)
    plan = githooks.install(found)
    assert {one.why for one in plan.hooks} == {why}
    assert {one.state for one in plan.hooks} == {State.SHADOWED}
    assert [one.path for one in plan.edits] == (
        [] if why else [f"{directory}/{event}" for event in EVENTS]
    )
    there = after(found, plan)
    back = after(there, githooks.remove(there))
    assert {one.kind for one in (*back.used.values(), *back.kept.values())} == {"missing"}


def test_what_lies_in_a_directory_of_all_repositories_is_not_taken_out_either() -> None:
    found = elsewhere("/home/me/hooks", "global")
    mine = Found(f"/home/me/hooks/{EVENT}", "file", githooks.whole_file(EVENT), 0o755)
    found = found._replace(used={**found.used, EVENT: mine}, kept={})
    assert hook(githooks.install(found)).state is State.INSTALLED
    assert githooks.remove(found).edits == ()


def test_what_a_person_added_by_hand_counts_as_installed() -> None:
    line = githooks.snippet(EVENT, "husky").encode()
    told = [Found(f"/r/.husky/{EVENT}", "file", b"echo\n" + line, 0o644)]
    plan = githooks.install(elsewhere("/r/.husky/_", "local", told=told))
    states = {one.event: one.state for one in plan.hooks}
    assert states.pop(EVENT) is State.INSTALLED
    assert set(states.values()) == {State.SHADOWED}
    shim = b"#!/bin/sh\ncall_lefthook\n"
    yml = githooks.snippet(EVENT, "lefthook").encode()
    told = [Found("/r/lefthook.yml", "file", yml, 0o644)]
    assert hook(githooks.install(ground(shim, told=told))).state is State.INSTALLED
    assert hook(githooks.install(ground(shim))).state is State.MISSING
    assert githooks.remove(ground(shim, told=told)).edits == ()


# -- by configuration ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "by_config"), [((2, 53), False), ((2, 54), True), ((3, 0), True), ((0, 0), False)]
)
def test_a_git_that_runs_hooks_of_its_configuration_is_given_them_there(
    version: tuple[int, int], by_config: bool
) -> None:
    plan = githooks.install(ground(b"#!/bin/zsh\n", version=version))
    assert plan.by_config is by_config
    paths = {one.path for one in plan.edits}
    assert ("/r/.git/config" in paths) is by_config
    assert any("/hooks/" in path for path in paths) is not by_config


def test_git_reads_the_configuration_as_it_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(githooks.config_block() + b"\n")
    for event in EVENTS:
        for key, expected in (("event", event), ("command", githooks.body(event))):
            asked = [
                "git",
                "config",
                "--file",
                str(file),
                "--get-all",
                f"hook.heimdall-{event}.{key}",
            ]
            assert subprocess.check_output(asked, text=True) == expected + "\n"


def test_the_command_of_the_configuration_runs_with_arguments_behind_it(
    home: Path, place: Path
) -> None:
    """Git runs a command that needs a shell with its arguments behind it."""
    script = githooks.body(EVENT) + ' "$@"'
    assert silent(run("dash", place, script, HEIMDALL_HOME=str(home)))
    assert taken(home) == [str(place)]


def test_the_configuration_survives_what_git_does_to_it(tmp_path: Path) -> None:
    file = tmp_path / "config"

    def git(*arguments: str) -> None:
        subprocess.run(["git", "config", "--file", str(file), *arguments], check=True)

    git("branch.gone.remote", "origin")
    before = ground(version=(2, 54), config=file.read_bytes())
    file.write_bytes(after(before, githooks.install(before)).config.data)
    git("--remove-section", "branch.gone")
    git("user.name", "me")
    now = ground(version=(2, 54), config=file.read_bytes())
    assert {one.state for one in githooks.install(now).hooks} == {State.INSTALLED}
    assert after(now, githooks.remove(now)).config.data == b"[user]\n\tname = me\n"


def test_a_newer_or_an_older_git_moves_the_hooks_to_the_other_place() -> None:
    files = after(ground(b"#!/bin/sh\n"), githooks.install(ground(b"#!/bin/sh\n")))
    newer = files._replace(version=(2, 54))
    moved = after(newer, githooks.install(newer))
    assert {one.kind for event, one in moved.used.items() if event != EVENT} == {"missing"}
    assert moved.used[EVENT].data == b"#!/bin/sh\n"
    back = moved._replace(version=(2, 39))
    assert after(back, githooks.install(back)) == files


def test_a_stale_configuration_is_replaced_where_it_is() -> None:
    old = ground(version=(2, 54))
    fresh = after(old, githooks.install(old))
    stale = fresh._replace(
        config=fresh.config._replace(data=fresh.config.data.replace(b"umask 077; ", b""))
    )
    plan = githooks.install(stale)
    assert hook(plan).state is State.STALE
    assert after(stale, plan) == fresh
    gone = ground(version=(2, 54), config=b"")._replace(config=Found("/r/.git/config", "link"))
    plan = githooks.install(gone)
    assert (hook(plan).why, plan.edits) == ("link", ())
    assert githooks.snippet(EVENT, "link", by_config=True).startswith('[hook "heimdall-')
