"""Exactly one target or none; and binding after an edit equals binding everything."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from heimdall.core.resolve import Resolver, emits, surface
from heimdall.model import Edge, Facts, Relation
from tests.heimdall.core.project import ROOT, Project, base, call, edge, edit, file
from tests.support.size import examples

# -- Python ----------------------------------------------------------------------------------------


def test_a_from_import_reaches_the_definition_it_names() -> None:
    project = Project({"a.py": file("a.py", "f:run"), "b.py": file("b.py")})
    assert project.bind("b.py", call("a", "run")) == "a.py#run"


def test_an_explicit_import_is_bound_although_another_file_defines_the_same_name() -> None:
    project = Project(
        {
            "a.py": file("a.py", "f:_make_id"),
            "other.py": file("other.py", "f:_make_id"),
            "b.py": file("b.py"),
        }
    )
    assert project.bind("b.py", call("a", "_make_id")) == "a.py#_make_id"


def test_a_bare_name_never_reaches_a_definition_that_nothing_imports() -> None:
    project = Project({"a.py": file("a.py", "f:close"), "b.py": file("b.py")})
    assert project.bind("b.py", call("", "close")) is None


def test_a_call_of_an_outside_package_stays_pending() -> None:
    project = Project({"mock.py": file("mock.py", "f:print"), "b.py": file("b.py")})
    assert project.bind("b.py", call("accelerate", "print")) is None


def test_a_module_bound_by_an_alias_gives_its_members() -> None:
    project = Project(
        {
            "pkg/__init__.py": file("__init__.py"),
            "pkg/mod.py": file("mod.py", "f:f"),
            "b.py": file("b.py", bindings=[("m", "pkg", "mod")]),
        }
    )
    assert project.bind("b.py", call("pkg", "mod.f")) == "pkg/mod.py#f"
    assert project.bind("b.py", edge("pkg", "mod")) == "pkg/mod.py"


def test_a_name_re_exported_by_a_package_is_followed_to_where_it_is_defined() -> None:
    project = Project(
        {
            "pkg/__init__.py": file("__init__.py", bindings=[("g", ".leaf", "f")]),
            "pkg/leaf.py": file("leaf.py", "f:f"),
            "b.py": file("b.py"),
        }
    )
    assert project.bind("b.py", call("pkg", "g")) == "pkg/leaf.py#f"


def test_a_star_re_export_takes_public_names_and_those_listed() -> None:
    files = {
        "pkg/__init__.py": file("__init__.py", bindings=[("*", ".leaf", "*")]),
        "pkg/leaf.py": file("leaf.py", "f:f f:_g"),
        "b.py": file("b.py"),
    }
    assert Project(files).bind("b.py", call("pkg", "f")) == "pkg/leaf.py#f"
    assert Project(files).bind("b.py", call("pkg", "_g")) is None
    files["pkg/leaf.py"] = file("leaf.py", "f:f f:_g", exports=("_g",))
    assert Project(files).bind("b.py", call("pkg", "_g")) == "pkg/leaf.py#_g"
    assert Project(files).bind("b.py", call("pkg", "f")) is None


def test_two_star_imports_that_both_give_a_name_bind_neither() -> None:
    project = Project(
        {
            "a.py": file("a.py", "f:f"),
            "b.py": file("b.py", "f:f"),
            "c.py": file("c.py", bindings=[("*", "a", "*"), ("*", "b", "*")]),
        }
    )
    assert project.bind("c.py", call("", "f")) is None


def test_re_exports_in_a_circle_end() -> None:
    project = Project(
        {
            "a.py": file("a.py", bindings=[("*", "b", "*"), ("x", "b", "x")]),
            "b.py": file("b.py", "f:g", bindings=[("*", "a", "*"), ("x", "a", "x")]),
            "c.py": file("c.py"),
        }
    )
    assert project.bind("c.py", call("a", "x")) is None
    assert project.bind("c.py", call("a", "g")) == "b.py#g"


def test_a_function_inside_a_function_cannot_be_imported() -> None:
    project = Project({"a.py": file("a.py", "f:f f:f.inner"), "b.py": file("b.py")})
    assert project.bind("b.py", call("a", "f.inner")) is None


def test_an_inherited_method_is_found_across_files() -> None:
    project = Project(
        {
            "a.py": file("a.py", "c:Base m:Base.run"),
            "b.py": file("b.py", "c:Mid", [base("Mid", "a", "Base")], [("Base", "a", "Base")]),
            "c.py": file("c.py", "c:Top", [base("Top", "b", "Mid")]),
        }
    )
    assert project.bind("c.py", call("", "Top.run", "self")) == "a.py#Base.run"


def test_the_nearer_class_in_the_method_order_wins() -> None:
    project = Project(
        {
            "a.py": file(
                "a.py",
                "c:O m:O.f c:L c:R m:R.f c:D",
                [
                    base("L", "", "O", "O"),
                    base("R", "", "O", "O"),
                    base("D", "", "L", "L"),
                    base("D", "", "R", "R"),
                ],
            )
        }
    )
    assert project.bind("a.py", call("", "D.f")) == "a.py#R.f"


def test_super_passes_over_the_class_itself() -> None:
    project = Project(
        {
            "a.py": file("a.py", "c:A m:A.f"),
            "b.py": file("b.py", "c:B m:B.f", [base("B", "a", "A")]),
        }
    )
    assert project.bind("b.py", call("", "B.f", "super")) == "a.py#A.f"
    assert project.bind("b.py", call("", "B.f", "self")) == "b.py#B.f"


def test_classes_that_inherit_from_each_other_end() -> None:
    project = Project(
        {
            "a.py": file("a.py", "c:A", [base("A", "b", "B")]),
            "b.py": file("b.py", "c:B m:B.f", [base("B", "a", "A")]),
        }
    )
    assert project.bind("a.py", call("", "A.f")) == "b.py#B.f"
    assert project.bind("a.py", call("", "A.g")) is None


def test_a_thousand_classes_deep_is_no_recursion() -> None:
    edges = [base(f"C{n}", "", f"C{n - 1}", f"C{n - 1}") for n in range(1, 3000)]
    nodes = " ".join(f"c:C{n}" for n in range(3000)) + " m:C0.f"
    project = Project({"a.py": file("a.py", nodes, edges)})
    assert project.bind("a.py", call("", "C2999.f")) == "a.py#C0.f"


def test_calling_a_class_calls_its_constructor_where_it_has_one() -> None:
    project = Project(
        {
            "a.py": file("a.py", "c:A m:A.__init__ c:B c:C", [base("C", "", "A", "A")]),
            "b.py": file("b.py"),
        }
    )
    assert project.bind("b.py", call("a", "A")) == "a.py#A.__init__"
    assert project.bind("b.py", call("a", "B")) == "a.py#B"
    assert project.bind("b.py", call("a", "C")) == "a.py#A.__init__"
    assert project.bind("b.py", edge("a", "A")) == "a.py#A"


def test_an_unknown_base_before_the_one_found_lowers_the_confidence() -> None:
    project = Project(
        {
            "a.py": file("a.py", "c:A m:A.f"),
            "b.py": file("b.py", "c:B", [base("B", "elsewhere", "X"), base("B", "a", "A")]),
        }
    )
    target = Resolver(project).resolve(call("", "B.f"), f"{ROOT}/b.py")
    assert target is not None
    assert (target.strategy, target.confidence) == ("mro-partial", 0.6)


# -- other families --------------------------------------------------------------------------------


def test_javascript_follows_renaming_and_star_exports() -> None:
    project = Project(
        {
            "lib/index.ts": file("index.ts", bindings=[("Y", "./x", "X"), ("*", "./z", "*")]),
            "lib/x.ts": file("x.ts", "c:X m:X.constructor"),
            "lib/z.ts": file("z.ts", "f:zed f:hidden", exports=("zed",)),
            "app.ts": file("app.ts"),
        }
    )
    assert project.bind("app.ts", call("./lib", "Y")) == "lib/x.ts#X.constructor"
    assert project.bind("app.ts", call("./lib", "zed")) == "lib/z.ts#zed"
    assert project.bind("app.ts", call("./lib", "hidden")) is None


def test_go_files_of_one_package_see_each_other_and_no_other_package() -> None:
    project = Project(
        {
            "p/a.go": file("a.go", "f:run c:T", package="p"),
            "p/b.go": file("b.go", "m:T.go", package="p"),
            "p/x_test.go": file("x_test.go", "f:run", package="p_test"),
            "q/c.go": file("c.go", "f:stop", package="q"),
        }
    )
    assert project.bind("p/b.go", call("", "run")) == "p/a.go#run"
    assert project.bind("p/a.go", call("", "T.go")) == "p/b.go#T.go"
    assert project.bind("p/a.go", call("", "stop")) is None


def test_java_finds_classes_of_the_package_and_of_star_imports() -> None:
    project = Project(
        {
            "src/a/A.java": file("A.java", "c:A m:A.A m:A.f c:Second m:Second.g", package="a"),
            "src/a/B.java": file("B.java", "c:B", [base("B", "", "A")], package="a"),
            "src/b/C.java": file("C.java", "c:C", bindings=[("*", "a", "*")], package="b"),
        }
    )
    assert project.bind("src/a/B.java", call("", "A.f")) == "src/a/A.java#A.f"
    assert project.bind("src/a/B.java", call("", "B.f")) == "src/a/A.java#A.f"
    assert project.bind("src/a/B.java", call("", "Second.g")) == "src/a/A.java#Second.g"
    assert project.bind("src/b/C.java", call("", "A")) == "src/a/A.java#A.A"
    assert project.bind("src/b/C.java", call("a", "A.f")) == "src/a/A.java#A.f"


def test_a_bare_c_name_binds_to_the_only_global_definition() -> None:
    files = {
        "a.c": file("a.c", "f:work"),
        "b.c": file("b.c", bindings=[("*", "w.h", "*")]),
        "w.h": file("w.h"),
    }
    assert Project(files).bind("b.c", call("", "work")) == "a.c#work"
    files["c.c"] = file("c.c", "f:work")
    assert Project(files).bind("b.c", call("", "work")) is None
    files["w.h"] = file("w.h", "f:work")
    assert Project(files).bind("b.c", call("", "work")) == "w.h#work"


def test_a_static_c_function_is_not_seen_from_another_file() -> None:
    project = Project({"a.c": file("a.c", "f:work f:open", exports=("open",)), "b.c": file("b.c")})
    assert project.bind("b.c", call("", "work")) is None
    assert project.bind("b.c", call("", "open")) == "a.c#open"


def test_an_inherited_cpp_method_defined_out_of_line_is_found() -> None:
    project = Project(
        {
            "base.h": file("base.h", "c:Base"),
            "base.cpp": file("base.cpp", "m:Base.run"),
            "d.cpp": file("d.cpp", "c:D", [base("D", "", "Base")], [("*", "base.h", "*")]),
        }
    )
    assert project.bind("d.cpp", call("", "D.run")) == "base.cpp#Base.run"
    assert project.bind("d.cpp", call("", "Base.run")) == "base.cpp#Base.run"


# -- tokens ----------------------------------------------------------------------------------------


def test_an_edit_inside_a_function_emits_nothing() -> None:
    before = surface(ROOT, file("a.py", "f:f", [call("b", "g")]))
    after = surface(ROOT, file("a.py", "f:f", [call("b", "h"), edge("", "x")]))
    assert emits("/r/a.py", before, after) == frozenset()


def test_a_new_function_emits_its_own_name_alone() -> None:
    before, after = surface(ROOT, file("a.py", "f:f")), surface(ROOT, file("a.py", "f:f f:g"))
    assert emits("/r/a.py", before, after) == {"a:g"}


def test_a_file_that_comes_or_goes_emits_its_unit() -> None:
    some = surface(ROOT, file("a.py", "f:f"))
    assert emits("/r/p/a.py", None, some) == {"a:"}
    assert emits("/r/p/a.py", some, None) == {"a:"}


def test_a_new_global_of_c_emits_its_name_for_everybody() -> None:
    before, after = surface(ROOT, file("a.c", "f:f")), surface(ROOT, file("a.c", "f:f f:g"))
    assert emits("/r/a.c", before, after) == {"a.c:g", "*:g"}


# -- the law ---------------------------------------------------------------------------------------

NAMES = ("f", "A", "B", "_p")
MEMBERS = (
    "f:f",
    "c:A",
    "c:B",
    "m:A.f",
    "m:B.f",
    "m:A.__init__",
    "m:B.B",
    "f:_p",
    "v:A",
    "f:x",
    "c:A.B",
)
STYLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "python": (
        ("x.py", "y.py", "p/__init__.py", "p/x.py", "p/q/__init__.py", "p/q/x.py", "q/x.py"),
        ("x", "y", "p", "p.x", "p.q", "p.q.x", "q", ".", ".x", "..", "..x", ".q", "q.x"),
    ),
    "js": (
        ("x.ts", "x.js", "p/index.ts", "p/x.ts", "p/q/index.js", "p/q/x.js"),
        ("./x", "./x.js", "./p", "./p/x", "..", "../x", ".", "./q", "./q/x", "lodash"),
    ),
    "go": (
        ("go.mod", "m.go", "p/a.go", "p/b.go", "p/a_test.go", "q/p/c.go", "q/go.mod"),
        ("m.io/r", "m.io/r/p", "m.io/r/q/p", "m.io/q/p", "fmt", "r/p"),
    ),
    "rust": (
        ("src/lib.rs", "src/main.rs", "src/x.rs", "src/x/y.rs", "src/x/mod.rs", "tests/y.rs"),
        ("crate", "crate::x", "crate::x::y", "self::x", "self::y", "super", "super::y", "r::x"),
    ),
    "java": (
        ("s/A.java", "s/B.java", "t/A.java", "t/f.java", "s/C.java"),
        ("a", "a.b", "a.A", "a.b.B"),
    ),
    "c": (
        ("a.c", "b.cpp", "x.h", "p/x.h", "p/y.h", "p/z.cpp"),
        ("x.h", "p/x.h", "y.h", "../x.h", "none.h"),
    ),
}
PACKAGES = {"java": ("a", "a.b", "a"), "go": ("p", "p", "q")}
MODULES = ("m.io/r", "m.io/q", "")


class Dice:
    """Random files of one style; names and units are few, so that they meet."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.style = self.random.choice(sorted(STYLES))
        self.paths, self.units = STYLES[self.style]

    def name(self) -> str:
        name = self.random.choice(("", "x", "q", *NAMES, *NAMES))
        return f"{name}.{self.random.choice(NAMES)}" if name and self.chance(0.4) else name

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def unit(self) -> str:
        return "" if self.chance(0.3) else self.random.choice(self.units)

    def edge(self) -> Edge:
        if self.chance(0.3):
            return base(self.random.choice("AB"), self.unit(), self.random.choice(NAMES))
        if self.chance(0.2):
            return self.random.choice((base("A", "", "B", "B"), base("A", "none", "None")))
        relation = self.random.choice((Relation.CALLS, Relation.USES))
        strategy = self.random.choice(("import", "self", "super"))
        unit = self.unit()
        src = self.random.choice(("", "f", "A.f", "B.f", "A.B.f"))
        return edge(unit, self.name() or "f" * (not unit), relation, src, strategy)

    def binding(self) -> tuple[str, str, str]:
        if self.chance(0.5):
            return ("*", self.random.choice(self.units), "*")
        unit = self.unit()
        return (self.random.choice(("x", *NAMES)), unit, self.name() or "f" * (not unit))

    def file(self, path: str) -> Facts | None:
        if self.chance(0.15):
            return None
        if path.endswith("go.mod"):
            return file(path, package=self.random.choice(MODULES))
        some = range(self.random.randrange(6))
        return file(
            path,
            " ".join(self.random.choice(MEMBERS) for _ in some),
            [self.edge() for _ in range(8)],
            [self.binding() for _ in range(self.random.randrange(3))],
            self.random.choice(PACKAGES.get(self.style, ("",))),
            tuple(self.random.choice(NAMES) for _ in some) if self.chance(0.2) else None,
        )

    def project(self) -> Project:
        files = {path: self.file(path) for path in self.paths}
        return Project({path: facts for path, facts in files.items() if facts is not None})


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32))
def test_binding_what_the_tokens_reach_equals_binding_everything(seed: int) -> None:
    dice = Dice(seed)
    project = dice.project()
    held = project.scratch()
    for _ in range(4):
        path = dice.random.choice(dice.paths)
        held = edit(project, held, path, dice.file(path))
        assert held == project.scratch()


def test_the_law_meets_every_rule() -> None:
    bound = [
        target.strategy
        for seed in range(100)
        for one in Dice(seed).project().scratch().values()
        for target in one.targets
        if target is not None
    ]
    rules = {"import", "package", "reexport", "star", "mro", "include", "unique-name"}
    assert rules | {"mro-partial", "super"} <= set(bound)
