"""clean-rebuild-parity: after any history, the journal equals one built from scratch on the same
disk; so does what a search finds."""

import os
import shutil
import tempfile
from collections.abc import Callable

from hypothesis import HealthCheck
from hypothesis import settings as rules
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from heimdall import hints
from heimdall.journal.read import open_reader
from heimdall.sinks import tantivy
from heimdall.writer import reconcile, verify
from tests.support.index import clean_graph, graph, index
from tests.support.size import examples
from tests.support.trees import git, plant

NAMES = st.sampled_from(
    ["a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "pkg/deep/d.py", "web/e.js", "notes.md", "pkg"]
)
CONTENTS = st.sampled_from(
    [
        b"",
        b"def one(): return two()\n",
        b"def two(): return one()\n",
        b"from pkg.c import one\nclass A(B): pass\none()\n",
        b"from pkg import *\nfrom a import two as three\nthree()\n",
        b"class B:\n    def m(self): return self.n()\n    def n(self): ...\n",
        b"export function help() { return 1 }\n",
        b"zebra \x00 \xff",
        "w\u00f6rter \u4e2d\u6587\n".encode("utf-16"),
    ]
)
IGNORED = st.sampled_from(["*.md\n", "pkg/\n!pkg/c.py\n", "deep\n", "", "*.py\n!a.py\n"])
WORDS = ("one", "two", "help", "zebra", "pkg", "b")


MANY = examples(6)


class History(RuleBasedStateMachine):
    """Anything may happen to the tree, and anything may be told of it, or nothing."""

    @initialize(in_git=st.booleans())
    def begin(self, in_git: bool) -> None:
        self.base = tempfile.mkdtemp(prefix="parity")
        self.root = os.path.join(self.base, "r")
        self.home = os.path.join(self.base, "home")
        os.makedirs(self.root)
        if in_git:
            git(self.root, "init", "-q")
        plant(self.root, {"a.py": b"def one(): ...\n"})
        self.settings, _ = index(self.home, self.root)

    def teardown(self) -> None:
        if hasattr(self, "base"):
            self.look_at_everything()
            shutil.rmtree(self.base, ignore_errors=True)

    # -- what happens to the tree ------------------------------------------------------------------

    @rule(name=NAMES, data=CONTENTS)
    def write(self, name: str, data: bytes) -> None:
        path = os.path.join(self.root, name)
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
            # Opening a pipe would wait for its other end, and a link leads elsewhere.
            self.delete(name)
        self._try(lambda: plant(self.root, {name: data}))

    @rule(name=NAMES)
    def rewrite_under_the_same_stat(self, name: str) -> None:
        path = os.path.join(self.root, name)
        if os.path.isfile(path) and not os.path.islink(path):
            status = os.stat(path)
            with open(path, "r+b") as file:
                data = file.read()
                file.seek(0)
                # As many bytes, and others: a name in the file changes.
                file.write(data.replace(b"o", b"\0").replace(b"e", b"o").replace(b"\0", b"e"))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        path = os.path.join(self.root, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            self._try(lambda: os.unlink(path))

    @rule(old=NAMES, new=NAMES)
    def move(self, old: str, new: str) -> None:
        self._try(lambda: os.rename(os.path.join(self.root, old), os.path.join(self.root, new)))

    @rule(name=NAMES, kind=st.sampled_from(["fifo", "link", "repository"]))
    def put_something_else(self, name: str, kind: str) -> None:
        path = os.path.join(self.root, name)
        if kind == "fifo":
            self._try(lambda: os.mkfifo(path))
        elif kind == "link":
            self._try(lambda: os.symlink("a.py", path))
        elif os.path.isdir(path) and not os.path.islink(path):
            git(path, "init", "-q")

    @rule(text=IGNORED)
    def ignore(self, text: str) -> None:
        plant(self.root, {".gitignore": text})

    # -- what is told of it ------------------------------------------------------------------------

    @rule(names=st.lists(NAMES, max_size=3), times=st.integers(1, 2))
    def hint(self, names: list[str], times: int) -> None:
        paths = [os.path.join(self.root, name) for name in names] * times
        hints.append(self.home, paths, "hook", at_ms=1)

    @rule()
    def take_hints(self) -> None:
        reconcile(self.settings, ())

    @rule(name=NAMES)
    def ask_for_one(self, name: str) -> None:
        reconcile(self.settings, [os.path.join(self.root, name)])

    @precondition(lambda self: hasattr(self, "settings"))
    @rule()
    def look_at_everything(self) -> None:
        reconcile(self.settings, None, everything=True)
        assert verify(self.settings, deep=True) == ()
        assert graph(self.home) == clean_graph(self.home, self.root)
        assert self._found(self.home) == self._found(self._last_clean())

    @invariant()
    def nothing_is_half_done(self) -> None:
        if hasattr(self, "settings"):
            with open_reader(self.home) as journal:
                assert not journal.behind()

    # -- helpers -----------------------------------------------------------------------------------

    @staticmethod
    def _try(act: Callable[[], object]) -> None:
        try:
            act()
        except OSError:
            return

    def _last_clean(self) -> str:
        number = 0
        while os.path.exists(f"{self.home}.clean{number + 1}"):
            number += 1
        return f"{self.home}.clean{number}"

    @staticmethod
    def _found(home: str) -> dict[str, set[tuple[str, str]]]:
        with open_reader(home) as journal:
            sink = tantivy.open_sink_reader(home, journal.stamp())
        assert not isinstance(sink, str), sink
        return {word: {(hit.path, hit.key) for hit in sink.find([word], 100)} for word in WORDS}


TestHistory = History.TestCase
TestHistory.settings = rules(
    max_examples=MANY,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
