"""The golden cases: a source, and the nodes, edges and bindings it must give.

`python -m tests.heimdall.extract.golden` writes the expected part of every case anew; the
difference is for a person to read. A case is `file: <name>`, an empty line, the source, a line
`===== expected`, and one line for each fact.
"""

import os

from heimdall.extract.facts import facts
from heimdall.model import Depth, Edge, Facts, Node

FOLDER = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "golden", "extract")
SEPARATOR = "===== expected\n"


def cases() -> list[str]:
    """The names of all cases."""
    return sorted(name for name in os.listdir(FOLDER) if name.endswith(".case"))


def load(case: str) -> tuple[str, str, str]:
    """(file name, source, expected lines) of a case."""
    with open(os.path.join(FOLDER, case), encoding="utf-8", newline="") as file:
        head, _, rest = file.read().partition("\n\n")
    source, _, expected = rest.partition(SEPARATOR)
    return head.removeprefix("file: "), source, expected


def told(name: str, source: str) -> str:
    """What extraction says of a source, one fact a line."""
    found = facts(name, source.encode(), Depth.GRAPH)
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Facts) -> list[str]:
    reason = f" reason={found.reason}" if found.reason else ""
    package = f" package={found.package}" if found.package else ""
    exports = f" exports={','.join(found.exports)}" if found.exports is not None else ""
    return [
        f"{found.language} {found.depth.name.lower()}{reason}{package}{exports}",
        *map(_node, found.nodes),
        *map(_edge, found.edges),
        *(f"binds {b.name} = {b.module or '.'}:{b.target}" for b in found.bindings),
    ]


def _node(node: Node) -> str:
    words = f"{node.kind} {node.key or '-'} {node.line}-{node.end_line}"
    return f"{words} | {node.signature} | {node.doc}".rstrip()


def _edge(edge: Edge) -> str:
    where = edge.dst if edge.dst is not None else f"?{edge.module or '.'}:{edge.name}"
    src = edge.src or "-"
    return f"{edge.relation} {src} -> {where} @{edge.line} {edge.strategy} {edge.confidence:g}"


def _write_all() -> None:
    for case in cases():
        name, source, _ = load(case)
        with open(os.path.join(FOLDER, case), "w", encoding="utf-8", newline="") as file:
            file.write(f"file: {name}\n\n{source}{SEPARATOR}{told(name, source)}")


if __name__ == "__main__":
    _write_all()
