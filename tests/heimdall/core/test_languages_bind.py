"""From source text to bound edges, across the files of small projects in every language."""

import pytest

from heimdall.extract.facts import facts
from heimdall.model import Depth
from tests.heimdall.core.project import ROOT, Project


def bound(**sources: str) -> set[str]:
    """All edges that left a file and were bound, as `relation src -> target` with short paths."""
    files = {}
    for name, text in sources.items():
        path = name.replace("__", "/").replace("_DOT_", ".")
        files[path] = facts(path, text.encode(), Depth.GRAPH)
    project = Project(files)
    found = set()
    for path, held in project.scratch().items():
        for edge, target in zip(project.outward(path), held.targets, strict=True):
            if target is not None:
                place = f"{target.path}#{target.key}".removeprefix(f"{ROOT}/").rstrip("#")
                found.add(f"{edge.relation} {edge.src or '-'} -> {place}")
    return found


def test_go_binds_packages_receivers_and_embedded_types() -> None:
    assert bound(
        go_DOT_mod="module m.io/proj\n",
        main_DOT_go="""package main
import "m.io/proj/store"
type App struct { *store.Store }
func (a *App) Run() { a.Open(); a.stop(); helper(); s := store.New(); s.Open() }
""",
        more_DOT_go="""package main
func helper() {}
func (a *App) stop() {}
""",
        store__store_DOT_go="""package store
type Store struct{}
func New() *Store { return &Store{} }
func (s *Store) Open() { s.Close() }
""",
        store__close_DOT_go="package store\nfunc (s *Store) Close() {}\n",
        other__other_DOT_go="package other\nfunc helper() {}\nfunc unrelated() { Open() }\n",
    ) >= {
        "imports - -> store/store.go",
        "inherits App -> store/store.go#Store",
        "calls App.Run -> store/store.go#Store.Open",
        "calls App.Run -> more.go#App.stop",
        "calls App.Run -> more.go#helper",
        "calls App.Run -> store/store.go#New",
        "calls Store.Open -> store/close.go#Store.Close",
        "uses App.stop -> main.go#App",
    }


def test_rust_binds_uses_self_types_and_traits() -> None:
    found = bound(
        src__main_DOT_rs="""mod shape;
use crate::shape::{Circle, area as size, draw::*};
struct Big { inner: Circle }
impl Big { fn grow(&self) { self.inner.turn(); self.shrink(); size(1); paint();
  Circle::new(); crate::shape::area(2); } }
""",
        src__shape__mod_DOT_rs="""pub mod draw;
use self::draw::Draw;
pub struct Circle;
impl Circle { pub fn new() -> Self { Self::make() } fn make() -> Circle { Circle } }
impl Draw for Circle {}
pub fn area(x: i32) {}
fn test(c: &Circle) { c.turn(); super::missing(); }
""",
        src__shape__draw_DOT_rs="""pub trait Draw {
  fn turn(&self) { self.twist() } fn twist(&self);
}
pub fn paint() {}
mod tests { use super::*; fn t() { paint(); } }
""",
    )
    assert found >= {
        "imports - -> src/shape/mod.rs",
        "imports - -> src/shape/draw.rs",
        "imports - -> src/shape/mod.rs#area",
        "calls Big.grow -> src/shape/mod.rs#area",
        "calls Big.grow -> src/shape/draw.rs#paint",
        "calls Big.grow -> src/shape/mod.rs#Circle.new",
        "calls Big.grow -> src/shape/draw.rs#Draw.turn",
        "calls test -> src/shape/draw.rs#Draw.turn",
        "inherits Circle -> src/shape/draw.rs#Draw",
    }
    assert not any("shrink" in edge or "missing" in edge for edge in found)


def test_java_binds_imports_packages_inheritance_and_statics() -> None:
    found = bound(
        a__Base_DOT_java="""package a;
public abstract class Base { protected void log(String s) {} static int count() { return 0; } }
""",
        a__Tool_DOT_java="package a;\npublic class Tool { public Tool(int x) {} void run() {} }\n",
        b__App_DOT_java="""package b;
import a.Base;
import a.*;
import static a.Base.count;
public class App extends Base implements Job {
  private Tool tool = new Tool(1);
  void go(Job job) { log("x"); this.tool.run(); Base.count(); count();
    job.start(); super.log("y"); unknown(); }
}
""",
        b__Job_DOT_java="package b;\ninterface Job { void start(); }\n",
    )
    assert found >= {
        "inherits App -> a/Base.java#Base",
        "inherits App -> b/Job.java#Job",
        "calls App -> a/Tool.java#Tool.Tool",
        "calls App.go -> a/Base.java#Base.log",
        "calls App.go -> a/Tool.java#Tool.run",
        "calls App.go -> a/Base.java#Base.count",
        "calls App.go -> b/Job.java#Job.start",
        "uses App.go -> b/Job.java#Job",
    }


def test_c_binds_what_is_unique_and_not_static() -> None:
    found = bound(
        util_DOT_h="#define LIMIT 3\nstruct point { int x; };\nint area(struct point *p);\n",
        util_DOT_c="""#include "util.h"
int area(struct point *p) { return twice(1); }
static int twice(int x) { return x; }
""",
        main_DOT_c="""#include <stdio.h>
#include "util.h"
static int twice(int x) { return x; }
int main(void) { struct point p; printf("x"); twice(2); hidden(); return area(&p); }
""",
        other_DOT_c="static int hidden(void) { return 0; }\nint shown(void) { return hidden(); }\n",
    )
    assert found >= {
        "imports - -> util.h",
        "calls main -> util.c#area",
        "uses main -> util.h#point",
    }
    assert not any("hidden" in edge for edge in found)


def test_cpp_binds_methods_that_stand_outside_their_class() -> None:
    assert bound(
        shape_DOT_hpp="""#pragma once
namespace geo {
class Shape { public: virtual void draw(); int id() { return 1; } };
class Circle : public Shape { public: Circle(int r); void draw(); void twice(); Shape* inner; };
void helper();
}
""",
        shape_DOT_cpp="""#include "shape.hpp"
namespace geo {
void Shape::draw() { id(); this->id(); }
void Circle::draw() { twice(); Shape::draw(); inner->draw(); helper(); this->id(); }
void helper() {}
}
""",
        circle_DOT_cpp="""#include "shape.hpp"
void geo::Circle::twice() { draw(); }
int main() { geo::Circle c(1); c.twice(); geo::helper(); return 0; }
""",
    ) >= {
        "calls geo.Shape.draw -> shape.hpp#geo.Shape.id",
        "calls geo.Circle.draw -> circle.cpp#geo.Circle.twice",
        "calls geo.Circle.draw -> shape.hpp#geo.Shape.id",
        "calls geo.Circle.twice -> shape.cpp#geo.Circle.draw",
        "calls main -> circle.cpp#geo.Circle.twice",
        "calls main -> shape.cpp#geo.helper",
        "uses main -> shape.hpp#geo.Circle",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_DOT_go", "package a\nfunc f(x Unknown) { x.close() }\n"),
        ("a_DOT_rs", "fn f(x: Unknown) { x.close() }\n"),
        ("A_DOT_java", "class A { void f(Unknown x) { x.close(); } }\n"),
        ("a_DOT_cpp", "void f(Unknown* x) { x->close(); }\n"),
    ],
)
def test_an_unknown_receiver_calls_nothing(name: str, text: str) -> None:
    other = {
        "a_DOT_go": ("p__b_DOT_go", "package p\nfunc close() {}\n"),
        "a_DOT_rs": ("b_DOT_rs", "pub fn close() {}\n"),
        "A_DOT_java": ("B_DOT_java", "class B { void close() {} }\n"),
        "a_DOT_cpp": ("b_DOT_cpp", "void close() {}\n"),
    }[name]
    assert not any("calls" in edge for edge in bound(**{name: text, other[0]: other[1]}))
