"""clean-rebuild-parity: after any history, the journal equals one built from scratch on the same
disk; so does what a search finds."""

import os
import shutil
import stat as modes
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as rules
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import gitmemo
from heimdall import hints
from heimdall.journal.read import open_reader
from heimdall.model import Presence, Verdict
from heimdall.search import engine
from heimdall.sinks import tantivy
from heimdall.writer import add_root, reconcile, remove_root, verify
from tests.support import seams
from tests.support.failing import Countdown, Killed
from tests.support.index import graph, settings
from tests.support.machine import bound_by_modes
from tests.support.trees import git, plant

FULL = bool(os.environ.get("TESTS_FULL"))

NAMES = st.sampled_from(
    [
        "a.py",
        "A.py",
        "b.py",
        "pkg",
        "pkg/__init__.py",
        "pkg/c.py",
        "pkg/deep",
        "pkg/deep/d.py",
        "web/e.js",
        "web/E.js",
        "build/x.py",
        "build",
        "notes.md",
    ]
)
CONTENTS = st.sampled_from(
    [
        b"",
        b"def one(): return two()\n",
        b"def two(): return one()\n",
        b"from pkg.c import one\nclass A(B): pass\none()\n",
        b"from pkg import *\nfrom a import two as three\nthree()\n",
        b"class B:\n    def m(self): return self.n()\n    def n(self): ...\n",
        b"import pkg.deep.d as far\nfar.one()\nfar.B().m()\n",
        b"export function help() { return 1 }\n",
        b"import { help } from './e'\nexport class Box { go() { help() } }\n",
        b"zebra \x00 \xff",
        b"# @generated\ndef one(): ...\n",
        "w\u00f6rter \u4e2d\u6587\n".encode("utf-16"),
    ]
)
RULE_FILES = st.sampled_from(
    [".gitignore", "pkg/.gitignore", ".heimdallignore", "pkg/.heimdallignore", ".git/info/exclude"]
)
IGNORED = st.sampled_from(
    [
        "*.md\n",
        "pkg/\n!pkg/c.py\n",
        "deep\n",
        "",
        "*.py\n!a.py\n",
        "build/\n",
        "/pkg/deep/d.py\n",
        "*",
    ]
)
FOREIGN = ("/nowhere/at/all.py", "..", "../r", "pkg/../a.py", ".git/HEAD", ".git", ".", "a.py/b.py")
WORDS = ("one", "two", "help", "zebra", "pkg", "b")
GIT = st.sampled_from(
    [
        ("commit", "-q", "-a", "--allow-empty", "-m", "all"),
        ("checkout", "-q", "-B", "side"),
        ("checkout", "-q", "side"),
        ("checkout", "-q", "main"),
        ("checkout", "-q", "-f", "main"),
        ("stash", "-q"),
        ("stash", "pop", "-q"),
        ("merge", "-q", "--no-edit", "side"),
        ("merge", "--abort"),
        ("rebase", "-q", "side"),
        ("rebase", "--abort"),
        ("reset", "-q", "--hard"),
        ("clean", "-qfdx"),
        ("rm", "-q", "-r", "--cached", "pkg"),
        ("add", "-A"),
        ("add", "-f", "build"),
        ("update-index", "--assume-unchanged", "a.py"),
    ]
)
MOMENTS = st.sampled_from([-1.0, 0.0, 1e9, 4e9, 1.5])
JUMPS = st.sampled_from([-4e8, -3600.0, -1.0, 0.0, 1.0, 3600.0, 4e8])

TWO_AT_ONCE = """
import sys
from heimdall.writer import reconcile
from tests.support.index import settings
reconcile(settings(sys.argv[1])._replace(lock_timeout_s=60.0), None)
"""


class History(RuleBasedStateMachine):
    """Anything may happen to the tree and to the machine, and anything may be told, or nothing."""

    @initialize(in_git=st.booleans())
    def begin(self, in_git: bool) -> None:
        self.base = tempfile.mkdtemp(prefix="parity")
        self.root = os.path.join(self.base, "r")
        self.home = os.path.join(self.base, "home")
        self.jump_s = 0.0
        self.hidden_edit = False
        self.whole = False
        os.makedirs(self.root)
        self.settings = settings(self.home, now=lambda: time.time() + self.jump_s)
        if in_git:
            git(self.root, "init", "-q", "-b", "main")
        plant(self.root, {"a.py": b"def one(): ...\n", "pkg/c.py": b"def one(): ...\n"})
        add_root(self.settings, self.root)
        reconcile(self.settings, None)

    def teardown(self) -> None:
        if hasattr(self, "base"):
            try:
                self.look_at_every_byte()
            finally:
                self._open_all()
                shutil.rmtree(self.base, ignore_errors=True)

    # -- what happens to the tree ------------------------------------------------------------------

    @rule(name=NAMES, data=CONTENTS)
    def write(self, name: str, data: bytes) -> None:
        path = self._at(name)
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
            # Opening a pipe would wait for its other end, and a link leads elsewhere.
            self.delete(name)
        self._try(lambda: plant(self.root, {name: data}))

    @rule(name=NAMES, data=CONTENTS)
    def save_as_an_editor_does(self, name: str, data: bytes) -> None:
        self._try(lambda: plant(self.root, {f"{name}~": data}))
        self._try(lambda: os.replace(self._at(f"{name}~"), self._at(name)))

    @rule(name=NAMES)
    def rewrite_under_the_same_stat(self, name: str) -> None:
        path = self._at(name)
        if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.W_OK | os.R_OK):
            status = os.stat(path)
            with open(path, "r+b") as file:
                data = file.read()
                file.seek(0)
                # As many bytes, and others: a name in the file changes.
                file.write(data.replace(b"o", b"\0").replace(b"e", b"o").replace(b"\0", b"e"))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            self.hidden_edit = True

    @rule(name=NAMES, moment=MOMENTS)
    def date(self, name: str, moment: float) -> None:
        self._try(lambda: os.utime(self._at(name), (moment, moment), follow_symlinks=False))

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        path = self._at(name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            self._try(lambda: os.unlink(path))

    @rule(old=NAMES, new=NAMES)
    def move(self, old: str, new: str) -> None:
        self._try(lambda: os.makedirs(os.path.dirname(self._at(new)), exist_ok=True))
        self._try(lambda: os.rename(self._at(old), self._at(new)))

    @rule(old=NAMES, new=NAMES)
    def link_hard(self, old: str, new: str) -> None:
        self._try(lambda: os.link(self._at(old), self._at(new), follow_symlinks=False))

    @rule(name=NAMES, kind=st.sampled_from(["fifo", "link", "link to a directory", "repository"]))
    def put_something_else(self, name: str, kind: str) -> None:
        path = self._at(name)
        if kind == "repository":
            if os.path.isdir(path) and not os.path.islink(path):
                self._git("init", "-q", at=path)
            return
        if kind != "fifo":
            self.delete(name)
        self._try(
            lambda: (
                os.mkfifo(path)
                if kind == "fifo"
                else os.symlink("a.py" if kind == "link" else self._at("web"), path)
            )
        )

    @rule(name=NAMES)
    def take_the_repository_away(self, name: str) -> None:
        shutil.rmtree(os.path.join(self._at(name), ".git"), ignore_errors=True)

    @rule(name=NAMES, mode=st.sampled_from([0o000, 0o311, 0o444, 0o755]))
    def forbid(self, name: str, mode: int) -> None:
        if not os.path.islink(self._at(name)):
            self._try(lambda: os.chmod(self._at(name), mode))

    @rule(name=RULE_FILES, text=IGNORED)
    def ignore(self, name: str, text: str) -> None:
        if not name.startswith(".git/") or os.path.isdir(self._at(".git/info")):
            self._try(lambda: plant(self.root, {name: text}))

    @rule(arguments=GIT)
    def use_git(self, arguments: tuple[str, ...]) -> None:
        if os.path.isdir(self._at(".git")):
            self._git(*arguments)

    @rule()
    def begin_or_end_a_repository(self) -> None:
        if os.path.isdir(self._at(".git")):
            shutil.rmtree(self._at(".git"), ignore_errors=True)
        else:
            self._git("init", "-q", "-b", "main")

    # -- what happens to the machine ---------------------------------------------------------------

    @rule(jump_s=JUMPS)
    def set_the_clock(self, jump_s: float) -> None:
        self.jump_s = jump_s
        # A clock that went on alone makes a young stat look old.
        self.hidden_edit = True

    @rule()
    def unmount_or_mount(self) -> None:
        is_away = os.path.exists(self.away)
        if is_away:
            # Whatever was written where the disk belongs is hidden by it.
            self._open_all()
            shutil.rmtree(self.root, ignore_errors=True)
        os.rename(*((self.away, self.root) if is_away else (self.root, self.away)))

    @rule(name=st.sampled_from([".", "pkg", "web"]), known=st.booleans())
    def add_or_remove_a_root(self, name: str, known: bool) -> None:
        path = self.root if name == "." else self._at(name)
        if known:
            remove_root(self.settings, path)
        elif os.path.isdir(path) and not os.path.islink(path):
            add_root(self.settings, path)
        self.whole = False

    @rule(n=st.integers(1, 120), everything=st.booleans())
    def die_in_a_pass(self, n: int, everything: bool) -> None:
        def die() -> None:
            raise Killed

        self.whole = False
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            seams.install(patch, Countdown(n, die))
            reconcile(self.settings, None, everything=everything)

    @precondition(lambda _: FULL)
    @rule(hinted=st.lists(NAMES, max_size=2))
    def two_at_once(self, hinted: list[str]) -> None:
        self.hint(hinted, 1, [])
        children = [
            subprocess.Popen(
                [sys.executable, "-c", TWO_AT_ONCE, self.home],
                env={**os.environ, "PYTHONPATH": os.getcwd()},
            )
            for _ in range(2)
        ]
        assert [child.wait() for child in children] == [0, 0]

    # -- what is told, and what is asked -----------------------------------------------------------

    @rule(
        names=st.lists(NAMES, max_size=3),
        times=st.integers(1, 2),
        foreign=st.lists(st.sampled_from(FOREIGN), max_size=1),
    )
    def hint(self, names: list[str], times: int, foreign: list[str]) -> None:
        paths = [self._at(name) for name in (*names, *foreign)] * times
        hints.append(self.home, paths, "hook", at_ms=1)

    @rule()
    def take_hints(self) -> None:
        reconcile(self.settings, ())

    @rule(name=NAMES)
    def ask_for_one(self, name: str) -> None:
        if self._roots():
            with suppress(LookupError):
                reconcile(self.settings, [self._within_a_root(name)])

    @rule(word=st.sampled_from(WORDS))
    def search(self, word: str) -> None:
        with suppress(gitmemo.NoProject, gitmemo.NoStore):
            for hit in engine.search(self.settings, self.root, [word]).hits:
                if hit.verdict is Verdict.STRONG:
                    assert hit.path is not None
                    assert os.path.isfile(os.path.join(self.root, hit.path))

    @rule()
    def look_at_everything(self) -> None:
        reconcile(self.settings, None)
        self.whole = True
        self._nothing_of_the_dead()
        if not self.hidden_edit:
            self._compare()

    @precondition(lambda self: hasattr(self, "settings"))
    @rule()
    def look_at_every_byte(self) -> None:
        if os.path.exists(self.away):
            self.unmount_or_mount()
        self._open_all()
        for root in self._roots():
            if not os.path.isdir(root) or os.path.islink(root):
                # To the index its disk is away, and a clean one could not know of it.
                remove_root(self.settings, root)
        reconcile(self.settings, None, everything=True)
        self.whole, self.hidden_edit = True, False
        self._nothing_of_the_dead()
        self._compare()

    @invariant()
    def no_row_is_without_its_owner(self) -> None:
        if hasattr(self, "settings"):
            with open_reader(self.home) as journal:
                roots = {root.path for root in journal.roots()}
                rows = list(journal.paths())
                assert {row.root for row in rows} <= roots
                for row in rows:
                    if row.state is Presence.GONE:
                        assert not journal.nodes(row.path)

    # -- helpers -----------------------------------------------------------------------------------

    @property
    def away(self) -> str:
        return f"{self.root}.away"

    def _at(self, name: str) -> str:
        return os.path.normpath(os.path.join(self.root, name))

    def _within_a_root(self, name: str) -> str:
        path = self._at(name)
        if not any(path == root or path.startswith(f"{root}/") for root in self._roots()):
            raise LookupError
        return path

    def _roots(self) -> list[str]:
        with open_reader(self.home) as journal:
            return [root.path for root in journal.roots()]

    @staticmethod
    def _try(act: Callable[[], object]) -> None:
        try:
            act()
        except OSError:
            return

    def _git(self, *arguments: str, at: str = "") -> None:
        if os.path.isdir(self.root):
            with suppress(subprocess.CalledProcessError):
                git(at or self.root, "-c", "core.hooksPath=/dev/null", *arguments)

    def _open_all(self) -> None:
        waiting = [self.root]
        while waiting:
            here = waiting.pop()
            with suppress(OSError):
                mode = os.lstat(here).st_mode
                if modes.S_ISLNK(mode):
                    continue
                os.chmod(here, 0o755 if modes.S_ISDIR(mode) else 0o644)
                if modes.S_ISDIR(mode):
                    waiting += [os.path.join(here, name) for name in os.listdir(here)]

    def _nothing_of_the_dead(self) -> None:
        """After a pass over everything nothing is half done, and nothing that is gone is there."""
        with open_reader(self.home) as journal:
            there = [row for row in journal.paths() if row.state is Presence.PRESENT]
            assert not journal.behind()
        # A root that is away retracts nothing.
        seen = [
            row.path for row in there if os.path.isdir(row.root) and not os.path.islink(row.root)
        ]
        assert [path for path in seen if not os.path.lexists(path)] == []

    def _compare(self) -> None:
        """The index is what one made from nothing is, as far as that can look."""
        found = verify(self.settings, deep=True)
        lost = {root for root in self._roots() if not os.path.isdir(root) or os.path.islink(root)}
        assert [drift for drift in found if drift.path not in lost] == []
        with open_reader(self.home) as journal:
            shut = [one.path for one in journal.paths() if one.state is Presence.UNREADABLE]
        if lost or shut:
            return
        clean = tempfile.mkdtemp(prefix="clean", dir=self.base)
        made = settings(clean)
        for root in self._roots():
            add_root(made, root)
        reconcile(made, None)
        assert graph(self.home) == graph(clean)
        assert self._found(self.home) == self._found(clean)
        shutil.rmtree(clean, ignore_errors=True)

    @staticmethod
    def _found(home: str) -> dict[str, set[tuple[str, str]]]:
        with open_reader(home) as journal:
            sink = tantivy.open_sink_reader(home, journal.stamp())
        if isinstance(sink, str):
            # Nothing was ever put into it.
            assert sink == "absent", sink
            return {word: set() for word in WORDS}
        return {word: {(hit.path, hit.key) for hit in sink.find([word], 100)} for word in WORDS}


def test_after_any_history_the_index_is_what_one_made_from_nothing_is() -> None:
    def live() -> None:
        with seams.kept_parsers():
            run_state_machine_as_test(
                History,
                settings=rules(
                    max_examples=int(os.environ.get("TESTS_FULL") or 0) * 40 or 6,
                    stateful_step_count=60 if FULL else 20,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )

    if os.geteuid():
        live()
    else:
        bound_by_modes(live)
