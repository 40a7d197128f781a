"""From a bound outline to edges: who calls, inherits, imports and uses what, on which line.

Every reference is looked at once, in the order of the text; what the binder does not prove leaves
no trace. A relation of one definition to one target is told once, with the line that says it first.
"""

import re
from bisect import bisect_left
from operator import itemgetter

from heimdall.extract import captures as cap
from heimdall.extract.bind import CONFIDENCE, Binder, Value
from heimdall.extract.families.base import Family
from heimdall.extract.families.split import split
from heimdall.extract.outline import PARAMETER, Definition, Outline, Scope
from heimdall.model import Edge, Relation

_DOTTED = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*")
_ROOT = re.compile(rb"[\w$\x80-\xff]+")
_PREFIXES = {b"await", b"new", b"yield"}
_USED = b"use "
"""Before a text that is used and not called, where both are remembered."""

_LONGEST = 1000
"""Bytes of a reference beyond which it is no chain of names; in a chain of a thousand calls each
begins with all those before it."""

_MAX_ARGUMENTS = 600

_WORDS = {id(relation): relation.value for relation in Relation}

_End = tuple[str | None, str, str]
"""Where an edge points: (key in this file, "", "") or (None, module, name)."""


class Emitter:
    """Makes the edges of one file; `lines` are the offsets of its line ends."""

    def __init__(self, data: bytes, outline: Outline, family: Family, lines: list[int]) -> None:
        self.data = data
        self.outline = outline
        self.family = family
        self.lines = lines
        self.binder = Binder(data, outline, family)
        self.edges: list[Edge] = []
        self._seen: set[tuple[str, str, _End]] = set()
        self._taken: list[tuple[Definition, str, str, int]] = []
        self._local_calls: list[tuple[Definition, Scope, int]] = []
        self._known = _names(outline, family)
        self._roots: set[bytes] | None = None
        self._bare: set[bytes] = set()
        self._dead: set[bytes] = set()
        if self._known is not None:
            self._roots = {name.encode() for name in self._known} | _PREFIXES
            self._bare = {name.encode() for name in outline.parameters}

    def all(self) -> tuple[Edge, ...]:
        """Every edge, sorted by line."""
        self._imports()
        self._inheritance()
        self._references()
        self._passed_functions()
        # Stable: edges of one line stay as they were found, which only the bytes decide.
        return tuple(sorted(self.edges, key=itemgetter(2)))

    def _add(self, src: str, relation: Relation, at: int, value: Value) -> None:
        dst = value.of.key if value.of is not None else None
        self._edge(src, relation, at, (dst, value.module, value.name), value.strategy)

    def _edge(self, src: str, relation: Relation, at: int, end: _End, strategy: str) -> None:
        if relation is Relation.USES and end[0] == src:
            return
        # By the text of the relation: a member of an enumeration is hashed in Python.
        same = (src, _WORDS[id(relation)], end)
        if same not in self._seen:
            self._seen.add(same)
            line = bisect_left(self.lines, at) + 1
            self.edges.append(Edge(src, relation, line, *end, strategy, CONFIDENCE[strategy]))

    def _imports(self) -> None:
        for item in self.outline.imports:
            if not item.module:
                continue
            src = _key_in(item.scope)
            for name in ("", item.target) if item.target not in ("", "*") else ("",):
                self._edge(src, Relation.IMPORTS, item.at, (None, item.module, name), "import")

    def _inheritance(self) -> None:
        for made in self.outline.definitions:
            for at, value in self.binder.bases(made):
                heir = made if made.visible else self.binder.members.get(made.qualname, made)
                if not heir.visible:
                    continue
                if value is not None and not value.instance and _is_something(value):
                    self._add(key_of(heir), Relation.INHERITS, at, value)
                    dst = key_of(value.of) if value.of is not None else None
                    # A base is named among the arguments of the class: that is no second edge.
                    end = (dst, value.module, value.name)
                    self._seen.add((key_of(heir), Relation.USES.value, end))
            for text in made.decorators:
                value = self._evaluated(text.split("(", 1)[0], made.outer, made.start)
                if value is not None and _is_something(value):
                    self._add(key_of(made), Relation.USES, made.start, value)

    def _references(self) -> None:
        data, dead = self.data, self._dead
        for scope, code, start, end in self.outline.references:
            if end - start > _LONGEST:
                continue
            raw = data[start:end]
            if code == cap.TYPE:
                self._type(raw.decode("utf-8", "replace"), scope, start)
                continue
            if raw in dead:
                continue
            told = scope.told
            if told is None:
                told = scope.told = {}
            mark = _USED + raw if code == cap.USE else raw
            if mark in told:
                # What is called again may still be handed other functions.
                made = told[mark]
                if made is not None:
                    self._local_calls.append((made, scope, end))
            elif not self._is_dead(raw, code):
                made = self._reference(raw, code, scope, start, end)
                if self.binder.fixed:
                    told[mark] = made

    def _is_dead(self, raw: bytes, code: int) -> bool:
        """Most references of most files go to names that the file does not bind (builtins), or
        binds to what no text tells; but what is called may be a parameter."""
        if self._roots is None:
            return False
        root = _ROOT.match(raw)
        if root is None or root[0] in self._roots:
            return False
        if root[0] == raw and raw in self._bare:
            return code == cap.USE
        self._dead.add(raw)
        return True

    def _reference(
        self, raw: bytes, code: int, scope: Scope, start: int, end: int
    ) -> Definition | None:
        """Tell what one reference means; returns the function of this file that it calls."""
        if code == cap.USE:
            value = self.binder.meaning(raw, scope, start)
            if value is not None and not value.instance and _is_something(value):
                self._add(_key_in(scope), Relation.USES, start, value)
            return None
        if code == cap.DECORATOR:
            raw = raw.lstrip(b"@").strip()
        elif self.family.called is not None:
            raw = self.family.called(raw.decode("utf-8", "replace")).encode("utf-8", "replace")
        return self._call(raw, scope, start, end)

    def _evaluated(self, text: str, scope: Scope, at: int) -> Value | None:
        return self.binder.meaning(text.encode("utf-8", "replace"), scope, at)

    def _type(self, text: str, scope: Scope, at: int) -> None:
        for name in _DOTTED.findall(text):
            if self._known is None or name in self._known or "." in name or ":" in name:
                value = self._evaluated(name, scope, at)
                if value is not None and _is_something(value) and not value.instance:
                    self._add(_key_in(scope), Relation.USES, at, value)

    def _call(self, raw: bytes, scope: Scope, start: int, end: int) -> Definition | None:
        value = self.binder.meaning(raw, scope, start)
        if value is None:
            self._note_parameter(raw, scope, start)
            return None
        src = _key_in(scope)
        made = value.of
        if value.skip_own:
            self._call_super(value, raw.decode("utf-8", "replace"), src, start)
        elif made is None:
            name = value.name or self.family.default_call
            if name and not (value.instance and value.strategy != "star"):
                self._edge(src, Relation.CALLS, start, (None, value.module, name), value.strategy)
        elif value.instance or not made.visible:
            return None
        elif made.is_class:
            self._construct(made, value, src, start)
        else:
            self._local_calls.append((made, scope, end))
            self._add(src, Relation.CALLS, start, value)
            return made
        return None

    def _construct(self, made: Definition, value: Value, src: str, at: int) -> None:
        own = self.family.constructor or made.name
        maker = self.binder.members.get(f"{made.qualname}.{own}")
        if maker is None and self.family.constructor:
            whole = Value(made, "", "", "self", instance=True)
            found = self.binder.member(whole, self.family.constructor, 4)
            maker = found.of if found is not None else None
        strategy = "constructor" if value.strategy == "local" else value.strategy
        dst = key_of(maker) if maker is not None else key_of(made)
        self._edge(src, Relation.CALLS, at, (dst, "", ""), strategy)

    def _call_super(self, value: Value, text: str, src: str, at: int) -> None:
        """`super(…)` as a call of its own means the constructor where the language says so."""
        if text in self.family.super_words and self.family.constructor != "__init__":
            found = self.binder.member(value, self.family.constructor, 4)
            if found is not None:
                self._add(src, Relation.CALLS, at, found)

    # -- functions handed over as arguments --------------------------------------------------------

    def _note_parameter(self, raw: bytes, scope: Scope, at: int) -> None:
        if b"." in raw:
            return
        text = raw.decode("utf-8", "replace")
        walk: Scope | None = scope
        while walk is not None:
            found = walk.names.get(text)
            if found is not None:
                only = found[0]
                if len(found) == 1 and only.what == PARAMETER and only.definition is not None:
                    self._taken.append((only.definition, text, _key_in(scope), at))
                return
            walk = walk.parent

    def _passed_functions(self) -> None:
        """`def f(g): g()` calls whatever this file's calls of `f` hand over as `g`."""
        if not self._taken:
            return
        wanted = {id(made) for made, _, _, _ in self._taken}
        given: dict[tuple[int, str], list[Value]] = {}
        for made, scope, end in self._local_calls:
            if id(made) in wanted:
                self._arguments(made, scope, end, given)
        for made, name, src, at in self._taken:
            for value in given.get((id(made), name), ()):
                self._add(src, Relation.CALLS, at, value._replace(strategy="argument"))

    def _arguments(
        self,
        made: Definition,
        scope: Scope,
        end: int,
        given: dict[tuple[int, str], list[Value]],
    ) -> None:
        raw = self.data[end : end + _MAX_ARGUMENTS].decode("utf-8", "replace")
        if not raw.startswith("("):
            return
        names = made.parameters
        if self.family.first_parameter_is_self and made.outer.is_class:
            names = names[1:]
        for index, text in enumerate(argument_texts(raw)):
            keyword, equals, rest = text.partition("=")
            name = keyword.strip() if equals else (names[index] if index < len(names) else "")
            value = self._evaluated(rest.strip() if equals else text, scope, end)
            if value is None or value.instance or value.of is None or not value.of.visible:
                continue
            if not value.of.is_class:
                given.setdefault((id(made), name), []).append(value)


def argument_texts(raw: str) -> list[str]:
    """The arguments in a text that begins with the opening bracket and may run on behind the
    closing one."""
    depth = 0
    for index, letter in enumerate(raw):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0:
                return [part for part in split(raw[1:index], ",") if part]
    return []


def key_of(made: Definition | None) -> str:
    """The key of the nearest definition that has a node, "" for the file."""
    while made is not None and not (made.name and made.visible):
        made = made.parent
    return made.key if made is not None else ""


def _key_in(scope: Scope) -> str:
    key = scope.key
    if key is None:
        key = scope.key = key_of(scope.owner)
    return key


def _is_something(value: Value) -> bool:
    if value.of is not None:
        return value.of.visible and bool(value.of.name)
    return bool(value.name)


def _names(outline: Outline, family: Family) -> set[str] | None:
    """Every name bound anywhere in the file, or None where a name may come from elsewhere (a star
    import, members without `this`): then none can be ruled out."""
    if (
        family.members_visible
        or family.open_names
        or any(item.name == "*" and not item.reexport for item in outline.imports)
    ):
        return None
    return outline.names | family.this | family.this_type | family.super_words
