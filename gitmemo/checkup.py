"""A store's health, from the outside in: every check asked, none able to hide another.

    around -> store -> shape -> repository -> head, main, marker -> objects, tree, record, locks
           -> history -> entries, chains, topics, secrets -> derived index, copy -> machine

A check gives findings or none; what it raises is a finding too, and what needs a check that failed
is skipped by name. Touches nothing, takes no lock, opens nothing that could make it wait: kinds of
files are looked at before any of them is opened. A writer at work changes what is looked at, so
what may be its doing is looked at again. Never here: words, advice.
Tests: tests/gitmemo/test_checkup.py, test_checkup_fuzz.py.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from gitmemo import (
    anatomy,
    chain,
    contents,
    entry,
    ground,
    indexing,
    intent,
    opening,
    survival,
    trailers,
)
from gitmemo.anatomy import Body, Progress, kind, small_text
from gitmemo.errors import DamagedStore, LegacyStore, OtherFormat
from gitmemo.index import FILE, VERSION, open_reader
from gitmemo.model import EntryId, Finding, Health, Identity, Subject
from gitmemo.place import STORE_DIR, main_tip
from gitmemo.repo import Raw, Repo
from gitmemo.topics import Topic

_LOOKS = 4  # how often what a writer may be changing is looked at before it is left alone
_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_RECORD_LIMIT = 16 << 20


class Case(NamedTuple):
    """Whom to examine, and how: `quick` leaves out what reads every object or compares the derived
    index with history; `topics` gives the pages of the store."""

    root: str
    identity: Identity | None
    now_s: float
    shared_worktrees: bool
    quick: bool
    progress: Progress | None
    topics: Callable[[], Iterable[Topic]]


class _History(NamedTuple):
    """All that main says, newest first."""

    tip: EntryId
    newest_s: int
    told: tuple[contents.Told, ...]
    files: dict[str, anatomy.File]
    living: tuple[contents.Living, ...]
    unreadable: tuple[Subject, ...]


def examine(case: Case) -> tuple[Finding, ...]:
    """Every check of the store at `case.root`, in a fixed order; never raises."""
    return _Examination(case).run()


class _Examination:
    """One examination: what was found so far, and what later checks need of earlier ones."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.root = case.root
        self.mem = os.path.join(case.root, STORE_DIR)
        self.git_dir = os.path.join(self.mem, ".git")
        self.found: list[Finding] = []
        self.out: dict[str, str] = {}  # check that gave nothing -> the check that is to blame
        self.history: _History | None = None
        self.broken: frozenset[str] = frozenset()

    def run(self) -> tuple[Finding, ...]:
        root, mem, ask = self.root, self.mem, self._ask
        ask("project", lambda: ground.project(root))
        shared = self.case.shared_worktrees
        ask("worktrees", lambda: ground.worktrees(root) if shared else ())
        ask("tracked", lambda: ground.tracked(root))
        ask("exclude", lambda: ground.exclude(root))
        ask("ignored", lambda: ground.ignored(root))
        ask("store", self._store)
        ask("leftovers", lambda: ground.leftovers(root, mem))
        ask("lock", lambda: ground.locked(root, mem))
        ask("shape", self._shape, "store")
        ask("git-locks", lambda: ground.git_locks(mem, now_s=self.case.now_s), "store")
        ask("loose", self._loose, "shape")
        ask("repository", self._repository, "shape")
        ask("head", self._head, "repository")
        ask("main", self._main, "repository", "loose")
        ask("marker", self._marker, "main")
        ask("objects", self._objects, "repository")
        ask("record", self._record, "main")
        ask("tree", self._tree, "main")
        ask("history", self._read_history, "main", "marker")
        self._ask_contents()
        ask("topics", self._topics, "history")
        ask("index", self._index, "main", "marker")
        ask("copy", self._copy)
        ask("writable", lambda: ground.writable(root, mem))
        ask("room", lambda: ground.room(mem), "store")
        ask("clock", self._clock, "history")
        ask("identity", lambda: ground.identity(root, mem, self.case.identity), "shape")
        ask("git-program", ground.git_program)
        ask("hard-links", lambda: ground.hard_links(mem))
        return tuple(self.found)

    def _ask_contents(self) -> None:
        def told() -> tuple[contents.Told, ...]:
            return self._history().told

        def living() -> tuple[contents.Living, ...]:
            return self._history().living

        self._ask("claims", self._claims, "history")
        self._ask("edits", lambda: contents.edits(living(), told()), "history")
        self._ask("digests", lambda: contents.digests(living()), "history")
        self._ask("duplicates", lambda: contents.duplicates(living()), "history")
        self._ask("limits", lambda: contents.limits(living()), "history")
        self._ask("names", lambda: contents.names(self._history().files), "history")
        self._ask(
            "chains", lambda: contents.chains(told(), {one.id for one in living()}), "history"
        )
        self._ask("secrets", lambda: contents.secrets(living()), "history")

    def _ask(self, check: str, look: Callable[[], Iterable[Finding]], *needs: str) -> None:
        lacking = [need for need in needs if need in self.out]
        blamed = check
        if lacking:
            blamed = self.out[lacking[0]]
            found = [Finding(check, Health.SKIP, "needs", (Subject(note=blamed),))]
        else:
            try:
                found = list(look()) or [Finding(check, Health.OK)]
            except Exception as error:  # noqa: BLE001 # one failure never hides the other checks
                note = f"{type(error).__name__}: {error}"
                found = [Finding(check, Health.FAIL, "failed", (Subject(note=note),))]
        self.found += found
        if any(one.state in (Health.FAIL, Health.SKIP) for one in found):
            self.out[check] = blamed

    # -- the repository ----------------------------------------------------------------------------

    def _store(self) -> Iterator[Finding]:
        at = Subject(self.mem)
        if kind(self.mem) == "absent":
            copy = survival.copy_dir(self.root)
            left = Subject(copy) if copy is not None and os.path.isdir(copy) else None
            yield Finding("store", Health.FAIL, "absent", (at, left) if left else (at,))
        elif not os.path.isdir(self.mem):
            yield Finding("store", Health.FAIL, "not-a-folder", (at,))
        elif kind(self.git_dir) in ("file", "link"):
            yield Finding("store", Health.FAIL, "git-elsewhere", (Subject(self.git_dir),))
        elif kind(self.git_dir) != "folder":
            yield Finding("store", Health.FAIL, "plain-folder", (at,))

    def _shape(self) -> Iterator[Finding]:
        odd = anatomy.oddities(self.git_dir)
        if odd:
            yield Finding("shape", Health.FAIL, "odd", odd)

    def _loose(self) -> Iterator[Finding]:
        """Before anything is read by the library: it waits for ever at some broken ones."""
        broken = anatomy.broken_loose(self.git_dir)
        self.broken = frozenset(one.id for one in broken)
        if broken:
            yield Finding("loose", Health.FAIL, "broken", broken)

    def _repository(self) -> Iterator[Finding]:
        config = (small_text(os.path.join(self.git_dir, "config")) or "").lower()
        sizes = {line.replace(" ", "").strip() for line in config.splitlines()}
        if "objectformat=sha256" in sizes or len(main_tip(self.mem) or "") == 64:
            yield Finding("repository", Health.FAIL, "not-sha1", (Subject(self.mem),))
            return
        Repo(self.mem)  # raises what makes every other look useless
        if os.path.lexists(os.path.join(self.git_dir, "shallow")):
            yield Finding("repository", Health.FAIL, "shallow", (Subject(self.mem),))
        body = Body(self.mem)
        replaced = [name for name in body.refs() if name.startswith("refs/replace/")]
        if replaced:
            yield Finding("repository", Health.FAIL, "replaced", tuple(map(Subject, replaced)))
        for name, state, fault in (
            ("info/grafts", Health.FAIL, "grafts"),
            ("objects/info/alternates", Health.WARN, "alternates"),
        ):
            if (small_text(os.path.join(self.git_dir, name)) or "").strip():
                yield Finding("repository", state, fault, (Subject(f".git/{name}"),))

    def _head(self) -> Iterator[Finding]:
        if not Repo(self.mem).head_is_main():
            said = small_text(os.path.join(self.git_dir, "HEAD")) or ""
            yield Finding("head", Health.FAIL, "elsewhere", (Subject(note=said.strip()),))
        unfinished = [n for n in _UNFINISHED if os.path.lexists(os.path.join(self.git_dir, n))]
        if unfinished:
            subjects = tuple(Subject(f".git/{name}") for name in unfinished)
            yield Finding("head", Health.WARN, "unfinished", subjects)

    def _main(self) -> Iterator[Finding]:
        try:
            tip = Repo(self.mem).tip()
        except DamagedStore:
            yield Finding("main", Health.FAIL, "absent", (Subject(self.mem),))
            return
        yield Finding("main", Health.OK, "", (Subject(id=tip),))

    def _marker(self) -> Iterator[Finding]:
        repo = Repo(self.mem)
        try:
            repo.refuse_other_format(repo.tip())
        except LegacyStore:
            yield Finding("marker", Health.FAIL, "old", (Subject(self.mem),))
        except OtherFormat as error:
            yield Finding("marker", Health.FAIL, "other", (Subject(note=error.detail),))

    def _objects(self) -> Iterator[Finding]:
        body = Body(self.mem)
        refs = body.refs()
        nowhere = [name for name, target in refs.items() if not target and name != "HEAD"]
        if nowhere:
            yield Finding("objects", Health.FAIL, "ref", tuple(map(Subject, nowhere)))
        if self.case.quick:
            yield Finding("objects", Health.SKIP, "quick")
            return
        tips = [target for target in refs.values() if target]
        proof = body.prove(tips, self.case.progress, known_broken=self.broken)
        for fault, names in (("missing", proof.missing), ("broken", proof.broken)):
            if names:
                subjects = tuple(Subject(id=name) for name in names)
                yield Finding("objects", Health.FAIL, fault, subjects)
        if not (proof.missing or proof.broken or nowhere):
            fault = "all" if proof.spare is not None else "unlisted"
            numbers = (proof.reachable, proof.spare or 0)
            subjects = tuple(Subject(note=str(number)) for number in numbers)
            yield Finding("objects", Health.OK, fault, subjects)

    # -- what a writer may be changing -------------------------------------------------------------

    def _settled(self, look: Callable[[], list[Finding]]) -> list[Finding]:
        """What `look` finds while nothing moves; what it finds while something does is left to the
        one who moves it."""
        for _ in range(_LOOKS):
            before = self._moving()
            found = look()
            if all(one.state is Health.OK for one in found):
                return found
            if before == self._moving() and ground.at_work(self.root) is None:
                return found
        return [Finding(found[0].check, Health.SKIP, "at-work")]

    def _moving(self) -> tuple[object, ...]:
        names = ("index", intent.RECORD, "refs/heads/main", "packed-refs")
        marks: list[object] = [main_tip(self.mem)]
        for name in names:
            try:
                status = os.lstat(os.path.join(self.git_dir, name))
            except OSError:
                marks.append(None)
            else:
                marks.append((status.st_mtime_ns, status.st_ino))
        return tuple(marks)

    def _record(self) -> list[Finding]:
        return self._settled(lambda: list(self._look_at_record()))

    def _look_at_record(self) -> Iterator[Finding]:
        path = os.path.join(self.git_dir, intent.RECORD)
        at = Subject(f".git/{intent.RECORD}")
        if kind(path) == "absent":
            return
        planned = self._planned()
        if planned is None:
            yield Finding("record", Health.FAIL, "unreadable", (at,))
            return
        repo = Repo(self.mem)
        dirt = {one.path for one in self._dirt()}
        way = intent.decide(planned, repo.raw(repo.tip()), dirt)
        held = way in (intent.Way.MOVED, intent.Way.FOREIGN)
        foreign = [Subject(path) for path in sorted(dirt - set(planned.paths)) if held]
        state = Health.FAIL if held else Health.WARN
        yield Finding("record", state, way.value, (at, *foreign))

    def _planned(self) -> intent.Intent | None:
        """The record of a change under way; None where there is none that can be read."""
        text = small_text(os.path.join(self.git_dir, intent.RECORD), _RECORD_LIMIT)
        try:
            return None if text is None else intent.read(self.git_dir)
        except DamagedStore:
            return None

    def _tree(self) -> list[Finding]:
        return self._settled(lambda: list(self._look_at_tree()))

    def _look_at_tree(self) -> Iterator[Finding]:
        """Paths of a change under way belong to its record, which has a check of its own."""
        planned = self._planned()
        own = set(planned.paths) if planned else set()
        faults: dict[str, list[Subject]] = {}
        for one in self._dirt():
            if one.path not in own:
                faults.setdefault(one.note, []).append(one)
        for fault, subjects in sorted(faults.items()):
            yield Finding("tree", Health.FAIL, fault, tuple(Subject(s.path) for s in subjects))

    def _dirt(self) -> list[Subject]:
        """Paths that are not as main says: in the working tree by all their bytes (`gone`,
        `changed`, `untracked`, `unreadable`), else in git's index (`staged`)."""
        opening.refuse_odd_rules(self.mem)  # the library waits at a FIFO among them
        body = Body(self.mem)
        wanted = body.tree(Repo(self.mem).tip())
        found, refused = anatomy.present(self.mem)
        dirt = {one.path: "unreadable" for one in refused}
        hidden = tuple(f"{one.path}/" for one in refused)
        for one in anatomy.differing(self.mem, wanted, found, modes=body.minds_modes()):
            if not one.path.startswith(hidden):
                dirt.setdefault(one.path, one.note)
        for path in found:
            if path not in wanted and not body.ignores(path):
                dirt[path] = "untracked"
        try:
            staged = body.staged()
        except Exception as error:
            if "'link'" not in str(error):
                raise
            return [Subject(".git/index", note="split-index")]
        for path in wanted.keys() | staged.keys():
            if staged.get(path) != wanted.get(path):
                dirt.setdefault(path, "staged")
        return [Subject(path, note=fault) for path, fault in sorted(dirt.items())]

    # -- history -----------------------------------------------------------------------------------

    def _read_history(self) -> Iterator[Finding]:
        """Read all that main says, once, for the checks that follow."""
        repo, body = Repo(self.mem), Body(self.mem)
        tip = repo.tip()
        told = tuple(contents.Told(_commit(raw), raw.modified) for raw in repo.walk(tip))
        files = body.tree(tip)
        messages = {one.commit.id: one.commit.message for one in told}
        living, unreadable = [], []
        for file, id_ in chain.active((one.commit for one in told), files).items():
            message = messages[id_]
            try:
                data = repo.file(id_, file) or b""
                same = repo.blob_id(id_, file) == files[file].oid
            except Exception:  # noqa: BLE001 # one lost file never hides the other entries
                unreadable.append(Subject(file, id_))
                continue
            said = entry.parse(data, digest=message.digest)
            living.append(contents.Living(file, id_, message, said, same))
        self.history = _History(
            tip, repo.raw(tip).time, told, files, tuple(living), tuple(unreadable)
        )
        if unreadable:
            yield Finding("history", Health.WARN, "unreadable", tuple(unreadable))

    def _history(self) -> _History:
        assert self.history is not None  # whoever asks needs the check that read it
        return self.history

    def _claims(self) -> Iterator[Finding]:
        """Entry files that no search finds, by the reason, with the commits that added them."""
        history, repo = self._history(), Repo(self.mem)
        faults: dict[str, list[Subject]] = {}
        for one in contents.unclaimed(history.told, history.files):
            commit = one.commit or repo.last_touch(history.tip, one.path)
            faults.setdefault(one.why, []).append(Subject(one.path, commit or ""))
        for fault, subjects in faults.items():
            yield Finding("claims", Health.WARN, fault, tuple(subjects))

    def _topics(self) -> Iterator[Finding]:
        for topic in self.case.topics():
            if topic.stale:
                subjects = tuple(Subject(id=topic.id, note=link.link) for link in topic.stale)
                yield Finding("topics", Health.WARN, "stale-links", subjects)

    def _clock(self) -> Iterator[Finding]:
        return ground.clock(self._history().newest_s, self.case.now_s)

    # -- what is derived or copied -----------------------------------------------------------------

    def _index(self) -> list[Finding]:
        return self._settled(lambda: list(self._look_at_index()))

    def _look_at_index(self) -> Iterator[Finding]:
        path = os.path.join(self.git_dir, FILE)
        at = Subject(f".git/{FILE}")
        if kind(path) == "absent":
            yield Finding("index", Health.OK, "absent", (at,))
            return
        try:
            version = _version(path) if kind(path) == "file" else None
        except sqlite3.Error:
            version = None
        if version is not None and version not in (0, VERSION):
            yield Finding("index", Health.WARN, "other-version", (at._replace(note=str(version)),))
            return
        held = None if version is None else open_reader(self.git_dir)
        if held is None:
            yield Finding("index", Health.FAIL, "damaged", (at,))
            return
        with closing(held):
            if not self.case.quick and not _sound(held.base):
                yield Finding("index", Health.FAIL, "damaged", (at,))
                return
            repo = Repo(self.mem)
            tip = repo.tip()
            if not repo.is_ancestor(held.tip, tip):
                yield Finding("index", Health.WARN, "other-history", (at._replace(id=held.tip),))
            elif "objects" in self.out and not self.case.quick:
                yield Finding("index", Health.SKIP, "needs", (Subject(note="objects"),))
            elif not self.case.quick and not indexing.same_as_history(repo, tip):
                yield Finding("index", Health.FAIL, "wrong", (at,))
            elif held.tip != tip:
                missing = repo.since(held.tip, tip)
                fault = "behind" if missing else "before-a-merge"
                note = str(len(missing or ()))
                yield Finding("index", Health.OK, fault, (at._replace(note=note),))

    def _copy(self) -> Iterator[Finding]:
        if "main" in self.out:  # it cannot be compared, but it may be what saves the store
            path = survival.copy_dir(self.root)
            there = path is not None and os.path.isdir(path)
            found = (Subject(path),) if path is not None and there else ()
            yield Finding("copy", Health.SKIP, "there" if there else "unread", found)
            return
        yield from judge_copy(survival.inspect(self.root, Repo(self.mem)))


def judge_copy(copy: survival.Copy) -> Iterator[Finding]:
    """What a copy's state means for the store."""
    at = Subject(copy.path, copy.tip or "")
    states = {"none": Health.SKIP, "whole": Health.OK, "broken": Health.FAIL}
    state = states.get(copy.state, Health.WARN)
    troubles = tuple(Subject(note=trouble) for trouble in copy.troubles)
    yield Finding("copy", state, copy.state, (at, *troubles))
    if copy.kept:
        kept = tuple(Subject(copy.path, tip) for tip in copy.kept)
        yield Finding("copy", Health.WARN, "kept", kept)


def _commit(raw: Raw) -> chain.Commit:
    message = trailers.parse(raw.message)
    return chain.Commit(raw.id, raw.parents, raw.time, raw.author, message, raw.added, raw.removed)


def _version(path: str) -> int:
    """The version that an index file says it has; 0 for one that says nothing yet."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    with closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as base:
        return int(base.execute("PRAGMA user_version").fetchone()[0])


def _sound(held: sqlite3.Connection) -> bool:
    """Whether the tables hold together, as SQLite and its full-text search see it. Asked of a copy
    in memory, because the second question is put as a write."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        try:
            held.backup(copy)
            verdict = [row[0] for row in copy.execute("PRAGMA integrity_check")]
            copy.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        except sqlite3.Error:
            return False
        return verdict == ["ok"]
