"""A store works, or refuses with one sentence, in whatever surroundings a person has.

Each case gives a whole life to a store (tests/support/world.py) and then asks git with a clean
slate, git with the person's settings, and the bytes of the person's own repository.
"""

import os

import pytest

from gitmemo import Store
from tests.support.memory import git
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
