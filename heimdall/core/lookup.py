"""What a name in a unit may mean: the lower storeys of `resolve`.

The traced view (each answer used leaves its token), `reach` over imports and re-exports, and `mro`
over base classes. `reach` is a plain search of a graph whose arrows do not depend on what lies
behind them, so cycles are harmless and the result is the same wherever the search came from.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from heimdall.core import modules
from heimdall.core.mro import Class, linearize
from heimdall.core.tokens import visible
from heimdall.core.view import View
from heimdall.model import Binding, Edge, NodeRef

_T = TypeVar("_T")
CLASSES = frozenset({"class", "interface", "trait", "enum", "struct", "type"})
_CALLABLES = frozenset({"function", "method"})
# Families whose units hand on what they import; in the others an import is the file's own affair.
_HANDING_ON = frozenset({"python", "js", "rust"})
# An import that renames in circles (`a` is `a.b`) makes names without end. No honest search takes
# this many steps, and whether one does depends on the graph alone, not on the order of the walk.
_STEPS = 256
# More global definitions of one name than this are not worth comparing.
_MANY = 16


class Rule(NamedTuple):
    """How a definition was come by, and how sure that is."""

    confidence: float
    name: str


LOCAL = Rule(1.0, "local")  # the file itself defines the name
IMPORT = Rule(1.0, "import")  # the unit named does
PACKAGE = Rule(0.95, "package")  # another file of the same Go or Java package does
REEXPORT = Rule(0.95, "reexport")  # the unit named imports it from where it is defined
STAR = Rule(0.9, "star")  # through `import *`, `export *`, `use x::*`
MRO = Rule(0.9, "mro")  # inherited, all classes before it known
INCLUDE = Rule(0.8, "include")  # the only one among the C files included here
PARTIAL = Rule(0.6, "mro-partial")  # inherited, but a class before it is not in the index
UNIQUE = Rule(0.6, "unique-name")  # the only global definition of the name; C family alone


class Found(NamedTuple):
    """A definition, or with a `rest` a class whose member `rest` is meant. The unit itself has the
    key "" and the kind `file`."""

    path: str
    key: str
    kind: str
    rest: str
    rule: Rule


class _World(NamedTuple):
    """One root and family of the traced view."""

    lookup: "Lookup"
    root: str
    kind: str

    def tails(self, tail: str) -> tuple[str, ...]:
        return self.lookup.tails(self.root, self.kind, tail)

    def package(self, path: str) -> str:
        return self.lookup.package(path)

    def remember(self, key: tuple[str, ...], compute: Callable[[], _T]) -> _T:
        return self.lookup.remember((self.root, *key), compute)


class Lookup:
    """The view with a memory. `tokens` collects the questions asked since it was last replaced;
    an answer from memory adds the questions that it once took."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.tokens: set[str] = set()
        self._memo: dict[tuple[object, ...], tuple[object, frozenset[str]]] = {}
        self._kinds: dict[str, str] = {}
        self._worlds: dict[str, _World] = {}
        self._origins: dict[str, tuple[str, _World]] = {}
        self._tails: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._units: dict[str, str] = {}
        self._members: dict[str, Mapping[str, NodeRef]] = {}
        self._bindings: dict[str, dict[str, list[Binding]]] = {}

    def forget(self) -> None:
        """Take the circles apart when all is asked: the memory is free at once, and nobody has to
        look through a whole index for garbage."""
        self._worlds.clear()
        self._origins.clear()

    def remember(self, key: tuple[object, ...], compute: Callable[[], _T]) -> _T:
        """The value of `compute()`, which is a function of `key`, with its tokens."""
        held = self._memo.get(key)
        if held is None:
            outer, self.tokens = self.tokens, set()
            value = compute()
            held = self._memo[key] = (value, frozenset(self.tokens))
            self.tokens = outer
        if held[1]:
            self.tokens.update(held[1])
        return held[0]  # type: ignore[return-value]  # keys name their question, so the type is T

    # -- the traced view ---------------------------------------------------------------------------

    def kind(self, path: str) -> str:
        """The family of a path's language."""
        if path not in self._kinds:
            self._kinds[path] = modules.family(self.view.language(path))
        return self._kinds[path]

    def world(self, path: str) -> _World:
        """What `path` can name."""
        if path not in self._worlds:
            self._worlds[path] = _World(self, self.view.root(path), self.kind(path))
        return self._worlds[path]

    def unit(self, path: str) -> str:
        """`modules.tail`, remembered."""
        if path not in self._units:
            self._units[path] = modules.tail(path)
        return self._units[path]

    def tails(self, root: str, kind: str, tail: str) -> tuple[str, ...]:
        """The present paths of a root and family with this unit tail, sorted."""
        self.tokens.add(f"{tail}:")
        key = (root, kind, tail)
        if key not in self._tails:
            found = (p for p in self.view.tails(tail) if self.kind(p) == kind)
            self._tails[key] = tuple(sorted(p for p in found if self.view.root(p) == root))
        return self._tails[key]

    def package(self, path: str) -> str:
        """A path's package; its token is the unit's, as for the path itself."""
        self.tokens.add(f"{self.unit(path)}:")
        return self.view.package(path)

    def member(self, path: str, name: str) -> NodeRef | None:
        """The first definition with the qualified name `name` in the file."""
        self.tokens.add(f"{self.unit(path)}:{name}")
        if path not in self._members:
            self._members[path] = self.view.members(path)
        return self._members[path].get(name)

    def bound(self, path: str, name: str) -> Sequence[Binding]:
        """The file's bindings of `name` (`*` for its stars)."""
        self.tokens.add(f"{self.unit(path)}:{name}")
        if path not in self._bindings:
            index: dict[str, list[Binding]] = {}
            for binding in self.view.bindings(path):
                index.setdefault(binding.name, []).append(binding)
            self._bindings[path] = index
        return self._bindings[path].get(name, ())

    def exports(self, path: str) -> tuple[str, ...] | None:
        """What a star import takes from the file."""
        self.tokens.add(f"{self.unit(path)}:*")
        return self.view.exports(path)

    def bases(self, path: str, key: str) -> Sequence[Edge]:
        """The inherits edges of a class; they share the token of the class's own name."""
        self.tokens.add(f"{self.unit(path)}:{key.partition('~')[0]}")
        return self.view.bases(path, key)

    def group(self, path: str) -> tuple[str, ...]:
        """The files that make one package with `path`, itself first; (path,) where none do."""
        kind = self.kind(path)
        package = self.view.package(path)
        if kind == "go":
            self.tokens.add(f"{self.unit(path)}:")
        elif kind == "java":
            self.tokens.add(f"@{package}:")
        else:
            return (path,)
        others = (p for p in self.view.siblings(path) if p != path)
        return (path, *sorted(p for p in others if self.view.package(p) == package))

    def globals(self, root: str, name: str) -> tuple[NodeRef, ...]:
        """The C family's definitions of `name` that other files of `root` can see."""
        self.tokens.add(f"*:{name}")
        found = self.view.globals(root, name)
        if len(found) > _MANY:
            return ()
        return tuple(ref for ref in found if visible(ref.path, self.view.exports(ref.path), name))

    # -- reach -------------------------------------------------------------------------------------

    def start(self, module: str, name: str, path: str) -> modules.Start | None:
        """Where to look for `name` of the foreign unit `module`."""
        place, world = self.origin(path)
        key = ("start", place, world.root, world.kind, module, name)
        return self.remember(key, lambda: modules.starts(world.kind, module, name, path, world))

    def origin(self, path: str) -> tuple[str, _World]:
        """All of a path that a start depends on: files of one origin mean the same by the same
        name of a foreign unit."""
        origin = self._origins.get(path)
        if origin is None:
            world = self.world(path)
            place = path if world.kind in {"js", "rust"} else modules.dirname(path)
            origin = self._origins[path] = (place, world)
        return origin

    def reach(self, unit: tuple[str, ...], name: str, rule: Rule) -> frozenset[Found]:
        """All that `name` in `unit` may mean; more than one is an ambiguity."""
        key = ("reach", unit, name, rule)
        return self.remember(key, lambda: self._reach(unit, name, rule))

    def _reach(self, unit: tuple[str, ...], name: str, rule: Rule) -> frozenset[Found]:
        found: dict[tuple[str, str, str], Found] = {}
        todo = [(unit, name, rule)]
        done = set(todo)
        while todo:
            terminals, nexts = self._step(*todo.pop())
            for one in terminals:
                held = found.setdefault((one.path, one.key, one.rest), one)
                if one.rule > held.rule:
                    found[one.path, one.key, one.rest] = one
            todo += [step for step in nexts if step not in done]
            done.update(nexts)
            if len(done) > _STEPS:
                return frozenset()
        return frozenset(found.values())

    def _step(
        self, unit: tuple[str, ...], name: str, rule: Rule
    ) -> tuple[list[Found], list[tuple[tuple[str, ...], str, Rule]]]:
        """What `name` means in `unit` itself, or else where to look further.

        A definition hides a binding, and a binding that names it hides the stars, whether or not
        what they point to is in the index.
        """
        if not name:
            return [Found(unit[0], "", "file", "", rule)], []
        terminals = self._defined(unit, name, rule)
        if terminals or self.kind(unit[0]) not in _HANDING_ON:
            return terminals, []
        path = unit[0]
        head, _, rest = name.partition(".")
        explicit = self.bound(path, head)
        if explicit:
            return [], [*self._follow(path, explicit, rest, min(rule, REEXPORT))]
        nexts = []
        submodule = modules.inner(self.kind(path), path, head, self.world(path))
        if submodule and submodule[0] != path:
            nexts.append((submodule, rest, rule))
        nexts += self._stars(path, name, rule)
        return [], nexts

    def _defined(self, unit: tuple[str, ...], name: str, rule: Rule) -> list[Found]:
        """The definitions of `name` in the unit's files, or of the class that its start names."""
        whole = [ref for path in unit if (ref := self._definition(path, name)) is not None]
        if whole:
            return [Found(ref.path, ref.key, ref.kind, "", rule) for ref in whole]
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            head, rest = ".".join(parts[:cut]), ".".join(parts[cut:])
            part = [ref for path in unit if (ref := self.member(path, head)) is not None]
            if part:
                return [Found(ref.path, ref.key, ref.kind, rest, rule) for ref in part]
        return []

    def _definition(self, path: str, name: str) -> NodeRef | None:
        """The member `name`, unless it lies inside a function, where no other file can name it."""
        ref = self.member(path, name)
        parent, _, _ = name.rpartition(".")
        while ref is not None and parent:
            around = self.member(path, parent)
            if around is not None and around.kind in _CALLABLES:
                return None
            parent, _, _ = parent.rpartition(".")
        return ref

    def _follow(
        self, path: str, bindings: Iterable[Binding], rest: str, rule: Rule
    ) -> Iterable[tuple[tuple[str, ...], str, Rule]]:
        """Where the bindings of a name lead; one without a module renames a name of this file."""
        for binding in bindings:
            name = ".".join(part for part in (binding.target, rest) if part)
            if not binding.module:
                yield (path,), name, rule
                continue
            start = self.start(binding.module, name, path)
            if start is not None:
                yield start.unit, start.name, rule

    def _stars(
        self, path: str, name: str, rule: Rule
    ) -> Iterable[tuple[tuple[str, ...], str, Rule]]:
        """The units of a file's star imports that give the name away."""
        head = name.partition(".")[0]
        for binding in self.bound(path, "*"):
            start = self.start(binding.module, name, path)
            if start is not None and start.unit != (path,) and self._given(start, head):
                yield start.unit, start.name, min(rule, STAR)

    def _given(self, start: modules.Start, head: str) -> bool:
        """Whether a star import takes `head`: listed, or else by the language's own rule."""
        kind = self.kind(start.unit[0])
        exports = self.exports(start.unit[0])
        if exports is not None:
            return head in exports
        if kind == "python":
            return not head.startswith("_")
        return kind != "js" or head != "default"

    def own(self, path: str, name: str) -> frozenset[Found]:
        """What `name` means where it stands, in the file itself and its package."""
        here = self.reach((path,), name, LOCAL)
        kind = self.kind(path)
        if here or kind not in {"go", "java", "rust"}:
            return here
        if kind == "go":
            return self.reach(self.group(path), name, PACKAGE)
        return self._own_java(path, name) if kind == "java" else self._spelled_out(path, name)

    def _spelled_out(self, path: str, name: str) -> frozenset[Found]:
        """A name that begins with its unit, written where it is used (`crate::a::f()`)."""
        head, _, rest = name.partition(".")
        start = self.start(head, rest, path) if rest else None
        return self.reach(start.unit, start.name, IMPORT) if start is not None else frozenset()

    def _own_java(self, path: str, name: str) -> frozenset[Found]:
        """A class of the same package, first by its file's name; then those of `import a.b.*`."""
        head = name.partition(".")[0]
        world = self.world(path)
        unit = modules.java_class(head, self.view.package(path), path, world)
        found = self.reach(unit or self.group(path), name, PACKAGE)
        if not found:
            stars = set(self._stars(path, name, STAR))
            found = frozenset(
                one for unit, name, rule in stars for one in self.reach(unit, name, rule)
            )
        return found or self._spelled_out(path, name)

    # -- mro ---------------------------------------------------------------------------------------

    def mro(self, of: Class) -> tuple[Class, ...]:
        """A class and all it inherits from, in the order in which a member is looked for."""
        return self.remember(("mro", of), lambda: linearize(of, self.parents))

    def parents(self, of: Class) -> tuple[Class, ...]:
        """The direct bases of a class; for one that is not in the index none are known."""
        if not of.path:
            return ()
        return self.remember(("parents", of), lambda: self._parents(of))

    def _parents(self, of: Class) -> tuple[Class, ...]:
        found = []
        bare = self.kind(of.path) in {"java", "c"}
        for edge in self.bases(of.path, of.key):
            if edge.dst is not None:
                found.append(Class(of.path, edge.dst))
                continue
            base = self.standing(of.key, edge.module, edge.name, of.path)
            if base is not None and base.rest and not edge.module and bare:
                # Taken for a member of the class around it, which has none of that name.
                base = self.one("", base.rest, of.path)
            known = base is not None and not base.rest and base.kind in CLASSES
            # Two unknown bases of one spelling may be different classes: the path keeps them apart.
            unknown = Class("", f"{of.path}:{edge.module}:{edge.name}")
            found.append(Class(base.path, base.key) if base is not None and known else unknown)
        return tuple(dict.fromkeys(found))

    def standing(self, user: str, module: str, name: str, path: str) -> Found | None:
        """The only meaning of an outward name that the definition `user` says: in C++ the
        namespaces and classes around it are searched from the inside."""
        for spelling in self.spellings(user, module, name, path):
            found = self.one(module, spelling, path)
            if found is not None:
                return found
        return None

    def spellings(self, user: str, module: str, name: str, path: str) -> list[str]:
        """What a name may be in full, the innermost first."""
        if module or self.kind(path) != "c":
            return [name]
        parts = user.split(".")[:-1]
        return [".".join([*parts[:cut], name]) for cut in range(len(parts), -1, -1)]

    def one(self, module: str, name: str, path: str) -> Found | None:
        """The only meaning of an outward name, without inherited members."""
        found = self.candidates(module, name, path)
        return next(iter(found)) if len(found) == 1 else None

    def candidates(self, module: str, name: str, path: str) -> frozenset[Found]:
        """The meanings of an outward name."""
        if not module:
            found = self.own(path, name)
            if self.kind(path) != "c" or any(not f.rest or f.kind in CLASSES for f in found):
                return found
            return self.unique(path, name)  # a namespace goes on in other files
        start = self.start(module, name, path)
        return self.reach(start.unit, start.name, IMPORT) if start is not None else frozenset()

    def unique(self, path: str, name: str) -> frozenset[Found]:
        """The C family's bare names: the only global definition, or the only one included."""
        root = self.view.root(path)
        found = self.globals(root, name)
        included = self.included(path)
        near = [ref for ref in found if ref.path in included]
        chosen, rule = (near, INCLUDE) if near else (found, UNIQUE)
        if not chosen and "." in name:
            return self._unique_member(path, name)
        return frozenset(Found(ref.path, ref.key, ref.kind, "", rule) for ref in chosen)

    def _unique_member(self, path: str, name: str) -> frozenset[Found]:
        """A member that its class may have from a base: the class, with the member to be found."""
        head, _, rest = name.rpartition(".")
        return frozenset(
            one._replace(rest=rest)
            for one in self.candidates("", head, path)
            if not one.rest and one.kind in CLASSES
        )

    def included(self, path: str) -> frozenset[str]:
        """The files that a C file includes itself."""
        return self.remember(("included", path), lambda: self._included(path))

    def _included(self, path: str) -> frozenset[str]:
        starts = (self.start(binding.module, "", path) for binding in self.bound(path, "*"))
        return frozenset(start.unit[0] for start in starts if start is not None)
