"""All that one file's bytes say, at the depth that was asked for.

Pure: bytes in, `Facts` out. Of the path only the last part counts, for the language and for the
file's own name, so the same bytes say the same wherever the tree lies. Nothing recurses.
"""

import re
from bisect import bisect_left
from hashlib import sha256
from itertools import accumulate, count
from operator import add

from heimdall.extract import gates, grammar
from heimdall.extract.edges import Emitter
from heimdall.extract.families import family
from heimdall.extract.families.base import Family
from heimdall.extract.languages import BY_NAME, detect
from heimdall.extract.outline import Definition, Outline, Sweep, release
from heimdall.extract.words import doc_before, doc_inside, signature
from heimdall.model import Binding, Depth, Edge, Facts, Node

_QUOTED = re.compile(r"[\"']([^\"'\n]*)[\"']")
_LITERAL_LIST = re.compile(r"\s*\w+(?:\s*:[^=]*)?\s*\+?=\s*[\[(][^\[\](){}]*[\])]\s*", re.DOTALL)


def facts(path: str, data: bytes, asked: Depth, digest: bytes | None = None) -> Facts:
    """The facts of `data`; never raises on any bytes. `digest` is their sha256 where the caller
    has it.

    `depth` is less than `asked` with a reason: `binary`, `no-language`, `huge`, `generated`,
    `minified`, or why the language's row is switched off (`no-grammar`, `bad-query`, `no-query`).
    """
    text = gates.as_utf8(data)
    binary = gates.binary(text)
    language = "" if binary else detect(path, text[:4096])
    node = _file_node(path, text, digest or sha256(data).digest())
    shallow = Facts(min(asked, Depth.FILE), language, "", "", None, (node,), (), ())
    if asked <= Depth.FILE:
        return shallow
    reason = "binary" if binary else "no-language" if not language else gates.refusal(text)
    if reason:
        return shallow._replace(reason=reason)
    loaded = grammar.grammar(language)
    if isinstance(loaded, grammar.Disabled):
        return shallow._replace(reason=loaded.reason)
    return _deep(shallow, text, asked, loaded)


def _file_node(path: str, text: bytes, digest: bytes) -> Node:
    name = path.rsplit("/", 1)[-1]
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    return Node("", "file", name, "", 1, max(1, lines), "", "", digest)


def _deep(shallow: Facts, text: bytes, asked: Depth, loaded: grammar.Grammar) -> Facts:
    """`shallow` with all that the parsed text adds."""
    row = BY_NAME[shallow.language]
    kin = family(row.family)
    wanted = asked >= Depth.GRAPH
    sweep = Sweep(text, kin)
    sweep.run(grammar.events(loaded, text, kin.mend, references=wanted), references=wanted)
    outline = sweep.outline()
    # The end of the text counts as a line's end; nothing lies beyond it.
    lines = list(map(add, accumulate(map(len, text.split(b"\n"))), count()))
    inside = row.doc == "inside"
    nodes = _nodes(text, outline, lines, inside=inside)
    doc = doc_inside(text, 0) if inside else doc_before(text, -1)
    edges: tuple[Edge, ...] = ()
    if wanted:
        edges = Emitter(text, outline, kin, lines).all()
    whole = shallow._replace(
        depth=asked,
        package=outline.package,
        exports=_exports(outline, kin),
        nodes=(shallow.nodes[0]._replace(doc=doc), *nodes),
        edges=edges,
        bindings=_bindings(outline),
    )
    release(outline)
    return whole


def _nodes(text: bytes, outline: Outline, lines: list[int], *, inside: bool) -> list[Node]:
    """One node per named definition and constant, in the order of the text; fills in the keys."""
    counts: dict[str, int] = {}
    found: list[tuple[int, Node]] = []
    for made in outline.definitions:
        if made.name and made.visible:
            made.key = _key(made.qualname, counts)
            found.append((made.start, _node(text, made, lines, inside=inside)))
    for scope, name, start, end in outline.constants:
        owner = scope.owner
        qualname = f"{owner.qualname}.{name}" if owner is not None else name
        if qualname in counts:
            continue
        kind = "property" if owner is not None else "constant"
        key = _key(qualname, counts)
        first, last = bisect_left(lines, start) + 1, bisect_left(lines, end - 1) + 1
        digest = sha256(text[start:end]).digest()
        words = signature(text, start, end)
        found.append((start, Node(key, kind, name, qualname, first, last, words, "", digest)))
    found.sort(key=lambda item: item[0])
    return [node for _, node in found]


def _key(qualname: str, counts: dict[str, int]) -> str:
    count = counts[qualname] = counts.get(qualname, 0) + 1
    return qualname if count == 1 else f"{qualname}~{count}"


def _node(text: bytes, made: Definition, lines: list[int], *, inside: bool) -> Node:
    doc = doc_inside(text, made.body) if inside else doc_before(text, made.start)
    return Node(
        made.key,
        made.kind,
        made.name,
        made.qualname,
        bisect_left(lines, made.start) + 1,
        bisect_left(lines, made.end - 1) + 1,
        signature(text, made.node_start, made.body if made.body > 0 else made.end),
        doc,
        sha256(text[made.start : made.end]).digest(),
    )


def _bindings(outline: Outline) -> tuple[Binding, ...]:
    """What importing this file makes reachable, each name's last meaning, sorted."""
    found: dict[str, Binding] = {}
    stars: set[Binding] = set()
    for item in outline.imports:
        if item.scope is not outline.top or not item.name:
            continue
        if item.name == "*":
            stars.add(Binding("*", item.module, ""))
        else:
            found[item.name] = Binding(item.name, item.module, item.target)
    for name, target in outline.exported:
        if name not in ("*", target) and name not in found:
            found[name] = Binding(name, "", target)
    return tuple(sorted([*found.values(), *stars]))


def _exports(outline: Outline, kin: Family) -> tuple[str, ...] | None:
    """The names that a star import takes, where the file says so itself."""
    if kin.exports_name:
        if not outline.all_text:
            return None
        if not all(_LITERAL_LIST.fullmatch(text) for text in outline.all_text):
            return None
        names = {name for text in outline.all_text for name in _QUOTED.findall(text)}
        return tuple(sorted(names))
    if not outline.exported:
        return None
    names = {name for name, _ in outline.exported}
    return None if "*" in names else tuple(sorted(names - {"default"}))
