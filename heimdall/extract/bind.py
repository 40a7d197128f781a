"""Binding: what each reference of one file means, inside the file or as a request to the resolver.

Lexical scopes, imports, instances, inheritance and aliases are followed as far as the text proves
them. What is not proved gives no edge: an unknown receiver never becomes a call. Evaluation spends
fuel at every step, so cycles of assignments and bases end.
"""

import re
from typing import NamedTuple

from heimdall.extract.families.base import Family
from heimdall.extract.outline import (
    DEFINED,
    IMPORTED,
    OPAQUE,
    PARAMETER,
    SELF,
    SELF_TYPE,
    VALUE,
    Bound,
    Definition,
    Outline,
    Scope,
)

CONFIDENCE = {
    "local": 1.0,
    "name": 1.0,
    "self": 0.95,
    "constructor": 0.95,
    "import": 0.95,
    "member": 0.95,
    "super": 0.9,
    "mro": 0.9,
    "annotation": 0.8,
    "assignment": 0.8,
    "alias": 0.8,
    "return": 0.7,
    "argument": 0.7,
    "star": 0.6,
}
"""How much each way of binding is to be trusted."""

_FUEL = 12
_MAX_CHAIN = 160
_NEW = re.compile(r"(?:await|new|yield|yield from|return|\*|&|&mut)\s+")
_CHAIN_TOKEN = re.compile(r"[^\W\d][\w$]*[!]?|[$@#][\w$]+|\?\.|\.|->|::|!\.|\(|\[|<|\s+|.", re.S)


class Value(NamedTuple):
    """What an expression is known to be: the definition `of` or something foreign (`module`,
    `name`), itself or, with `instance`, one of its instances. `skip_own` means the search for a
    member starts behind the class itself (`super`). `deep`: it was reached through an instance of
    something foreign, and what lies beyond needs types that this file does not have."""

    of: Definition | None
    module: str
    name: str
    strategy: str
    instance: bool = False
    skip_own: bool = False
    deep: bool = False


class Binder:
    """Evaluates the expressions of one outline."""

    def __init__(self, data: bytes, outline: Outline, family: Family) -> None:
        self.data = data
        self.outline = outline
        self.family = family
        self.members: dict[str, Definition] = {}
        for made in outline.definitions:
            if made.name:
                known = self.members.get(made.qualname)
                if known is None or made.visible or not known.visible:
                    self.members[made.qualname] = made
        self.units = {item.module for item in outline.imports if not item.target}
        self.stars = any(item.name == "*" and not item.reexport for item in outline.imports)
        self._bound: dict[int, Value | None] = {}
        self.fixed = True
        self._chains = _chains_of(family)
        self._orders: dict[str, list[Definition] | None] = {}
        self._bases: dict[str, list[tuple[int, Value | None]]] = {}

    # -- expressions -------------------------------------------------------------------------------

    def meaning(self, raw: bytes, scope: Scope, at: int) -> Value | None:
        """`evaluate` of `raw`, remembered for the scope as long as the place in it does not
        matter; `fixed` tells afterwards whether that is so."""
        self.fixed = True
        memo: dict[bytes, Value | None] = scope.memo  # type: ignore[assignment]  # ours alone
        if raw in memo:
            return memo[raw]
        text = raw.decode("utf-8", "replace")
        bounds = scope.names.get(text.partition(".")[0])
        if bounds is not None and len(bounds) == 1:
            only = bounds[0]
            if only.what in (OPAQUE, PARAMETER):
                return None
            if only.what == SELF and only.definition is not None:
                # `self.x` is the same in all methods of a class.
                memo = only.definition.scope.memo  # type: ignore[assignment]  # ours alone
                raw = b"self " + raw
                if raw in memo:
                    return memo[raw]
        value = self.evaluate(text, scope, at)
        if self.fixed:
            memo[raw] = value
        return value

    def evaluate(self, text: str, scope: Scope, at: int, fuel: int = _FUEL) -> Value | None:
        """What `text`, standing at byte `at` in `scope`, is; None where it is not proved."""
        chain = self._chains.get(text, ())
        if chain == ():
            chain = self._chains[text] = parse_chain(text, self.family)
        if chain is None or fuel <= 0:
            return None
        value = self.root(chain[0], scope, at, fuel)
        for step in chain[1:]:
            if value is None:
                return None
            value = self.called(value, fuel) if step == "()" else self.member(value, step, fuel)
        return value

    def root(self, name: str, scope: Scope, at: int, fuel: int) -> Value | None:
        """What a bare name means in `scope`."""
        family = self.family
        inner = scope
        walk: Scope | None = scope
        while walk is not None:
            found = walk.names.get(name)
            if found is not None and (not walk.is_class or walk is inner or family.members_visible):
                return self.chosen(found, same=walk is inner, at=at, fuel=fuel)
            if not walk.this and name in family.this:
                return None
            walk = walk.parent
        if name in family.this or name in family.this_type or name in family.super_words:
            return self._own_word(name, scope)
        if family.members_visible and name not in family.builtins:
            return self._inherited_name(name, scope)
        return self._from_star(name)

    def _own_word(self, name: str, scope: Scope) -> Value | None:
        """`this`, `Self`, `super` and the like."""
        family = self.family
        owner = _class_around(scope)
        if name not in family.super_words:
            if owner is None and family.members_visible:
                return self._this_elsewhere(scope)
            if owner is not None and not owner.visible:
                # What is written beside a type (`impl T`) means the type.
                owner = self.members.get(owner.qualname, owner)
            return _of(owner, "self", instance=name in family.this)
        return _of(owner, "super", instance=True, skip_own=True)

    def _this_elsewhere(self, scope: Scope) -> Value | None:
        """`this` in a method that stands outside its class (`void A::f() {…}`)."""
        walk: Scope | None = scope
        while walk is not None:
            if not walk.this:
                return None
            walk = walk.parent
        made = scope.owner
        while made is not None and made.kind != "method":
            made = made.parent
        prefix = made.qualname.rpartition(".")[0] if made is not None else ""
        known = self.members.get(prefix)
        if known is not None and not known.is_class:
            return None
        return Value(known, "", "" if known else prefix, "self", instance=True) if prefix else None

    def _inherited_name(self, name: str, scope: Scope) -> Value | None:
        owner = _class_around(scope)
        while owner is not None:
            if owner.bases or self.members.get(f"{owner.qualname}.{name}"):
                found = self.member(Value(owner, "", "", "self", instance=True), name, _FUEL)
                if found is not None:
                    return found
            owner = _class_around(owner.outer)
        return self._from_star(name)

    def _from_star(self, name: str) -> Value | None:
        """A name bound nowhere in the file: the resolver may find it through a star import, or in
        the rest of the package where the language has such names."""
        if name in self.family.builtins:
            return None
        if self.family.open_names:
            return Value(None, "", name, "name")
        return Value(None, "", name, "star") if self.stars else None

    def chosen(self, bounds: list[Bound], *, same: bool, at: int, fuel: int) -> Value | None:
        """Which of a name's bindings counts. In its own scope the last one before the use; from
        elsewhere a definition, or else the only thing that all of them say."""
        if len(bounds) == 1:
            return self.bound(bounds[0], fuel)
        if same and not self.family.hoisted:
            self.fixed = False
            before = [item for item in bounds if item.at <= at] or bounds
            return self.bound(before[-1], fuel)
        defined = [item for item in bounds if item.what == DEFINED]
        if defined:
            visible = [item for item in defined if item.definition and item.definition.visible]
            return self.bound((visible or defined)[-1], fuel)
        if any(item.what == OPAQUE for item in bounds):
            return None
        values = {
            value
            for item in bounds
            if item.second not in ("None", "null", "undefined")
            if (value := self.bound(item, fuel)) is not None or item.what == VALUE
        }
        return values.pop() if len(values) == 1 else None

    def bound(self, item: Bound, fuel: int) -> Value | None:
        """What one binding says. Nothing but the fuel can change it, so it is kept when that was
        full."""
        mark = id(item)
        if mark in self._bound:
            return self._bound[mark]
        value = self._bound_anew(item, fuel)
        if fuel == _FUEL:
            self._bound[mark] = value
        return value

    def _bound_anew(self, item: Bound, fuel: int) -> Value | None:
        if item.what == DEFINED:
            return Value(item.definition, "", "", "local")
        if item.what == IMPORTED:
            return Value(None, item.first, item.second, "import")
        if item.what in (SELF, SELF_TYPE):
            return Value(item.definition, "", "", "self", instance=item.what == SELF)
        if item.what == VALUE and item.first:
            return self.typed(item.first, item.scope, item.at, fuel - 1)
        return self._assigned(item, fuel) if item.what == VALUE else None

    def _assigned(self, item: Bound, fuel: int) -> Value | None:
        value = self.evaluate(item.second, item.scope, item.at - 1, fuel - 2)
        if value is None:
            return None
        kept = "return" if value.instance else "import"
        strategy = "assignment" if value.instance else "alias"
        return value if value.strategy == kept else value._replace(strategy=strategy)

    def typed(self, text: str, scope: Scope, at: int, fuel: int) -> Value | None:
        """An instance of the class that a type text names."""
        name = self.family.type_name(text)
        if not name:
            return None
        value = self.evaluate(name, scope, at, fuel)
        if value is None or value.instance or (value.of is None and not value.name):
            return None
        if value.of is not None and not (value.of.is_class or not value.of.visible):
            return None
        return value._replace(instance=True, strategy="annotation")

    def called(self, value: Value, fuel: int) -> Value | None:
        """What calling `value` gives: an instance of a class, what a function returns."""
        made = value.of
        if value.skip_own:
            return value
        if made is None:
            if value.instance or value.deep:
                return None
            # Whether it is a class, the resolver will see: a function has no members.
            return value._replace(instance=True, strategy="assignment") if value.name else None
        if value.instance or fuel <= 1:
            return None
        if made.is_class:
            return value._replace(instance=True, strategy="assignment")
        return self.returned(made, fuel - 1)

    def returned(self, made: Definition, fuel: int) -> Value | None:
        """What a function of this file gives back, by annotation or by all its returns."""
        if made.result:
            value = self.typed(made.result, made.outer, made.start, fuel)
            return value and value._replace(strategy="return")
        values = {self.evaluate(text, made.scope, made.end, fuel - 2) for text in made.returns}
        value = values.pop() if len(values) == 1 else None
        return value and value._replace(strategy="return")

    # -- members -----------------------------------------------------------------------------------

    def member(self, value: Value, name: str, fuel: int) -> Value | None:
        """`value.name`."""
        made = value.of
        if made is None:
            return self._foreign_member(value, name)
        if not (made.is_class or not made.visible):
            return self._module_member(made, name, value) if made.kind == "module" else None
        found = None if value.skip_own else self.members.get(f"{made.qualname}.{name}")
        if found is not None:
            return Value(found, "", "", "member" if value.strategy == "local" else value.strategy)
        held = [] if value.skip_own else list(made.scope.names.get(name, ()))
        if value.instance and not value.skip_own:
            held += made.attributes.get(name, ())
        if held:
            return self.chosen(held, same=False, at=0, fuel=fuel - 1)
        return self._inherited(value, made, name)

    def _module_member(self, made: Definition, name: str, value: Value) -> Value | None:
        whole = f"{made.qualname}.{name}"
        found = self.members.get(whole)
        if found is None and self.family.members_elsewhere:
            return Value(None, "", whole, "name")
        return _of(found, value.strategy)

    def _foreign_member(self, value: Value, name: str) -> Value | None:
        if value.deep:
            return None
        if value.instance:
            whole = f"{value.name}.{name}"
            return Value(None, value.module, whole, value.strategy, deep=True)
        if not value.name:
            longer = f"{value.module}.{name}"
            if longer in self.units:
                return Value(None, longer, "", "import")
            return Value(None, value.module, name, value.strategy)
        return Value(None, value.module, f"{value.name}.{name}", value.strategy)

    def _inherited(self, value: Value, made: Definition, name: str) -> Value | None:
        nearest = made
        for _ in range(_FUEL):
            bases = self.bases(nearest)
            only = bases[0][1].of if len(bases) == 1 and bases[0][1] is not None else None
            if only is None:
                break
            # With one base there is no question which class comes next, whatever lies beyond.
            nearest = only
            found = self.members.get(f"{nearest.qualname}.{name}")
            if found is not None:
                return Value(found, "", "", "super" if value.skip_own else "mro")
        order = self.order(made)
        if order is None:
            strategy = "super" if value.skip_own else "mro"
            return Value(None, "", f"{made.qualname}.{name}", strategy)
        for ancestor in order[1:]:
            found = self.members.get(f"{ancestor.qualname}.{name}")
            if found is not None:
                strategy = "super" if value.skip_own else "mro"
                return Value(found, "", "", strategy)
        if self.family.members_elsewhere:
            return Value(None, "", f"{made.qualname}.{name}", "mro")
        return None

    def bases(self, made: Definition) -> list[tuple[int, Value | None]]:
        """What the bases of a class are, in order; those that the language itself provides are
        left out, None is a base that is not known. With each the byte where it is named."""
        known = self._bases.get(_mark(made))
        if known is None:
            known = self._bases[_mark(made)] = []
            found: list[tuple[int, Value | None]] = []
            for start, end in made.bases:
                text = self.data[start:end].decode("utf-8", "replace")
                name = self.family.type_name(text)
                value = self.evaluate(name, made.outer, start) if name else None
                if value is None and name in self.family.builtins:
                    continue
                found.append((start, None if value is None or value.of is made else value))
            known += found
        return known

    def order(self, made: Definition) -> list[Definition] | None:
        """The classes where a member is looked for, nearest first, or None if one of them is not
        in this file."""
        if _mark(made) in self._orders:
            return self._orders[_mark(made)]
        self._orders[_mark(made)] = [made]
        lists: list[list[Definition]] = []
        for _, base in self.bases(made):
            of = base.of if base is not None else None
            above = self.order(of) if of is not None and len(self._orders) < 200 else None
            if of is None or above is None:
                self._orders[_mark(made)] = None
                return None
            lists.append(list(above))
        lists.append([item[0] for item in lists])
        merged = [made, *_merge(lists)]
        self._orders[_mark(made)] = merged
        return merged


def _mark(made: Definition) -> str:
    """Its key, or for what has no node the place where it stands."""
    return made.key or f"@{made.start}"


def _of(
    made: Definition | None, strategy: str, *, instance: bool = False, skip_own: bool = False
) -> Value | None:
    return None if made is None else Value(made, "", "", strategy, instance, skip_own)


def _merge(lists: list[list[Definition]]) -> list[Definition]:
    """C3, and where that has no answer the leftmost that remains."""
    merged: list[Definition] = []
    lists = [item for item in lists if item]
    while lists:
        tails = {id(entry) for item in lists for entry in item[1:]}
        heads = (item[0] for item in lists if id(item[0]) not in tails)
        head = next(heads, lists[0][0])
        merged.append(head)
        lists = [rest for item in lists if (rest := [entry for entry in item if entry is not head])]
    return merged


def _class_around(scope: Scope) -> Definition | None:
    """The innermost class (or other container of members) that `scope` lies in."""
    walk: Scope | None = scope
    while walk is not None:
        if walk.is_class and walk.owner is not None:
            return walk.owner
        if not walk.this:
            return None
        walk = walk.parent
    return None


_MOST_CHAINS = 50_000
_chains: dict[tuple[str, ...], dict[str, tuple[str, ...] | None]] = {}


def _chains_of(family: Family) -> dict[str, tuple[str, ...] | None]:
    """What `parse_chain` said before, kept between files: code repeats itself."""
    known = _chains.setdefault(family.separators, {})
    if len(known) > _MOST_CHAINS:
        known.clear()
    return known


def parse_chain(text: str, family: Family) -> tuple[str, ...] | None:
    """`a.b(c).d` -> ("a", "b", "()", "d"); None for anything that is not such a chain."""
    if text.isidentifier():
        return (text,)
    if len(text) > _MAX_CHAIN:
        return None
    plain = text.split(".")
    if "." in family.separators and all(map(str.isidentifier, plain)):
        return tuple(plain)
    prefix = _NEW.match(text)
    parts = _steps(text[prefix.end() :] if prefix is not None else text, family.separators)
    made = prefix is not None and prefix[0].startswith("new")
    if parts and made and parts[-1] != "()":
        parts.append("()")
    return tuple(parts) if parts else None


def _steps(text: str, separators: tuple[str, ...]) -> list[str]:
    """The steps of a chain in any spelling, [] where it is none."""
    parts: list[str] = []
    want_name = True
    position = 0
    while position < len(text):
        found = _CHAIN_TOKEN.match(text, position)
        assert found is not None
        step = found[0]
        position = found.end()
        if step.isspace():
            continue
        if step == "(" and not want_name:
            position = _closing(text, found.start())
            parts.append("()")
        elif step in separators and not want_name:
            want_name = True
        elif want_name and (step[0].isalpha() or step[0] in "_$@#"):
            parts.append(step)
            want_name = False
        else:
            return []
    return [] if want_name else parts


_BRACKET = re.compile(r"[()]|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


def _closing(text: str, start: int) -> int:
    depth = 0
    for found in _BRACKET.finditer(text, start):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            depth -= 1
            if depth == 0:
                return found.end()
    return len(text)
