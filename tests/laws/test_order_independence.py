"""order-independence: the final graph does not depend on the order of reconciling; unresolved
references wait as pending edges and go back to pending when their target goes."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from heimdall.writer import reconcile
from tests.support.index import clean_graph, graph, index
from tests.support.size import examples
from tests.support.trees import TWO_MODULES, plant

FILES = {
    **TWO_MODULES,
    "pkg/deep/__init__.py": "from ..low import *\nfrom pkg.high import High as Top\n",
    "main.py": (
        "import pkg.low as low\nfrom pkg.deep import Top, base\n\n"
        "def run():\n    top = Top()\n    top.act()\n    low.base()\n    return base()\n"
    ),
    "web/util.js": "export function help() { return 1 }\nexport default class Box {}\n",
    "web/app.ts": (
        "import Box, { help } from './util'\nexport class App extends Box { go() { help() } }\n"
    ),
}


@rules(max_examples=examples(3), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(order=st.permutations(sorted(FILES)), absent=st.sampled_from(sorted(FILES)))
def test_any_order_of_appearing_and_returning_gives_the_same_graph(
    tmp_path_factory: pytest.TempPathFactory, order: list[str], absent: str
) -> None:
    base = tmp_path_factory.mktemp("law")
    root, home = str(base / "r"), str(base / "home")
    os.makedirs(root)
    made, _ = index(home, root)
    for name in order:
        plant(root, {name: FILES[name]})
        reconcile(made, [os.path.join(root, name)])
    whole = graph(home)
    assert whole == clean_graph(home, root)
    os.unlink(os.path.join(root, absent))
    reconcile(made, [os.path.join(root, absent)])
    assert graph(home) == clean_graph(home, root)
    plant(root, {absent: FILES[absent]})
    reconcile(made, [os.path.join(root, absent)])
    assert graph(home) == whole


def test_an_edge_whose_target_goes_is_pending_again(tmp_path: Path) -> None:
    root, home = plant(str(tmp_path / "r"), TWO_MODULES), str(tmp_path / "home")
    made, _ = index(home, root)
    bound = sum('"edge"' in line for line in graph(home))
    waiting = sum('"pending"' in line for line in graph(home))
    path = os.path.join(root, "pkg/low.py")
    os.unlink(path)
    reconcile(made, [path])
    lines = graph(home)
    assert not any("low.py" in line for line in lines if '"edge"' in line)
    assert sum('"edge"' in line for line in lines) < bound
    assert sum('"pending"' in line for line in lines) > waiting
