"""The shape of one file: which definition lies in which scope, what each scope binds, and which
references wait to be resolved.

One pass over the sorted events with a stack of open scopes; no tree is walked and nothing recurses,
so nesting a hundred thousand deep costs only its bytes. Names are not resolved here: a use may
precede what it means, so `bind` does that when the whole outline is known.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from heimdall.extract import captures as cap
from heimdall.extract.captures import CLASSLIKE, Event
from heimdall.extract.families.base import Family, Pairs
from heimdall.extract.families.split import code_end

MAX_TEXT = 400
"""Bytes of an assignment, parameter or type that are read: longer ones are never a plain name."""

_WORD = re.compile(r"[^\W\d]\w*")
_NO_CHAIN = frozenset("\"'([{0123456789-+~")
"""What begins a literal or an expression, and never a chain of names."""

_MOST_PARAMETERS = 5_000
_parameters: dict[tuple[bytes, Callable[[str], Pairs]], Pairs] = {}

# What a name may be bound to; the payload is explained beside each.
DEFINED = 0  # the definition
IMPORTED = 1  # (module, target) as an Import gives them
VALUE = 2  # (type text, value text)
OPAQUE = 3  # something that the text does not tell
SELF = 4  # the class definition whose instance it is
SELF_TYPE = 5  # the class definition itself (`cls`)
PARAMETER = 6  # a parameter (its name) of the definition, of which nothing else is known


class Bound(NamedTuple):
    """One binding of a name: at byte `at`, what (see above), and in which scope its texts are to
    be understood."""

    at: int
    what: int
    definition: "Definition | None"
    first: str
    second: str
    scope: "Scope"


class Definition:
    """A definition while its file is being read. `name` is "" until its capture comes; one that
    stays nameless is only a scope. `attributes` are what `self.x = …` binds, for classes."""

    __slots__ = (
        "attributes",
        "bases",
        "body",
        "decorators",
        "end",
        "key",
        "kind",
        "line",
        "name",
        "node_start",
        "outer",
        "parameters",
        "parent",
        "qualname",
        "result",
        "returns",
        "scope",
        "start",
        "visible",
    )

    def __init__(self, kind: str, start: int, node_start: int, end: int, outer: "Scope") -> None:
        self.kind = kind
        self.start = start
        self.node_start = node_start
        self.end = end
        self.outer = outer
        self.parent = outer.owner
        self.name = ""
        self.qualname = ""
        self.key = ""
        self.line = 0
        self.body = -1
        self.result = ""
        self.visible = True
        self.scope = Scope(self, outer, end)
        self.bases: list[tuple[int, int]] = []
        self.decorators: list[str] = []
        self.parameters: list[str] = []
        self.returns: list[str] = []
        self.attributes: dict[str, list[Bound]] = {}

    @property
    def is_class(self) -> bool:
        """Whether its inner names are members."""
        return self.kind in CLASSLIKE


class Scope:
    """A stretch of text with names of its own. `owner` is the definition that a reference in it
    belongs to (None for the file); `key` is that definition's, once it is known; `memo` is the
    binder's: what texts in it mean; `told` the emitter's: what was called and used in it."""

    __slots__ = (
        "elsewhere",
        "end",
        "is_class",
        "key",
        "memo",
        "names",
        "owner",
        "parent",
        "this",
        "told",
    )

    def __init__(self, owner: Definition | None, parent: "Scope | None", end: int) -> None:
        self.owner = owner
        self.parent = parent
        self.end = end
        self.is_class = False
        self.this = True
        self.names: dict[str, list[Bound]] = {}
        self.elsewhere: set[str] | None = None
        self.key: str | None = None
        self.memo: dict[bytes, object] = {}
        self.told: dict[bytes, Definition | None] | None = None


Reference = tuple[Scope, int, int, int]
"""(scope, code of the capture, first byte, byte after the last). A plain tuple: there are more of
these than of everything else together."""


class ImportFact(NamedTuple):
    """One imported name and the scope of its statement; with `reexport` it is not bound there."""

    scope: Scope
    at: int
    name: str
    module: str
    target: str
    reexport: bool


class Outline(NamedTuple):
    """What one pass over a file's events finds. `names` are those that are bound to something
    somewhere in the file, `parameters` those of functions of which nothing else is known."""

    top: Scope
    definitions: list[Definition]
    references: list[Reference]
    imports: list[ImportFact]
    exported: list[tuple[str, str]]
    constants: list[tuple[Scope, str, int, int]]
    all_text: list[str]
    package: str
    names: set[str]
    parameters: set[str]
    nameless: list[Scope]


def release(outline: Outline) -> None:
    """Take the circles in an outline apart when it has served: its memory is the next file's at
    once, and nobody has to look for garbage. No fact refers to any of it."""
    for scope in (outline.top, *outline.nameless, *[made.scope for made in outline.definitions]):
        scope.owner = None
        scope.names.clear()
        scope.memo.clear()
        scope.told = None
    for made in outline.definitions:
        made.attributes.clear()


class Sweep:
    """The pass itself: `run` once, then read `outline`."""

    def __init__(self, data: bytes, family: Family) -> None:
        self.data = data
        self.family = family
        self.top = Scope(None, None, len(data) + 1)
        self.scope = self.top
        self.definitions: list[Definition] = []
        self.references: list[Reference] = []
        self.imports: list[ImportFact] = []
        self.exported: list[tuple[str, str]] = []
        self.constants: list[tuple[Scope, str, int, int]] = []
        self.all_text: list[str] = []
        self.package = ""
        self.names: set[str] = set()
        self.parameters: set[str] = set()
        self.nameless: list[Scope] = []
        self._outer = (-1, -1)
        self._decorators: list[str] = []

    def outline(self) -> Outline:
        """What was found."""
        if self.family.comment:
            self._leave_comments()
        return Outline(
            self.top,
            self.definitions,
            self.references,
            self.imports,
            self.exported,
            self.constants,
            self.all_text,
            self.package,
            self.names,
            self.parameters,
            self.nameless,
        )

    def _leave_comments(self) -> None:
        """Comments that end a block are no part of the definition."""
        data, comment = self.data, self.family.comment
        for made in self.definitions:
            begin, end = made.start, made.end
            # Seldom true, and cheaper to ask than to have every comment of every block captured.
            if data.find(comment, data.rfind(b"\n", begin, end) + 1 or begin, end) >= 0:
                made.end = begin + code_end(data[begin:end])

    def run(self, events: list[Event], *, references: bool) -> None:
        """Go over the events once. Without `references` only definitions are wanted."""
        handlers = {
            cap.OUTER: self._on_outer,
            cap.WITHIN: self._on_within,
            cap.SCOPE: self._on_scope,
            cap.SCOPE_FUNCTION: self._on_scope_function,
            cap.NAME: self._on_name,
            cap.RECEIVER: self._on_receiver,
            cap.PACKAGE: self._on_package,
            cap.BODY: self._on_body,
            cap.VALUE: self._on_value,
            cap.DECORATOR: self._on_decorator,
        }
        if references:
            handlers |= {
                cap.IMPORT: self._on_import,
                cap.GLOBAL: self._on_global,
                cap.PARAMS: self._on_params,
                cap.RESULT: self._on_result,
                cap.BIND: self._on_bind,
                cap.BASE: self._on_base,
                cap.EXPORT: self._on_export,
                cap.EXPORT_DEFAULT: self._on_export_default,
                cap.RETURN: self._on_return,
            }
        wait = self.references.append
        first_reference = cap.TYPE if references else len(cap.CODES)
        first_def, last_def = cap.FIRST_DEF, cap.LAST_DEF
        handler = handlers.get
        scope = self.scope
        scope_end = scope.end
        for start, minus_end, code in events:
            while start >= scope_end:
                parent = scope.parent
                if parent is None:
                    break
                scope = parent
                scope_end = scope.end
            if code >= first_reference:
                wait((scope, code, start, -minus_end))
                continue
            self.scope = scope
            if first_def <= code <= last_def:
                self._on_definition(cap.KINDS[code - first_def], start, -minus_end)
            elif (handle := handler(code)) is not None:
                handle(start, -minus_end)
            scope = self.scope
            scope_end = scope.end

    # -- scopes ------------------------------------------------------------------------------------

    def _on_outer(self, start: int, end: int) -> None:
        self._outer = (start, end)

    def _on_definition(self, kind: str, start: int, end: int) -> None:
        outer_start, outer_end = self._outer
        begin = start
        if outer_start <= start and end <= outer_end:
            begin = outer_start
            self._outer = (-1, -1)
        parent = self.scope.owner
        if kind == "function" and self.scope.is_class and parent is not None:
            kind = "method"
        made = Definition(kind, begin, start, end, self.scope)
        made.scope.is_class = made.is_class
        if self._decorators:
            made.decorators = self._decorators
            self._decorators = []
        self.definitions.append(made)
        self.scope = made.scope

    def _on_within(self, start: int, end: int) -> None:
        made = Definition("", start, start, end, self.scope)
        made.scope.is_class = True
        made.visible = False
        self.definitions.append(made)
        self.scope = made.scope

    def _on_scope(self, _start: int, end: int) -> None:
        self.scope = Scope(self.scope.owner, self.scope, end)
        self.nameless.append(self.scope)

    def _on_scope_function(self, _start: int, end: int) -> None:
        self.scope = Scope(self.scope.owner, self.scope, end)
        self.scope.this = False
        self.nameless.append(self.scope)

    # -- what a definition says of itself ----------------------------------------------------------

    def _on_name(self, start: int, end: int) -> None:
        made = self.scope.owner
        if made is None or made.name:
            return
        *qualifiers, name = self.family.name_parts(_text(self.data, start, end))
        made.name = name
        prefix = _qualifier(made)
        made.qualname = ".".join([*prefix, *qualifiers, name]) if prefix or qualifiers else name
        around = made.parent
        if qualifiers or (made.outer.is_class and around is not None and around.name == name):
            # In a class its own name means the class, and not the constructor called like it.
            return
        outer = made.outer
        bound = Bound(start, DEFINED, made, "", "", made.outer)
        if outer.elsewhere and name in outer.elsewhere:
            outer = self.top
        self._put(outer, name, bound)

    def _on_receiver(self, start: int, end: int) -> None:
        """A method that stands outside its type: `func (s *Server) Run()`."""
        made = self.scope.owner
        if made is None:
            return
        for name, kind in self.family.params(_text(self.data, start, end))[:1]:
            base = self.family.type_name(kind)
            made.qualname = base
            if name:
                self._bind(name, start, VALUE, kind, "")

    def _on_package(self, start: int, end: int) -> None:
        self.package = _text(self.data, start, end)

    def _on_body(self, start: int, _end: int) -> None:
        made = self.scope.owner
        if made is not None and made.body < 0:
            made.body = start

    def _on_decorator(self, start: int, end: int) -> None:
        text = _text(self.data, start, end).lstrip("@").strip()
        self._decorators.append(text)
        self.references.append((self.scope, cap.DECORATOR, start, end))

    def _on_result(self, start: int, end: int) -> None:
        made = self.scope.owner
        if made is not None and not made.result:
            made.result = _text(self.data, start, end)
        self.references.append((self.scope, cap.TYPE, start, end))

    def _on_base(self, start: int, end: int) -> None:
        made = self.scope.owner
        if made is not None:
            made.bases.append((start, end))

    def _on_return(self, start: int, end: int) -> None:
        made = self.scope.owner
        if made is not None and end - start <= MAX_TEXT:
            made.returns.append(_text(self.data, start, end))

    # -- what is bound -----------------------------------------------------------------------------

    def _bind(self, name: str, at: int, what: int, first: str = "", second: str = "") -> None:
        scope = self.scope
        if scope.elsewhere and name in scope.elsewhere:
            scope = self.top
        bound = Bound(at, what, None, first, second, self.scope)
        self._put(scope, name, bound)

    def _put(self, scope: Scope, name: str, bound: Bound) -> None:
        known = scope.names.get(name)
        if known is None:
            scope.names[name] = [bound]
        else:
            known.append(bound)
        if bound.what == PARAMETER:
            self.parameters.add(name)
        elif bound.what != OPAQUE:
            self.names.add(name)

    def _on_import(self, start: int, end: int) -> None:
        for found in self.family.imports(_text(self.data, start, end)):
            self.imports.append(ImportFact(self.scope, start, *found))
            if found.reexport:
                self.exported.append((found.name, found.target))
            elif found.name not in ("", "*"):
                self._bind(found.name, start, IMPORTED, found.module, found.target)

    def _on_global(self, start: int, end: int) -> None:
        names = _WORD.findall(_text(self.data, start, end))[1:]
        self.scope.elsewhere = (self.scope.elsewhere or set()).union(names)

    def _on_params(self, start: int, end: int) -> None:
        made = self.scope.owner
        pairs = self._pairs(self.data[start : min(end, start + 8 * MAX_TEXT)])
        own = made is not None and self.scope is made.scope and not made.parameters
        if own and made is not None:
            made.parameters = [name for name, _ in pairs]
        for index, (name, kind) in enumerate(pairs):
            head, dot, field = name.partition(".")
            if dot:
                self._assign_attribute(head, field, start, kind, "")
            elif index == 0 and own and made is not None and self._is_self(made):
                what = SELF_TYPE if "classmethod" in made.decorators else SELF
                bound = Bound(start, what, made.outer.owner, "", "", made.outer)
                self._put(self.scope, name, bound)
            elif kind:
                self._bind(name, start, VALUE, kind, "")
            elif own:
                bound = Bound(start, PARAMETER, made, name, "", self.scope)
                self._put(self.scope, name, bound)
            else:
                self._bind(name, start, OPAQUE)

    def _pairs(self, raw: bytes) -> Pairs:
        """What the family reads in a parameter list; those of most methods are short and alike."""
        known = _parameters.get((raw, self.family.params))
        if known is None:
            known = self.family.params(raw.decode("utf-8", "replace"))
            if len(_parameters) >= _MOST_PARAMETERS:
                _parameters.clear()
            _parameters[raw, self.family.params] = known
        return known

    def _is_self(self, made: Definition) -> bool:
        return (
            self.family.first_parameter_is_self
            and made.outer.is_class
            and made.kind == "method"
            and "staticmethod" not in made.decorators
        )

    def _on_bind(self, start: int, end: int) -> None:
        text = _text(self.data, start, min(end, start + MAX_TEXT))
        for name in [text] if text.isidentifier() else _WORD.findall(text):
            self._bind(name, start, OPAQUE)

    def _on_value(self, start: int, end: int) -> None:
        text = _text(self.data, start, min(end, start + MAX_TEXT))
        whole = end - start <= MAX_TEXT
        for target, kind, value in self.family.assign(text):
            head, dot, attribute = target.partition(".")
            if dot:
                self._assign_attribute(head, attribute, end, kind, value if whole else "")
                continue
            # Bound at its end: in `x = x.next()` the right side means the x before.
            if kind or (value and whole and value[0] not in _NO_CHAIN):
                self._bind(target, end, VALUE, kind, value if whole else "")
            else:
                self._bind(target, end, OPAQUE)
            self._note_constant(target, kind, start, end)

    def _note_constant(self, target: str, kind: str, start: int, end: int) -> None:
        if self.scope is not self.top and not (self.scope.is_class and self.scope.owner):
            return
        if target == self.family.exports_name and self.scope is self.top:
            self.all_text.append(_text(self.data, start, end))
        elif self.family.is_constant(target, kind):
            self.constants.append((self.scope, target, start, end))

    def _assign_attribute(self, head: str, rest: str, at: int, kind: str, value: str) -> None:
        """`self.x = …` in a method belongs to the class around it."""
        if "." in rest:
            return
        owner = self._class_of(head)
        if owner is None:
            return
        what = VALUE if kind or (value and value[0] not in _NO_CHAIN) else OPAQUE
        bound = Bound(at, what, None, kind, value, self.scope)
        owner.attributes.setdefault(rest, []).append(bound)

    def _class_of(self, head: str) -> Definition | None:
        if head in self.family.this:
            made = self.scope.owner
            while made is not None and not made.is_class:
                made = made.parent
            return made
        scope: Scope | None = self.scope
        while scope is not None:
            found = scope.names.get(head)
            if found:
                return found[-1].definition if found[-1].what == SELF else None
            scope = scope.parent
        return None

    def _on_export(self, start: int, end: int) -> None:
        made = self.scope.owner
        if self.scope is self.top or (made is not None and made.outer is self.top):
            name = _text(self.data, start, end)
            self.exported.append((name, name))

    def _on_export_default(self, start: int, end: int) -> None:
        self.exported.append(("default", _text(self.data, start, end)))


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def _qualifier(made: Definition) -> list[str]:
    """The names that stand before the own one: those of what encloses it, and a receiver's type."""
    parent = made.parent
    while parent is not None and not parent.name:
        parent = parent.parent
    own = [made.qualname] if made.qualname else []
    return [parent.qualname, *own] if parent is not None else own
