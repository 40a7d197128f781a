"""The existing engine, small, by the git program alone and from the format's description alone.

An oracle: nothing of gitmemo is imported here. It writes, replaces and withdraws in that engine's
order, refuses what it refuses, stops after any phase as a crash would, and recovers by its rule.
"""

import hashlib
import json
import os
import re
import socket
import unicodedata
from collections.abc import Mapping, Sequence

from tests.support.memory import git

RECORD = "gitmemo-transaction.json"
PHASES = ("recorded", "filed", "staged", "committed", "done")
"""What has happened when a transaction ends; `filed`: files are made and removed."""

_BLANK = "[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+"


class Refused(Exception):
    """What the engine would say."""


def folded(text: str) -> str:
    """Text as it is compared: NFKC, folded, white space as one blank."""
    return re.sub(_BLANK, " ", unicodedata.normalize("NFKC", text).casefold()).strip(" ")


def digest(title: str, summary: str, keywords: Sequence[str], content: str, kind: str) -> str:
    """The duplicate guard; an empty kind is the formula of the first build."""
    words = sorted({folded(word) for word in keywords}, key=lambda s: s.encode("utf-16-be"))
    said: dict[str, object] = {"title": title.strip(), "summary": summary.strip()}
    said |= {"keywords": words, "content": content}
    if kind:
        said["kind"] = kind
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def message(
    title: str,
    *,
    summary: str = "About it.",
    keywords: Sequence[str] = ("memory", "foreign"),
    content: str = "text\n",
    kind: str = "task",
    replaces: str = "",
    extra: Sequence[str] = (),
    digest_kind: str | None = None,
) -> str:
    """The message of an added or replacing entry; `extra` are further lines of its block."""
    made = digest(title, summary, keywords, content, kind if digest_kind is None else digest_kind)
    lines = [
        f"GitMemo-Type: {'replace' if replaces else 'add'}",
        *([f"GitMemo-Replaces: {replaces}"] if replaces else []),
        *([f"GitMemo-Kind: {kind}"] if kind == "topic" else []),
        *(f"GitMemo-Keyword: {word}" for word in keywords),
        f"GitMemo-Digest: sha256:{made}",
        *(f"GitMemo-Search-Text: {folded(text)}" for text in (title, summary, *keywords)),
        *extra,
    ]
    return "\n".join((title, "", summary, "", *lines)) + "\n"


def entry_file(
    title: str,
    *,
    summary: str = "About it.",
    keywords: Sequence[str] = ("memory", "foreign"),
    content: str = "text\n",
    kind: str = "task",
    keys: str = "",
) -> str:
    """The bytes of an entry; an empty kind leaves its line out, `keys` is further front matter."""
    head = [
        'gitmemo_version: "2"',
        'date: "2026-08-23T11:36:12.123Z"',
        *([f'kind: "{kind}"'] if kind else []),
        'code_branch: "main"',
        'code_commit: "unknown"',
        'related_branches: ["main"]',
        "related_paths: []",
        f"keywords: {json.dumps(list(keywords), ensure_ascii=False)}",
        *keys.splitlines(),
    ]
    body = f"# {title}\n\n## Summary\n\n{summary}\n\n## Final Outcome\n\n{content}\n"
    return "---\n" + "\n".join(head) + "\n---\n\n" + body


def path_of(title: str, folder: str = "entries") -> str:
    """A file name in the engine's form."""
    slug = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-") or "memory-entry"
    made = hashlib.sha256(title.encode()).hexdigest()
    return f"{folder}/20260823T113612.{int(made[:4], 16) % 1000:03}Z-{made[:8]}-{slug}.md"


class Engine:
    """The engine at one project."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.mem = os.path.join(root, ".mem")
        self.git_dir = os.path.join(self.mem, ".git")

    # -- the acts ----------------------------------------------------------------------------------

    def write(
        self, title: str, *, folder: str = "entries", until: str = "done", **fields: str
    ) -> str:
        """Add an entry; its id, or what HEAD is where it stopped before."""
        path = path_of(title, folder)
        text = entry_file(title, **fields)
        said = message(title, **fields)
        return self._change("write", {path: text}, [], said, until)

    def replace(
        self, old: str, title: str, *, folder: str = "entries", until: str = "done", **fields: str
    ) -> str:
        """Put an entry in the place of another."""
        path = path_of(title, folder)
        text = entry_file(title, **fields)
        said = message(title, replaces=old, **fields)
        return self._change("replace", {path: text}, [self.active_file(old)], said, until)

    def delete(self, old: str, reason: str = "no longer", *, until: str = "done") -> str:
        """Withdraw an entry."""
        path = self.active_file(old)
        name = os.path.basename(path).removesuffix(".md")
        said = (
            f"delete: withdraw {name}\n\n{reason}\n\nGitMemo-Type: delete\nGitMemo-Deletes: {old}\n"
        )
        return self._change("delete", {}, [path], said, until)

    def active_file(self, entry: str) -> str:
        """The file of an entry that may be replaced or withdrawn."""
        said = git(self.mem, "show", "-s", "--format=%B", entry)
        if not re.search("^GitMemo-Type: (add|replace)$", said, re.MULTILINE):
            raise Refused("not a gitmemo entry")
        listed = git(
            self.mem, "show", "-z", "--no-renames", "--name-status", "--format=", entry
        ).split("\0")
        changed = list(zip(listed[::2], listed[1::2], strict=False))
        added = [name for kind, name in changed if kind == "A" and name.startswith("entries/")]
        if len(added) != 1:
            raise Refused("no entry file found")
        last = git(self.mem, "log", "-1", "--format=%H", "main", "--", added[0]).strip()
        if last != entry or not git(self.mem, "ls-tree", "main", "--", added[0]):
            raise Refused("not the active entry")
        return added[0]

    def _change(
        self, operation: str, add: Mapping[str, str], remove: Sequence[str], said: str, until: str
    ) -> str:
        lock = os.path.join(self.root, ".mem.gitmemo.lock")
        with open(lock, "x", encoding="utf-8") as file:
            json.dump({"pid": os.getpid(), "host": socket.gethostname()}, file)
        try:
            self.recover()
            self.refuse_unfit()
            return self._carry_out(operation, add, remove, said, until)
        finally:
            os.unlink(lock)

    def _carry_out(
        self, operation: str, add: Mapping[str, str], remove: Sequence[str], said: str, until: str
    ) -> str:
        steps = PHASES.index(until)
        body = {
            "operationId": "0b5b6a1e",
            "operation": operation,
            "phase": "prepared",
            "baseHead": self.head(),
            "add": list(add),
            "delete": list(remove),
            "createdAt": "2026-08-23T11:36:12.123Z",
        }
        record = os.path.join(self.git_dir, RECORD)
        with open(f"{record}.tmp", "w", encoding="utf-8") as file:
            json.dump(body, file, indent=2)
        os.rename(f"{record}.tmp", record)
        if steps >= 1:
            for path, text in add.items():
                full = os.path.join(self.mem, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "x", encoding="utf-8", newline="") as file:
                    file.write(text)
            if remove and steps == 1:
                for path in remove:
                    os.unlink(os.path.join(self.mem, path))
        if steps >= 2:
            if add:
                git(self.mem, "add", "--", *add)
            if remove:
                git(self.mem, "rm", "-q", "--", *remove)
            staged = self._listed("diff", "--cached")
            if staged != {*(("A", p) for p in add), *(("D", p) for p in remove)}:
                raise Refused("staged changes do not match the transaction plan")
        if steps >= 3:
            git(self.mem, "commit", "-q", "-F", "-", stdin=said)
        if steps >= 4:
            os.unlink(record)
        return self.head()

    # -- what it asks of a store -------------------------------------------------------------------

    def head(self) -> str:
        """The commit of HEAD."""
        return git(self.mem, "rev-parse", "HEAD").strip()

    def refuse_unfit(self) -> None:
        """What it looks at before each change."""
        if not os.path.isdir(self.git_dir):
            raise Refused("exists but is not a git repository")
        if git(self.mem, "symbolic-ref", "-q", "HEAD", check=False) != "refs/heads/main\n":
            raise Refused("HEAD is not on refs/heads/main")
        if git(self.mem, "show", "HEAD:.gitmemo-format", check=False).strip() != "2":
            raise Refused("another format")
        if git(self.mem, "rev-parse", "--is-shallow-repository") != "false\n":
            raise Refused("shallow")
        if git(self.mem, "status", "--porcelain", "--untracked-files=all"):
            raise Refused("working tree is not clean")

    def recover(self) -> str:
        """End an interrupted transaction by its rule: "none", "back" or "forward"."""
        path = os.path.join(self.git_dir, RECORD)
        if not os.path.lexists(path):
            return "none"
        try:
            with open(path, encoding="utf-8") as file:
                body = json.load(file)
            base, add, remove = body["baseHead"], set(body["add"]), set(body["delete"])
        except (ValueError, KeyError, TypeError) as error:
            raise Refused("transaction journal is unreadable") from error
        if self.head() == base:
            changed = self._changed()
            if not changed <= add | remove:
                raise Refused("interrupted transaction detected: foreign paths")
            for name in add:
                git(self.mem, "rm", "-q", "--cached", "--ignore-unmatch", "--", name)
                if os.path.lexists(os.path.join(self.mem, name)):
                    os.unlink(os.path.join(self.mem, name))
            if remove:
                git(self.mem, "checkout", "-q", base, "--", *remove)
            way = "back"
        else:
            parents = git(self.mem, "log", "-1", "--format=%P").split()
            done = self._listed("diff-tree", "-r", "HEAD^", "HEAD")
            if parents != [base] or done != {
                *(("A", p) for p in add),
                *(("D", p) for p in remove),
            }:
                raise Refused("interrupted transaction detected: HEAD moved")
            way = "forward"
        if self._changed():
            raise Refused("working tree is not clean")
        os.unlink(path)
        return way

    def _changed(self) -> set[str]:
        listed = git(self.mem, "status", "--porcelain", "-z", "--no-renames", "-uall")
        return {line[3:] for line in listed.split("\0") if line}

    def _listed(self, *command: str) -> set[tuple[str, str]]:
        listed = git(self.mem, *command, "--name-status", "--no-renames", "-z").split("\0")
        return set(zip(listed[::2], listed[1::2], strict=False))


def commit(
    mem: str, said: str, *, add: Mapping[str, str] | None = None, remove: Sequence[str] = ()
) -> str:
    """A commit by plain git, whatever its message and files; its hash."""
    for path, text in (add or {}).items():
        full = os.path.join(mem, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        git(mem, "add", "-f", "--", path)
    if remove:
        git(mem, "rm", "-q", "--", *remove)
    git(mem, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", stdin=said)
    return git(mem, "rev-parse", "HEAD").strip()


def found(root: str) -> Engine:
    """A store as the engine founds one."""
    mem = os.path.join(root, ".mem")
    os.makedirs(os.path.join(mem, "entries"))
    git(mem, "init", "-q", "-b", "main")
    commit(
        mem,
        "init: initialize memory repo (gitmemo format 2)\n",
        add={".gitmemo-format": "2\n", "entries/.gitkeep": ""},
    )
    return Engine(root)


def expect(engine: Engine, entry: str, file: str, *, removed: Sequence[str] = ()) -> None:
    """Everything that the engine would check holds for the change `entry`, just made."""
    engine.refuse_unfit()
    assert engine.recover() == "none"
    assert engine.active_file(entry) == file
    assert engine.head() == entry
    status = git(engine.mem, "show", "--no-renames", "--name-status", "--format=", entry)
    want = [f"A\t{file}", *(f"D\t{path}" for path in removed)]
    assert sorted(status.splitlines()) == sorted(want)
    assert git(engine.mem, "diff", "--cached", "--name-only") == ""
    assert git(engine.mem, "ls-files", "--others") == ""
    assert git(engine.mem, "rev-parse", "--show-object-format") == "sha1\n"
    body = git(engine.mem, "show", "-s", "--format=%B", entry)
    parsed = git(engine.mem, "interpret-trailers", "--parse", "--no-divider", stdin=body)
    block = body.rstrip("\n").rpartition("\n\n")[2]
    assert parsed.splitlines() == block.splitlines()
    assert all(re.fullmatch("GitMemo-[A-Za-z0-9-]+: .+", line) for line in block.splitlines())
