"""A project in memory: files written as facts, seen by the resolver through dictionaries."""

from collections.abc import Mapping, Sequence
from posixpath import dirname
from typing import NamedTuple

from heimdall.core.modules import tail as tail_of
from heimdall.core.resolve import Resolver, emits, surface
from heimdall.model import Binding, Depth, Edge, Facts, Node, NodeRef, Relation, Target

ROOT = "/r"
LANGUAGES = {
    "py": "python",
    "ts": "typescript",
    "js": "javascript",
    "go": "go",
    "mod": "gomod",
    "rs": "rust",
    "java": "java",
    "c": "c",
    "h": "c",
    "cpp": "cpp",
}
KINDS = {"f": "function", "c": "class", "m": "method", "v": "constant"}


def defined(spec: str) -> tuple[Node, ...]:
    """`f:run c:A m:A.go` as nodes; a name given twice gets its `~2`."""
    nodes: list[Node] = []
    times: dict[str, int] = {}
    for word in spec.split():
        kind, _, name = word.partition(":")
        times[name] = times.get(name, 0) + 1
        key = name if times[name] == 1 else f"{name}~{times[name]}"
        last = name.rpartition(".")[2]
        nodes.append(Node(key, KINDS[kind], last, name, 1, 1, "", "", b""))
    return tuple(nodes)


def edge(
    module: str,
    name: str,
    relation: Relation = Relation.USES,
    src: str = "",
    strategy: str = "import",
    dst: str | None = None,
) -> Edge:
    return Edge(src, relation, 1, dst, module, name, strategy, 1.0)


def call(module: str, name: str, strategy: str = "import") -> Edge:
    return edge(module, name, Relation.CALLS, strategy=strategy)


def base(src: str, module: str, name: str, dst: str | None = None) -> Edge:
    return edge(module, name, Relation.INHERITS, src=src, dst=dst)


def file(
    path: str,
    nodes: str = "",
    edges: Sequence[Edge] = (),
    bindings: Sequence[tuple[str, str, str]] = (),
    package: str = "",
    exports: tuple[str, ...] | None = None,
) -> Facts:
    language = LANGUAGES.get(path.rpartition(".")[2], "")
    return Facts(
        Depth.GRAPH,
        language,
        "",
        package,
        exports,
        (Node("", "file", path, "", 1, 1, "", "", b""), *defined(nodes)),
        tuple(edges),
        tuple(Binding(*one) for one in bindings),
    )


class Bound(NamedTuple):
    """What the index holds of one file besides its facts."""

    targets: tuple[Target | None, ...]
    tokens: frozenset[str]


class Project:
    """A `View` over a dictionary of facts by path below ROOT."""

    def __init__(self, files: Mapping[str, Facts]) -> None:
        self.files = {f"{ROOT}/{path}": facts for path, facts in files.items()}

    def root(self, path: str) -> str:
        return ROOT

    def language(self, path: str) -> str:
        return self.files[path].language

    def tails(self, tail: str) -> Sequence[str]:
        return [path for path in self.files if tail_of(path) == tail]

    def members(self, path: str) -> Mapping[str, NodeRef]:
        found: dict[str, NodeRef] = {}
        for node in self.files[path].nodes[1:]:
            found.setdefault(node.qualname, NodeRef(path, node.key, node.kind))
        return found

    def bindings(self, path: str) -> Sequence[Binding]:
        return self.files[path].bindings

    def exports(self, path: str) -> tuple[str, ...] | None:
        return self.files[path].exports

    def bases(self, path: str, key: str) -> Sequence[Edge]:
        edges = self.files[path].edges
        return [one for one in edges if one.relation is Relation.INHERITS and one.src == key]

    def package(self, path: str) -> str:
        return self.files[path].package

    def siblings(self, path: str) -> Sequence[str]:
        own = self.files[path]
        if own.language == "go":
            return [
                p
                for p, facts in self.files.items()
                if facts.language == "go" and dirname(p) == dirname(path)
            ]
        return [
            p
            for p, facts in self.files.items()
            if facts.language == own.language and facts.package == own.package
        ]

    def globals(self, root: str, name: str) -> Sequence[NodeRef]:
        found = [
            self.members(path).get(name)
            for path, facts in self.files.items()
            if facts.language in {"c", "cpp"}
        ]
        return [ref for ref in found if ref is not None]

    def outward(self, path: str) -> tuple[Edge, ...]:
        return tuple(one for one in self.files[path].edges if one.dst is None)

    def scratch(self) -> dict[str, Bound]:
        """Everything bound anew."""
        resolver = Resolver(self)
        return {path: Bound(*resolver.settle(path, self.outward(path))) for path in self.files}

    def bind(self, path: str, wanted: Edge) -> str | None:
        """One edge's target as `path#key`, relative to the root."""
        target = Resolver(self).resolve(wanted, f"{ROOT}/{path}")
        if target is None:
            return None
        short = target.path.removeprefix(f"{ROOT}/")
        return f"{short}#{target.key}" if target.key else short


def edit(
    project: Project, held: Mapping[str, Bound], path: str, after: Facts | None
) -> dict[str, Bound]:
    """Change one file and bind again only what its tokens reach."""
    full = f"{ROOT}/{path}"
    old = project.files.pop(full, None)
    if after is not None:
        project.files[full] = after
    tokens = emits(
        full,
        surface(ROOT, old) if old is not None else None,
        surface(ROOT, after) if after is not None else None,
    )
    dirty = {p for p, bound in held.items() if bound.tokens & tokens} | {full}
    resolver = Resolver(project)
    fresh = {p: Bound(*resolver.settle(p, project.outward(p))) for p in dirty & set(project.files)}
    kept = {p: bound for p, bound in held.items() if p in project.files}
    return {**kept, **fresh}
