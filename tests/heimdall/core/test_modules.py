"""Where a unit lies: each language's own search rules, and none where two places fit equally."""

import pytest

from heimdall.core.modules import family, folder_files, tail
from heimdall.model import Facts
from tests.heimdall.core.project import Project, edge, file


def project(*paths: str, **packages: str) -> Project:
    files: dict[str, Facts] = {path: file(path) for path in paths}
    for name, package in packages.items():
        path = name.replace("__", "/").replace("_mod", ".mod").replace("_java", ".java")
        files[path] = file(path, "c:A" if path.endswith(".java") else "", package=package)
    return Project(files)


def found(places: Project, origin: str, module: str, name: str = "") -> str | None:
    return places.bind(origin, edge(module, name))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/r/a/b.py", "b"),
        ("/r/a/__init__.py", "a"),
        ("/r/a/index.ts", "a"),
        ("/r/a/b.d.ts", "b"),
        ("/r/a/b.go", "a"),
        ("/r/go.mod", "go.mod"),
        ("/r/my-crate/src/lib.rs", "my_crate"),
        ("/r/src/a/mod.rs", "a"),
        ("/r/a/B.java", "B"),
        ("/r/a/b.h", "b.h"),
        ("/r/script", "script"),
    ],
)
def test_a_unit_is_known_by_its_tail(path: str, expected: str) -> None:
    assert tail(path) == expected


def test_a_language_without_imports_has_no_family() -> None:
    assert family("markdown") == ""


def test_python_prefers_the_source_root_that_holds_the_importer() -> None:
    places = project("one/pkg/m.py", "two/pkg/m.py", "one/app/x.py", "x.py")
    assert found(places, "one/app/x.py", "pkg.m") == "one/pkg/m.py"
    assert found(places, "x.py", "pkg.m") is None


def test_python_finds_the_source_folder_beside_the_tests() -> None:
    places = project("src/m.py", "src/pkg/__init__.py", "tests/t.py", "fakes/requests.py")
    assert found(places, "tests/t.py", "m") == "src/m.py"
    assert found(places, "tests/t.py", "pkg") == "src/pkg/__init__.py"
    assert found(places, "tests/t.py", "requests") is None


def test_python_knows_a_module_in_a_package_only_by_its_full_name() -> None:
    places = project("pkg/__init__.py", "pkg/json.py", "pkg/helpers.py", "pkg/sub/x.py", "app.py")
    assert found(places, "pkg/sub/x.py", "json") is None
    assert found(places, "pkg/sub/x.py", "helpers") is None
    assert found(places, "app.py", "pkg.helpers") == "pkg/helpers.py"


def test_python_runs_a_script_beside_its_module() -> None:
    places = project("pkg/__init__.py", "pkg/helpers.py", "pkg/json.py", "pkg/x.py")
    assert found(places, "pkg/x.py", "helpers") == "pkg/helpers.py"
    assert found(places, "pkg/x.py", "json") is None


def test_python_takes_a_package_before_a_module_and_a_source_before_a_stub() -> None:
    places = project("a/__init__.py", "a.py", "b.py", "b.pyi", "x.py")
    assert found(places, "x.py", "a") == "a/__init__.py"
    assert found(places, "x.py", "b") == "b.py"


def test_python_looks_into_a_folder_without_init_for_submodules_alone() -> None:
    places = project("ns/m.py", "x.py", "ns/y.py")
    assert found(places, "x.py", "ns") is None
    assert found(places, "x.py", "ns", "m") == "ns/m.py"
    assert found(places, "ns/y.py", ".", "m") == "ns/m.py"
    assert found(places, "ns/y.py", "..", "x") == "x.py"


def test_javascript_tries_suffixes_and_the_folder_s_index() -> None:
    places = project("a.ts", "a.js", "lib/index.js", "x.ts", "y.js", "sub/z.ts")
    assert found(places, "x.ts", "./a") == "a.ts"
    assert found(places, "y.js", "./a") == "a.js"
    assert found(places, "sub/z.ts", "../lib") == "lib/index.js"
    assert found(places, "x.ts", "lib") is None


def test_typescript_may_spell_a_source_by_what_it_compiles_to() -> None:
    assert found(project("a.ts", "x.ts"), "x.ts", "./a.js") == "a.ts"


def test_go_finds_a_package_below_the_module_that_the_path_begins_with() -> None:
    places = project("util/u.go", "main.go", "errors/e.go", go_mod="m.io/proj")
    assert found(places, "main.go", "m.io/proj/util") == "util/u.go"
    assert found(places, "main.go", "other.io/lib/util") is None
    assert found(places, "main.go", "errors") is None


def test_go_without_a_module_file_wants_the_whole_path_below_the_host() -> None:
    places = project("proj/util/u.go", "main.go", "http/h.go")
    assert found(places, "main.go", "github.com/me/proj/util") == "proj/util/u.go"
    assert found(places, "main.go", "github.com/other/lib/util") is None
    assert found(places, "main.go", "net/http") is None


def test_go_lets_the_best_known_file_stand_for_the_package() -> None:
    assert folder_files(["/p/z_test.go", "/p/b.go", "/p/doc.go"])[0] == "/p/doc.go"
    assert folder_files(["/p/a.go", "/p/p.go"])[0] == "/p/p.go"


def test_rust_walks_from_the_crate_from_itself_and_from_its_parent() -> None:
    places = project("src/lib.rs", "src/a/mod.rs", "src/a/b.rs", "src/c.rs", "src/c/d.rs")
    assert found(places, "src/a/b.rs", "crate::c") == "src/c.rs"
    assert found(places, "src/c.rs", "self::d") == "src/c/d.rs"
    assert found(places, "src/a/b.rs", "super") == "src/a/mod.rs"
    assert found(places, "src/a/b.rs", "super::super::c") == "src/c.rs"
    assert found(places, "src/lib.rs", "crate::a::b") == "src/a/b.rs"


def test_rust_names_another_crate_of_the_root_by_its_folder() -> None:
    places = project("my-core/src/lib.rs", "my-core/src/a.rs", "app/src/main.rs")
    assert found(places, "app/src/main.rs", "my_core::a") == "my-core/src/a.rs"
    assert found(places, "app/src/main.rs", "serde::a") is None


def test_rust_takes_each_file_of_the_tests_folder_for_a_crate() -> None:
    places = project("src/lib.rs", "src/env.rs", "tests/t.rs", "tests/env/mod.rs")
    assert found(places, "tests/t.rs", "self::env") == "tests/env/mod.rs"
    assert found(places, "tests/t.rs", "crate::env") == "tests/env/mod.rs"


def test_java_finds_a_class_by_its_package_and_not_by_its_folder() -> None:
    places = project("x/X.java", x__A_java="a.b", y__A_java="c")
    assert found(places, "x/X.java", "a.b.A") == "x/A.java#A"
    assert found(places, "x/X.java", "a.b", "A") == "x/A.java#A"
    assert found(places, "x/X.java", "d", "A") is None


def test_c_takes_the_file_beside_before_the_nearest_that_ends_so() -> None:
    places = project("a/x.h", "b/x.h", "a/m.c", "m.c", "include/lib/y.h")
    assert found(places, "a/m.c", "x.h") == "a/x.h"
    assert found(places, "m.c", "x.h") is None
    assert found(places, "m.c", "lib/y.h") == "include/lib/y.h"
