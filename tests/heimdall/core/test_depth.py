"""Which rule decides how deep a path is indexed."""

import pytest

from heimdall.core.depth import asked
from heimdall.model import Depth

RULES = {
    "/home/me": Depth.FILE,
    "/home/me/work": Depth.GRAPH,
    "/home/me/work/*/vendor": Depth.PATH,
    "/home/me/**/docs": Depth.SYMBOL,
    "/x/a?c": Depth.PATH,
    "/y/**": Depth.PATH,
    "/w.x/[a]": Depth.PATH,
}


@pytest.mark.parametrize(
    ("path", "depth"),
    [
        ("/elsewhere/a.py", Depth.GRAPH),
        ("/home/me", Depth.FILE),
        ("/home/me/a.py", Depth.FILE),
        ("/home/meow/a.py", Depth.GRAPH),
        ("/home/me/work/p/a.py", Depth.GRAPH),
        ("/home/me/work/p/vendor/a/b.py", Depth.PATH),
        ("/home/me/work/p/q/vendor/b.py", Depth.GRAPH),
        ("/home/me/docs/x.md", Depth.SYMBOL),
        ("/home/me/a/b/docs/x.md", Depth.SYMBOL),
        ("/x/abc", Depth.PATH),
        ("/x/a/c", Depth.GRAPH),
        ("/x/a\nc/d", Depth.PATH),
        ("/y/any/thing", Depth.PATH),
        ("/w.x/[a]/f", Depth.PATH),
        ("/wax/a/f", Depth.GRAPH),
    ],
)
def test_the_longest_matching_pattern_decides(path: str, depth: Depth) -> None:
    assert asked(path, RULES, Depth.GRAPH) is depth


def test_the_order_of_rules_means_nothing() -> None:
    turned = dict(reversed(RULES.items()))
    for path in ("/home/me/work/p/vendor/a", "/home/me/work/docs/a", "/home/me/b"):
        assert asked(path, RULES, Depth.GRAPH) is asked(path, turned, Depth.GRAPH)
