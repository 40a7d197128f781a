"""Small facts by hand, and journals in a directory of the test's own."""

import hashlib
import json
from collections.abc import Sequence

from heimdall.journal.read import open_reader
from heimdall.journal.values import Commit
from heimdall.journal.write import JournalWriter, open_writer
from heimdall.model import Binding, Depth, Edge, Facts, Node, Outcome, Relation, Stat

ROOT = "/p"


def digest(word: str) -> bytes:
    return hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()


def node(key: str, kind: str = "function", line: int = 1, body: str = "") -> Node:
    qualname = key.partition("~")[0]
    name = qualname.rpartition(".")[2]
    return Node(key, kind, name, qualname, line, line + 1, f"def {name}()", "", digest(body or key))


def facts(
    name: str,
    keys: Sequence[str] = (),
    calls: Sequence[tuple[str, str, str]] = (),
    *,
    local: Sequence[tuple[str, str]] = (),
    bindings: Sequence[Binding] = (),
    reason: str = "",
    language: str = "python",
) -> Facts:
    """A file `name` with these definitions; `calls` are (src, module, name), `local` (src, dst)."""
    own = Node("", "file", name, "", 1, 99, "", "", digest(name))
    edges = [
        Edge(src, Relation.CALLS, place + 1, None, module, target, "import", 0.9)
        for place, (src, module, target) in enumerate(calls)
    ] + [Edge(src, Relation.CALLS, 50, dst, "", "", "local", 1.0) for src, dst in local]
    nodes = (own, *(node(key, line=place + 2) for place, key in enumerate(keys)))
    return Facts(Depth.GRAPH, language, reason, "", None, nodes, tuple(edges), tuple(bindings))


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self, at: float = 1_000_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def writer(home: object) -> JournalWriter:
    return open_writer(str(home), now=Clock())


def generation(journal: JournalWriter, path: str) -> int:
    """Queue the path and give the generation its commit must name."""
    journal.enqueue([path], "test")
    return next(q.generation for q in journal.take(10_000) if q.path == path)


def commit(
    journal: JournalWriter, path: str, what: Facts | None, *, root: str = ROOT, reason: str = ""
) -> Outcome:
    """Queue and commit one path."""
    (outcome,) = journal.commit([entry(path, what, generation(journal, path), root, reason)])
    return outcome


def entry(path: str, what: Facts | None, number: int, root: str = ROOT, reason: str = "") -> Commit:
    return Commit(
        path,
        root,
        number,
        Stat(1, 2, 3),
        digest(path) if what else None,
        Depth.GRAPH,
        "x1" if what else "-",
        what,
        reason,
    )


def graph(home: object) -> list[str]:
    with open_reader(str(home)) as journal:
        return [json.dumps(line, sort_keys=True) for line in journal.graph()]


def kinds(lines: Sequence[str]) -> list[str]:
    """Which sections the lines belong to."""
    return [next(iter(json.loads(line))) for line in lines]


def ends(home: object) -> set[tuple[str, str]]:
    """The bound edges as (src id, dst id)."""
    found = (json.loads(line).get("edge") for line in graph(home))
    return {(edge["src"], edge["dst"]) for edge in found if edge}


def pending(home: object) -> set[tuple[str, str, str]]:
    """The pending edges as (src id, module, name)."""
    found = (json.loads(line).get("pending") for line in graph(home))
    return {(edge["src"], edge["module"], edge["name"]) for edge in found if edge}
