"""A store works, or refuses with one sentence, in whatever surroundings a person has.

Each case gives a whole life to a store (tests/support/world.py) and then asks git with a clean
slate, git with the person's settings, and the bytes of the person's own repository.
"""

import errno
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

import gitmemo
from gitmemo import Store, locate
from tests.support import foreign
from tests.support.machine import as_nobody, bound_by_modes, hand_over, let_in, need, need_root
from tests.support.memory import IDENTITY, assert_sound, draft, files, git, project, reopened
from tests.support.world import code_repository, his_git, judge, live, person, photograph, put

SETTINGS = {
    "signing without a key": "[commit]\ngpgSign = true\n[user]\nsigningKey = NONE\n[gpg]\n"
    "program = /nonexistent/gpg\n[tag]\ngpgSign = true\n",
    "hooks that fail": "[core]\nhooksPath = {hooks}\n",
    "line ends of another system": "[core]\nautocrlf = true\neol = crlf\nsafecrlf = true\n",
    "line ends on the way in": "[core]\nautocrlf = input\nsafecrlf = true\n",
    "clean-up of messages": "[commit]\ncleanup = strip\ntemplate = /nonexistent\nverbose = true\n",
    "templates": "[init]\ntemplateDir = {template}\ndefaultBranch = trunk\n",
    "signatures in the log": "[log]\nshowSignature = true\ndate = relative\n[format]\n"
    "pretty = oneline\n[core]\nquotePath = true\nabbrev = 4\n",
    "a monitor of files": "[core]\nfsmonitor = {hooks}/fsmonitor\nuntrackedCache = true\n",
    "an index of version 4": "[index]\nversion = 4\nskipHash = true\nthreads = 2\n",
    "many files": "[feature]\nmanyFiles = true\n[index]\nskipHash = false\n",
    "a split index": "[core]\nsplitIndex = true\n",
    "packing at once": "[gc]\nauto = 1\nautoDetach = false\npruneExpire = now\n[core]\n"
    "bigFileThreshold = 1\ncompression = 0\nlogAllRefUpdates = false\n",
    "everything ignored": "[core]\nexcludesFile = {excludes}\n[status]\nshowUntrackedFiles = no\n",
    "attributes with filters": '[core]\nattributesFile = {attributes}\n[filter "mangle"]\n'
    'clean = tr a-z A-Z\nsmudge = tr A-Z a-z\nrequired = true\n[filter "lfs"]\n'
    "clean = /nonexistent/lfs\nsmudge = /nonexistent/lfs\nrequired = true\n",
    "nobody": "",
    "names only from settings": "[user]\nuseConfigOnly = true\n",
    "other encodings": "[i18n]\ncommitEncoding = latin1\nlogOutputEncoding = latin1\n[core]\n"
    "fileMode = false\nignoreCase = true\nprecomposeUnicode = true\nsymlinks = false\n",
    "another work tree": "[core]\nworktree = /nonexistent\nbare = true\n",
    "one trusted folder": "[safe]\ndirectory =\nbareRepository = explicit\n",
}
EXCLUDES, ATTRIBUTES = "*\n*.md\n!nothing\n", "*.md filter=mangle text eol=crlf ident diff=lfs\n"


def furnished(home: str, name: str) -> str:
    """The settings of that name, with the files that they point to."""
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "fsmonitor"):
        put(f"{home}/hooks/{hook}", f"#!/bin/sh\ntouch {home}/ran-{hook}\nexit 1\n", 0o755)
        put(f"{home}/template/hooks/{hook}", f"#!/bin/sh\ntouch {home}/ran-{hook}\nexit 1\n", 0o755)
    put(f"{home}/template/info/exclude", EXCLUDES)
    put(f"{home}/template/info/attributes", ATTRIBUTES)
    put(f"{home}/excludes", EXCLUDES)
    put(f"{home}/attributes", ATTRIBUTES)
    return SETTINGS[name].format(
        hooks=f"{home}/hooks",
        template=f"{home}/template",
        excludes=f"{home}/excludes",
        attributes=f"{home}/attributes",
    )


def apply(monkeypatch: pytest.MonkeyPatch, env: dict[str, str]) -> None:
    """Make `env` the environment of this process."""
    for name in set(os.environ) - set(env):
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_person_neither_stop_nor_change_a_store(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    home, root = f"{tmp_path}/home", code_repository(f"{tmp_path}/project")
    env = person(home, furnished(home, name))
    apply(monkeypatch, env)
    before = photograph(f"{root}/.git")

    def look_around() -> None:
        """The person looks into the store: git rewrites its index in the way he likes."""
        his_git(env, f"{root}/.mem", "status")
        his_git(env, f"{root}/.mem", "update-index", "-q", "--really-refresh", check=False)

    store = live(root, look_around)
    assert photograph(f"{root}/.git") == before
    assert [name for name in os.listdir(home) if name in ("ran-pre-commit", "ran-commit-msg")] == []
    judge(store, env)
    assert git(root, "status", "--porcelain") == "M  a.py\n M b.py\n?? c.py\n"


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_store_itself_neither_stop_nor_change_it(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in ("another work tree", "a split index"):
        pytest.skip("a repository that says this of itself is another repository")
    home, root = f"{tmp_path}/home", code_repository(f"{tmp_path}/project")
    settings = furnished(home, name)
    env = person(home)
    apply(monkeypatch, env)
    Store.init(root)
    with open(f"{root}/.mem/.git/config", "a", encoding="utf-8") as file:
        file.write(settings)
    judge(live(root, lambda: his_git(env, f"{root}/.mem", "status")), env)


# -- where the project lies ------------------------------------------------------------------------

NAMES = {
    "blanks and quotes": " a \"b\" 'c' ",
    "a line end": "a\nb",
    "a shell's words": "$(touch x)`y`;&|",
    "a pattern": "[a]*?\\",
    "an option": "-rf",
    "CJK": "记忆",
    "emoji": "🧠",
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "no UTF-8": os.fsdecode(b"a\xff\xfeb"),
    "as long as a name can be": "x" * 255,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_store_lives_in_a_folder_of_any_name(tmp_path: object, name: str) -> None:
    root = code_repository(f"{tmp_path}/{NAMES[name]}")
    before = photograph(f"{root}/.git")
    judge(live(root), person(f"{tmp_path}/home"))
    assert photograph(f"{root}/.git") == before
    assert git(root, "status", "--porcelain") == "M  a.py\n M b.py\n?? c.py\n"


@pytest.mark.parametrize("length", [3900, 4040, 4080])
def test_a_path_is_as_long_as_the_machine_allows_or_refused(tmp_path: object, length: int) -> None:
    root = str(tmp_path)
    while len(root) + 101 < length:
        root += "/" + "d" * 100
    root += "/" + "e" * (length - len(root) - 1)
    os.makedirs(root)
    if length == 3900:
        judge(live(root), person(f"{tmp_path}/home"))
        return
    with pytest.raises(gitmemo.IoRefused) as refused:
        live(root)
    assert refused.value.code == errno.ENAMETOOLONG
    assert os.listdir(root) == []


def plain(top: str) -> str:
    os.makedirs(f"{top}/project")
    return f"{top}/project"


def linked(top: str) -> str:
    root = code_repository(f"{top}/project")
    git(root, "worktree", "add", "-q", f"{top}/linked", "other")
    return f"{top}/linked"


def absorbed(top: str) -> str:
    root = code_repository(f"{top}/project")
    library = code_repository(f"{top}/library")
    git(root, "-c", "protocol.file.allow=always", "submodule", "-q", "add", library, "lib")
    return f"{root}/lib"


def old_submodule(top: str) -> str:
    root = code_repository(f"{top}/project")
    code_repository(f"{root}/lib")
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "lib")
    assert os.path.isdir(f"{root}/lib/.git")
    return f"{root}/lib"


def below_bare(top: str) -> str:
    source = code_repository(f"{top}/source")
    git(top, "clone", "-q", "--bare", source, f"{top}/code.git")
    git(f"{top}/code.git", "worktree", "add", "-q", f"{top}/one", "other")
    return f"{top}/one"


def separate(top: str) -> str:
    root = code_repository(f"{top}/project")
    git(root, "init", "-q", "--separate-git-dir", f"{top}/elsewhere.git")
    return root


def sha256(top: str) -> str:
    os.makedirs(f"{top}/project")
    git(f"{top}/project", "init", "-q", "--object-format=sha256", "-b", "main")
    return code_repository(f"{top}/project")


def reftable(top: str) -> str:
    root = f"{top}/project"
    os.makedirs(root)
    made = git(root, "init", "-q", "--ref-format=reftable", "-b", "main", root, check=False)
    need(os.path.isdir(f"{root}/.git/reftable"), "a git that keeps refs in tables" + made)
    return code_repository(root)


def sparse(top: str) -> str:
    root = code_repository(f"{top}/project")
    git(root, "commit", "-q", "-am", "second")
    put(f"{root}/.git/info/sparse-checkout", "/a.py\n")
    git(root, "config", "core.sparseCheckout", "true")
    git(root, "config", "index.sparse", "true")
    git(root, "read-tree", "-mu", "HEAD")
    return root


def large_files(top: str) -> str:
    root = code_repository(f"{top}/project")
    put(f"{root}/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n*.md filter=lfs\n")
    git(root, "config", "filter.lfs.process", "/nonexistent/git-lfs filter-process")
    git(root, "config", "filter.lfs.required", "true")
    return root


PARENTS = (
    plain,
    linked,
    absorbed,
    old_submodule,
    below_bare,
    separate,
    sha256,
    reftable,
    sparse,
    large_files,
)


@pytest.mark.parametrize("make", PARENTS, ids=lambda make: make.__name__)
def test_a_store_lives_beside_any_kind_of_repository(
    tmp_path: object, make: Callable[[str], str]
) -> None:
    cwd = make(str(tmp_path))
    place = locate(cwd)
    root = cwd if place is None else place.store_root
    common = None if place is None else place.common_dir
    before = {} if common is None else photograph(common)
    status = "" if common is None else git(cwd, "status", "--porcelain")
    store = live(root)
    judge(store, person(f"{tmp_path}/home"))
    if common is not None:
        assert photograph(common) == before
        assert git(cwd, "status", "--porcelain") == status
    if make is linked:
        assert store.root == f"{tmp_path}/project"
        alone = locate(cwd, shared_worktrees=False)
        assert alone is not None
        judge(live(alone.store_root), person(f"{tmp_path}/home"))
        assert git(cwd, "status", "--porcelain") == status


# -- who, when, how much ---------------------------------------------------------------------------


@pytest.mark.parametrize("start", [-86_400.0, 0.0, 1_790_000_000.0, 4.2e9, 4e11])
def test_any_clock_gives_commits_that_every_git_can_read(tmp_path: object, start: float) -> None:
    root = code_repository(f"{tmp_path}/project")
    now = [start]
    store = Store.init(root, identity=IDENTITY, clock=lambda: now[0])
    ids: list[str] = []
    for jump in (0, 0, 5, -7200, -86_400 * 365, 1, 0):  # stands still, goes, jumps back
        now[0] += jump
        ids.append(store.write(draft(f"at {len(ids)}")).id)
    again = store.replace(ids[0], draft("again"))
    store.delete(ids[1], "no longer")
    times = [int(line) for line in git(store.path, "log", "--format=%ct").split()]
    assert times == [min(max(time, 0), 2**32 - 1) for time in times]
    if start <= 4.2e9:  # what the clock says is what stands there
        assert times[-1] == max(start, 0)
    told = [event.id for event in store.history()]
    assert sorted(told) == sorted(
        git(store.path, "rev-list", "main", "--", "entries/").split()[:-1]
    )
    assert store.read(ids[0]).current == (again.id,)
    assert {hit.id for hit in store.search(["memory"]).hits} == {again.id, *ids[2:]}
    assert_sound(store)


@pytest.mark.parametrize("mask", [0o077, 0o000])
def test_any_umask_leaves_a_store_that_its_owner_can_use(tmp_path: object, mask: int) -> None:
    root = code_repository(f"{tmp_path}/project")
    before = os.umask(mask)
    try:
        judge(live(root), person(f"{tmp_path}/home"))
    finally:
        os.umask(before)
    for base, folders, names in os.walk(f"{root}/.mem"):
        for name in (*folders, *names):
            mode = os.lstat(os.path.join(base, name)).st_mode
            assert not mode & mask


def test_a_store_of_another_user_is_read_and_written_where_modes_allow_it(
    tmp_path: object,
) -> None:
    need_root()
    root = let_in(code_repository(f"{tmp_path}/project"))
    store = live(root)
    hand_over(root)
    store.write(draft("root writes into a store of somebody else"))

    def theirs() -> None:
        again = Store.open(root)
        assert again.search(["memory"]).total == 3
        with suppress(gitmemo.IoRefused):  # where a folder is needed that root has made
            again.write(draft("maybe"))
        assert again.search(["memory"]).total >= 3

    as_nobody(theirs)
    hand_over(root)

    def own() -> None:
        Store.open(root).write(draft("mine"))

    as_nobody(own)
    assert git(store.path, "-c", "safe.directory=*", "fsck", "--strict", "--no-dangling") == ""
    os.chmod(store.path, 0o700)
    os.chown(store.path, 0, 0)

    def nothing() -> None:
        with pytest.raises(gitmemo.IoRefused) as refused:
            Store.open(root)
        assert refused.value.code == errno.EACCES

    as_nobody(nothing)


@pytest.mark.parametrize("how", ["bind", "modes"])
def test_a_read_only_disk_is_searched_and_refuses_with_its_reason(
    tmp_path: object, how: str
) -> None:
    root = code_repository(f"{tmp_path}/project")
    kept = live(root).search(["kept"]).hits[0].id

    def try_all() -> None:
        store = Store.open(root, lock_timeout_s=0.5)
        assert store.search(["memory"]).total == 2
        assert store.read(kept).active
        for act in (
            lambda: store.write(draft("more")),
            lambda: store.replace(kept, draft("other")),
            lambda: store.delete(kept, "no longer"),
        ):
            with pytest.raises(gitmemo.IoRefused) as refused:
                act()
            assert refused.value.code == (errno.EROFS if how == "bind" else errno.EACCES)

    before = files(root)
    if how == "modes":
        for base, _, names in os.walk(root):
            os.chmod(base, 0o555)
            for name in names:
                os.chmod(os.path.join(base, name), 0o444)
        try:
            bound_by_modes(try_all)
        finally:
            for base, _, _ in os.walk(root):
                os.chmod(base, 0o755)
    else:
        need_root()
        for command in (["mount", "--bind", root, root], ["mount", "-o", "remount,bind,ro", root]):
            need(not subprocess.run(command, capture_output=True, check=False).returncode, "mount")
        try:
            try_all()
        finally:
            subprocess.run(["umount", root], check=True)
    assert files(root) == before


@pytest.mark.parametrize("limit", ["NOFILE", "FSIZE"])
def test_any_limit_on_files_is_enough_or_refuses(tmp_path: object, limit: str) -> None:
    """From a limit under which nothing can be opened (or written) up to one that suffices."""
    store = project(f"{tmp_path}/project")
    store.write(draft("kept"))
    kind = getattr(resource, f"RLIMIT_{limit}")
    done, refused = 0, 0
    for n in range(14):
        value = 3 + n if limit == "NOFILE" else 60 * 2**n
        child = os.fork()
        if child == 0:
            os.closerange(3, 4096)
            resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))
            code = 9
            with suppress(BaseException):
                try:
                    reopened(store, timeout_s=5.0).write(draft(f"limit {n}"))
                    code = 0
                except gitmemo.WorldError:
                    code = 1
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 1), f"{limit} {value}"
        done, refused = done + (code == 0), refused + (code == 1)
        assert git(store.path, "status", "--porcelain") == ""
    assert done
    assert refused
    store.write(draft("afterwards"))
    assert store.search(["memory"]).total == 2 + done
    assert_sound(store)


def test_names_that_differ_in_case_alone_are_two_entries(tmp_path: object) -> None:
    store = project(tmp_path)
    upper, lower = (
        foreign.commit(store.path, foreign.message(name), add={f"entries/{name}.md": name})
        for name in ("Case", "case")
    )
    assert {hit.id for hit in store.search(["foreign"]).hits} == {upper, lower}
    store.delete(upper, "only this one")
    assert sorted(os.listdir(f"{store.path}/entries")) == [".gitkeep", "case.md"]
    assert store.read(lower).active
    assert_sound(store)


# -- the real commands -----------------------------------------------------------------------------

LIFE = r"""
import io, json, sys
from heimdall.cli import main

def mem(*argv, codes=(0,)):
    real, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
    try:
        code = main.run("mem", argv)
        sys.stdout.flush()
        said = sys.stdout.buffer.getvalue().decode("utf-8")
    finally:
        sys.stdout = real
    if code not in codes:
        raise SystemExit(f"{argv}: {code} {said}")
    return json.loads(said)

words = ("-k", "memory", "-k", "wörter", "--json")
mem("init", "--no-index", "--json", *sys.argv[1:])
one = mem("write", "--title", "#1 记忆 🧠", "--summary", "of one\nand more", *words)["id"]
two = mem("replace", one, "--title", "two", "--json")["id"]
three = mem("write", "--title", "three", "--summary", "gone", *words)["id"]
mem("delete", three, "--reason", "no longer", "--json")
found = mem("search", "memory", "--json")
assert [hit["id"] for hit in found["hits"] if hit["source"] == "memory"] == [two], found
assert mem("read", one, "--json")["title"] == "#1 记忆 🧠"
assert len(mem("log", "--json")["events"]) == 4
print("lived")
"""
PYTHON_HOME = os.path.dirname(os.path.dirname(os.path.abspath(gitmemo.__file__)))


def by_command(cwd: str, env: dict[str, str], *options: str) -> "subprocess.CompletedProcess[str]":
    """A whole life by the real commands, in one process of its own."""
    # In a file, because a line of Python is read in the encoding of the locale.
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as script:
        script.write(LIFE)
        script.flush()
        return _run(script.name, cwd, env, options)


def _run(
    script: str, cwd: str, env: dict[str, str], options: Sequence[str]
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, script, *options],
        cwd=cwd,
        env={**env, "PYTHONPATH": PYTHON_HOME},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def lived(root: str, env: dict[str, str], *options: str) -> None:
    """The commands have done all they were told to, and the store is sound."""
    done = by_command(root, env, *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lived\n", "")
    judge(Store.open(root), env)


def test_the_commands_in_the_worst_of_homes(tmp_path: object) -> None:
    home, root = f"{tmp_path}/home", code_repository(f'{tmp_path}/a "b"\n记忆🧠')
    worst = "".join(
        furnished(home, name) for name in SETTINGS if name not in ("another work tree",)
    )
    env = person(home, worst, LC_ALL="C", LANG="xx_YY", TZ="Nowhere/Land+99", PYTHONUTF8="0")
    before = photograph(f"{root}/.git")
    lived(root, {**env, "PYTHONCOERCECLOCALE": "0"})
    assert photograph(f"{root}/.git") == before


def test_the_commands_below_a_name_that_is_no_text(tmp_path: object) -> None:
    root = code_repository(f"{tmp_path}/{os.fsdecode(bytes([97, 255, 254]))}")
    lived(root, person(f"{tmp_path}/home", LC_ALL="POSIX"))


@pytest.mark.parametrize("home", ["unset", "missing", "not writable"])
def test_the_commands_without_git_and_without_a_home(tmp_path: object, home: str) -> None:
    root = plain(str(tmp_path))
    env = person(f"{tmp_path}/home", PATH=f"{tmp_path}/nothing")
    if home == "unset":
        del env["HOME"]
        env["HEIMDALL_HOME"] = f"{tmp_path}/state"
    elif home == "missing":
        env["HOME"] = f"{tmp_path}/nowhere"
    else:
        env["HOME"] = "/proc"  # where not even root can make anything
    done = by_command(root, env, "--here")
    assert (done.returncode, done.stdout, done.stderr) == (0, "lived\n", "")
    judge(Store.open(root), person(f"{tmp_path}/home"))
    assert os.listdir(root) == [".mem"]
    assert not os.path.exists(f"{tmp_path}/nowhere")


@pytest.mark.parametrize("event", ["pre-commit", "post-checkout"])
def test_the_commands_called_from_a_hook_of_the_code_repository(
    tmp_path: object, event: str
) -> None:
    root, env = code_repository(f"{tmp_path}/project"), person(f"{tmp_path}/home")
    put(f"{tmp_path}/life.py", LIFE)
    # `commit -a` and `checkout` set different parts of the environment, among them GIT_INDEX_FILE.
    hook = (
        f"#!/bin/sh\ncd '{tmp_path}'\nenv | grep ^GIT_ >>met\nexport PYTHONPATH='{PYTHON_HOME}'\n"
        f"cd '{root}' && exec '{sys.executable}' '{tmp_path}/life.py' >'{tmp_path}/said'\n"
    )
    put(f"{root}/.git/hooks/{event}", hook, 0o755)
    before = photograph(f"{root}/.git")
    more = {
        "GIT_AUTHOR_NAME": "P",
        "GIT_AUTHOR_EMAIL": "p@example.invalid",
        "GIT_COMMITTER_NAME": "P",
        "GIT_COMMITTER_EMAIL": "p@example.invalid",
        "GIT_AUTHOR_DATE": "1999-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "1999-01-01T00:00:00Z",
    }
    if event == "pre-commit":
        his_git({**env, **more}, root, "commit", "-q", "-a", "-m", "second")
        assert git(root, "show", "--name-only", "--format=", "HEAD") == "a.py\nb.py\n"
    else:
        his_git({**env, **more}, root, "checkout", "-q", "--detach")
        changed = {"HEAD", "logs/HEAD", "index"}
        after = photograph(f"{root}/.git")
        assert {name for name in after if after[name] != before.get(name)} <= changed
    with open(f"{tmp_path}/said", encoding="utf-8") as file:
        assert file.read() == "lived\n"
    with open(f"{tmp_path}/met", encoding="utf-8") as file:
        assert "GIT_" in file.read()
    assert git(root, "status", "--porcelain").splitlines()[-1] == "?? c.py"
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    assert "1999" not in git(f"{root}/.mem", "log", "--format=%cI")
    judge(Store.open(root), env)


def test_every_variable_of_git_is_without_effect(tmp_path: object) -> None:
    root, other = code_repository(f"{tmp_path}/project"), code_repository(f"{tmp_path}/other")
    env = person(f"{tmp_path}/home")
    before = photograph(f"{root}/.git"), photograph(f"{other}/.git")
    names = (
        "CEILING_DIRECTORIES COMMON_DIR EXEC_PATH TEMPLATE_DIR ALTERNATE_OBJECT_DIRECTORIES"
        " QUARANTINE_PATH TRACE SSH EDITOR PAGER EXTERNAL_DIFF GRAFT_FILE SHALLOW_FILE"
    )
    nowhere = {f"GIT_{name}": "/nonexistent" for name in names.split()}
    hostile = {
        **env,
        **nowhere,
        "GIT_DIR": f"{other}/.git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": f"{other}/.git/index",
        "GIT_OBJECT_DIRECTORY": f"{other}/.git/objects",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_PREFIX": "sub/",
        "GIT_INDEX_VERSION": "4",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_DEFAULT_REF_FORMAT": "reftable",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ICASE_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "1",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM": "0",
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": f"{other}/.git",
        "GIT_CONFIG_KEY_1": "core.bare",
        "GIT_CONFIG_VALUE_1": "true",
        "GIT_CONFIG_PARAMETERS": "'core.autocrlf'='true'",
    }
    done = by_command(root, hostile)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lived\n", "")
    assert (photograph(f"{root}/.git"), photograph(f"{other}/.git")) == before
    judge(Store.open(root), env)


@pytest.mark.parametrize("inside", ["", "/.git/objects"])
def test_the_commands_from_inside_the_store(tmp_path: object, inside: str) -> None:
    root, env = code_repository(f"{tmp_path}/project"), person(f"{tmp_path}/home")
    Store.init(root)
    done = by_command(f"{root}/.mem{inside}", env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lived\n", "")
    assert not os.path.exists(f"{root}/.mem/.mem")
    judge(Store.open(root), env)


def test_a_lock_that_stays_taken_is_explained(tmp_path: object) -> None:
    root = project(f"{tmp_path}/project").root
    put(
        f"{root}/.mem.gitmemo.lock",
        '{"pid": 4242, "host": "elsewhere", "startedAt": "2026-08-23T11:36:12.123Z"}',
    )
    env = person(f"{tmp_path}/home", HEIMDALL_LOCK_TIMEOUT_S="0.1", PYTHONPATH=PYTHON_HOME)
    command = ["write", "--title", "t", "--summary", "s", "-k", "a", "-k", "b"]
    done = subprocess.run(
        [sys.executable, "-c", MEM, *command], cwd=root, env=env, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (7, b"")
    sentence, hint = done.stderr.decode().splitlines()
    assert sentence.endswith(
        ".mem.gitmemo.lock was held by another process (4242@elsewhere since"
        " 2026-08-23T11:36:12.123Z) for all of 0.1 seconds"
    )
    assert "If process 4242 on elsewhere is over, remove that file." in hint


MEM = "import sys; from heimdall.cli import main; sys.exit(main.mem())"
