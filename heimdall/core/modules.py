"""Where a unit lies that a file names: from a language's spelling to paths.

Path arithmetic and the languages' own search rules; whether a path exists is asked of a `World`,
which sees one root and one family of languages. A rule that leaves two equally good places answers
with none. `starts` is the way in; `inner` finds a submodule of a package that was already found.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from posixpath import join, normpath
from typing import NamedTuple, Protocol, TypeVar

_T = TypeVar("_T")
_FAMILIES = {
    "python": "python",
    "javascript": "js",
    "jsx": "js",
    "typescript": "js",
    "tsx": "js",
    "go": "go",
    "gomod": "go",
    "rust": "rust",
    "java": "java",
    "c": "c",
    "cpp": "c",
}
_WHOLE_NAME = frozenset(
    {".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp"}
)
_PYTHON_SUFFIXES = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts", ".d.ts")
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_SPELLED_AS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
# Each file directly in one of these is a Rust crate of its own.
_CRATES = frozenset({"tests", "benches", "examples", "bin"})
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
# First parts of the import paths of Go's own library that have more than one part.
_GO_LIBRARY = (
    " archive compress container context crypto database debug embed encoding go hash html image "
    "index internal io iter log math mime net os path reflect regexp runtime sync syscall testing "
    "text time unicode unique unsafe vendor "
)


class World(Protocol):
    """The present paths of one root and family."""

    def tails(self, tail: str) -> Sequence[str]:
        """Those with this unit tail, sorted."""
        ...

    def package(self, path: str) -> str:
        """What such a path declares itself part of."""
        ...

    def remember(self, key: tuple[str, ...], compute: Callable[[], _T]) -> _T:
        """The value of `compute()`, which asks this world alone and is a function of `key`."""
        ...


class Start(NamedTuple):
    """A unit (its paths; a Go package has several) and the dotted name to look up in it."""

    unit: tuple[str, ...]
    name: str


def family(language: str) -> str:
    """The family of languages whose files can name each other, "" where none can."""
    return _FAMILIES.get(language, "")


def dirname(path: str) -> str:
    """The folder of a normal path."""
    # A third of the price of posixpath's, which a binding of everything asks 100,000 times.
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else "")


def basename(path: str) -> str:
    """The last part of a normal path."""
    return path.rpartition("/")[2]


def splitext(path: str) -> tuple[str, str]:
    """As posixpath's."""
    stem, dot, suffix = path.rpartition(".")
    if dot and "/" not in suffix and basename(stem).strip("."):
        return stem, dot + suffix
    return path, ""


def tail(path: str) -> str:
    """The last part of the name by which other files import this one."""
    name = basename(path)
    stem, suffix = splitext(name)
    if suffix in _WHOLE_NAME or suffix == ".mod":
        return name
    if suffix == ".go" or stem in {"__init__", "index", "mod"}:
        return basename(dirname(path))
    if suffix == ".rs" and stem in {"lib", "main"}:
        return _crate_name(path)
    return stem.removesuffix(".d")


def starts(kind: str, module: str, name: str, path: str, world: World) -> Start | None:
    """Where to begin looking for `name` of the unit that `path` calls `module`.

    `kind` is the family of `path`. None where the unit is not in the world, or where more than
    one place fits equally well.
    """
    rule = _RULES.get(kind)
    return rule(module, name, path, world) if rule is not None else None


def inner(kind: str, path: str, head: str, world: World) -> tuple[str, ...]:
    """The submodule `head` of the unit at `path`, () where there is none."""
    if kind == "python" and basename(path).startswith("__init__."):
        return _first(world, _python_files(f"{dirname(path)}/{head}"))
    if kind == "rust":
        places = (f"{folder}/{head}" for folder in _rust_folders(path))
        return _first(world, (file for place in places for file in _rust_files(place)))
    return ()


def folder_files(unit: Iterable[str]) -> tuple[str, ...]:
    """A Go unit's files in the order in which one may stand for the package: the one named like
    its folder, then doc.go, then by name with tests last."""
    return tuple(sorted(unit, key=lambda path: (*_standing(path), path)))


def _standing(path: str) -> tuple[bool, bool, bool]:
    name = basename(path)
    return (
        name != f"{basename(dirname(path))}.go",
        name != "doc.go",
        name.endswith("_test.go"),
    )


def _first(world: World, candidates: Iterable[str]) -> tuple[str, ...]:
    """The first candidate that exists: for rules where the language itself orders them."""
    for path in candidates:
        if path in world.tails(tail(path)):
            return (path,)
    return ()


def _nearest(places: dict[str, str], origin: str) -> tuple[str, ...]:
    """Of {path: its folder}, the one that shares most leading folders with `origin`."""
    best = max((_shared(folder, origin) for folder in places.values()), default=0)
    found = [path for path, folder in places.items() if _shared(folder, origin) == best]
    return tuple(found) if len(found) == 1 else ()


def _shared(one: str, other: str) -> int:
    """How many leading folders two absolute folders have in common."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count


# -- Python ----------------------------------------------------------------------------------------


def _python(module: str, name: str, path: str, world: World) -> Start | None:
    """A module or package; a folder without `__init__` has no names but its submodules'."""
    origin = dirname(path)
    unit = _python_unit(module, origin, world)
    while not unit and name:
        head, _, name = name.partition(".")
        module = f"{module}{head}" if module.endswith(".") else f"{module}.{head}"
        unit = _python_unit(module, origin, world)
    return Start(unit, name) if unit else None


def _python_unit(module: str, origin: str, world: World) -> tuple[str, ...]:
    # Many names are asked of one module, in one folder.
    key = ("python", origin, module)
    return world.remember(key, lambda: _python_search(module, origin, world))


def _python_search(module: str, origin: str, world: World) -> tuple[str, ...]:
    rest = module.lstrip(".")
    dots = len(module) - len(rest)
    if not dots:
        return _python_absolute(module, origin, world)
    base = origin
    for _ in range(dots - 1):
        base = dirname(base)
    stem = f"{base}/{rest.replace('.', '/')}" if rest else base
    files = _python_files(stem)
    return _first(world, files if rest else (files[0], files[2]))


def _python_files(stem: str) -> tuple[str, ...]:
    return tuple(stem + suffix for suffix in _PYTHON_SUFFIXES)


def _python_absolute(module: str, origin: str, world: World) -> tuple[str, ...]:
    """The module under the nearest folder that can be on the interpreter's path.

    Its source root (the folder of the first part) holds the importer, or else there is only one
    as near: a root that is itself a package is none, except for a script beside its module. What
    the standard library has is bound only by a root that holds the importer.
    """
    roots = _python_roots("/" + module.replace(".", "/"), world)
    ranked: dict[tuple[int, int], list[str]] = {}
    for root, path in roots.items():
        rank = _python_rank(root, path, module, origin, world)
        if rank is not None:
            ranked.setdefault(rank, []).append(path)
    if not ranked:
        return ()
    best = ranked[min(ranked)]
    return (best[0],) if len(best) == 1 else ()


def _python_roots(stem: str, world: World) -> dict[str, str]:
    """Source root -> the module's file there, a package before a module, a source before a stub."""
    found: dict[str, str] = {}
    paths = world.tails(basename(stem))
    for suffix in _PYTHON_SUFFIXES:
        end = stem + suffix
        for path in paths:
            if path.endswith(end):
                found.setdefault(path[: -len(end)], path)
    return found


def _python_rank(
    root: str, path: str, module: str, origin: str, world: World
) -> tuple[int, int] | None:
    """Lower is better; None for a root that cannot be meant."""
    packaged = bool(_first(world, (f"{root}/__init__.py",)))
    holds = origin == root or origin.startswith(f"{root}/")
    if holds and not packaged:
        return (0, -len(root))
    if module.partition(".")[0] in sys.stdlib_module_names:
        return None
    if packaged:
        return (2, 0) if origin == root else None
    plain = "." not in module and not basename(path).startswith("__init__.")
    if plain and basename(root) not in _SOURCE_FOLDERS:
        return None
    return (1, -_shared(root, origin))


# -- JavaScript and TypeScript ---------------------------------------------------------------------


def _js(module: str, name: str, path: str, world: World) -> Start | None:
    """A relative file: as spelled, with a suffix, as a folder's index. Packages are not ours."""
    if not module.startswith(("./", "../", "/")) and module not in {".", ".."}:
        return None
    stem = normpath(join(dirname(path), module))
    own = splitext(path)[1] in {".js", ".jsx", ".mjs", ".cjs"}
    suffixes = _JAVASCRIPT + _TYPESCRIPT if own else _TYPESCRIPT + _JAVASCRIPT
    unit = _first(world, _js_files(stem, suffixes))
    return Start(unit, name) if unit else None


def _js_files(stem: str, suffixes: tuple[str, ...]) -> list[str]:
    bare, suffix = splitext(stem)
    files = [stem] if suffix in suffixes else []
    # TypeScript spells the import of a source by the name of what it compiles to.
    files += [bare + other for other in _SPELLED_AS.get(suffix, ())]
    files += [stem + other for other in suffixes]
    return files + [f"{stem}/index{other}" for other in suffixes]


# -- Go --------------------------------------------------------------------------------------------


def _go(module: str, name: str, path: str, world: World) -> Start | None:
    """A package folder: below the go.mod whose module path begins the import path."""
    folder = _go_folder(module, path, world)
    if not folder:
        return None
    files = [p for p in world.tails(basename(folder)) if p.endswith(".go") and dirname(p) == folder]
    unit = [p for p in files if not p.endswith("_test.go")]
    return Start(folder_files(unit), name) if unit else None


def _go_folder(module: str, path: str, world: World) -> str:
    modules = world.tails("go.mod")
    fitting = {
        mod: len(world.package(mod))
        for mod in modules
        if f"{module}/".startswith(f"{world.package(mod)}/") and world.package(mod)
    }
    if fitting:
        longest = max(fitting.values())
        found = {mod: dirname(mod) for mod, length in fitting.items() if length == longest}
        base = _nearest(found, dirname(path))
        return normpath(f"{dirname(base[0])}/{module[longest:]}") if base else ""
    return "" if modules else _go_by_suffix(module, world)


def _go_by_suffix(module: str, world: World) -> str:
    """Without any go.mod in sight: the one folder that ends like the import path, of which only
    the host and its next part may be missing. Go's own library is never ours."""
    parts = module.split("/")
    hosted = "." in parts[0]
    if not hosted and f" {parts[0]} " in _GO_LIBRARY:
        return ""
    end = "/" + "/".join(parts[2:] if hosted else parts)
    folders = {dirname(p) for p in world.tails(parts[-1]) if dirname(p).endswith(end)}
    return folders.pop() if len(folders) == 1 else ""


# -- Rust ------------------------------------------------------------------------------------------


def _rust(module: str, name: str, path: str, world: World) -> Start | None:
    """`crate::a::b`, `self::`, `super::`, or a crate of the same root by its folder's name.

    Parts that are no file may be inline modules of the last one that is: they go before the name.
    """
    first, *rest = module.split("::")
    if first == "self" and rest:
        unit = inner("rust", path, rest[0], world)
        if unit and len(rest) == 1:
            return Start(unit, name)
    folder, entry = _rust_base(first, path, world)
    while rest and rest[0] == "super" and folder:
        folder, rest = dirname(folder), rest[1:]
        entry = _rust_entry(folder, world)
    if not folder:
        return None
    for cut in range(len(rest), 0, -1):
        unit = _first(world, _rust_files("/".join([folder, *rest[:cut]])))
        if unit:
            return Start(unit, ".".join([*rest[cut:], *([name] if name else [])]))
    return Start(entry, ".".join([*rest, *([name] if name else [])])) if entry else None


def _rust_base(first: str, path: str, world: World) -> tuple[str, tuple[str, ...]]:
    """The folder of the submodules that the path's first part has, and the part's own file."""
    if first == "self":
        return _rust_folder(path), (path,)
    if first == "super":
        folder = dirname(_rust_folder(path))
        return folder, _rust_entry(folder, world)
    if first == "crate":
        return _rust_crate(path, world)
    found = {p: dirname(p) for p in world.tails(first) if p.endswith("/lib.rs")}
    unit = _nearest(found, dirname(path))
    if unit:
        return dirname(unit[0]), unit
    beside = _rust_folder(path)
    unit = _first(world, _rust_files(f"{beside}/{first}"))
    return (f"{beside}/{first}", unit) if unit else ("", ())


def _rust_crate(path: str, world: World) -> tuple[str, tuple[str, ...]]:
    """The nearest folder above `path` with a lib.rs or main.rs."""
    folder = dirname(path)
    while len(folder) > 1:
        unit = _first(world, (f"{folder}/lib.rs", f"{folder}/main.rs"))
        if unit:
            return folder, unit
        if folder == dirname(path) and basename(folder) in _CRATES:
            return folder, (path,)
        folder = dirname(folder)
    return "", ()


def _rust_entry(folder: str, world: World) -> tuple[str, ...]:
    """The file whose submodules lie in `folder`."""
    files = (f"{folder}.rs", f"{folder}/mod.rs", f"{folder}/lib.rs", f"{folder}/main.rs")
    return _first(world, files)


def _rust_files(stem: str) -> tuple[str, str]:
    return f"{stem}.rs", f"{stem}/mod.rs"


def _rust_folders(path: str) -> tuple[str, ...]:
    """As `_rust_folder`; a file that is a crate of its own has them beside it."""
    own = _rust_folder(path)
    beside = dirname(path)
    return (own, beside) if basename(beside) in _CRATES and own != beside else (own,)


def _rust_folder(path: str) -> str:
    """Where the submodules of a file lie."""
    stem = splitext(basename(path))[0]
    return dirname(path) if stem in {"mod", "lib", "main"} else f"{dirname(path)}/{stem}"


def _crate_name(path: str) -> str:
    folder = dirname(path)
    folder = dirname(folder) if basename(folder) == "src" else folder
    return basename(folder).replace("-", "_")


# -- Java ------------------------------------------------------------------------------------------


def _java(module: str, name: str, path: str, world: World) -> Start | None:
    """The file of a class: its package is what stands before, nested classes and members after."""
    parts = [*module.split("."), *(name.split(".") if name else [])]
    for cut in range(len(parts) - 1, 0, -1):
        package = ".".join(parts[:cut])
        unit = java_class(parts[cut], package, path, world)
        if unit:
            return Start(unit, ".".join(parts[cut:]))
    return None


def java_class(name: str, package: str, path: str, world: World) -> tuple[str, ...]:
    """The file named like the class `name` of `package`, the nearest where a test shadows it."""
    found = {
        p: dirname(p)
        for p in world.tails(name)
        if p.endswith(".java") and world.package(p) == package
    }
    return _nearest(found, dirname(path))


# -- C and C++ -------------------------------------------------------------------------------------


def _c(module: str, name: str, path: str, world: World) -> Start | None:
    """An included file: beside the includer, else the only one, or nearest, that ends so."""
    beside = normpath(join(dirname(path), module))
    unit = _first(world, (beside,))
    if not unit:
        end = f"/{module.lstrip('./')}"
        found = {p: dirname(p) for p in world.tails(basename(module)) if p.endswith(end)}
        unit = _nearest(found, dirname(path))
    return Start(unit, name) if unit else None


_RULES: dict[str, Callable[[str, str, str, World], Start | None]] = {
    "python": _python,
    "js": _js,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _c,
}
