"""An index in a home of its own, and its graph as lines."""

import json
import os
from collections.abc import Callable

from heimdall.config import Settings
from heimdall.journal.read import open_reader
from heimdall.model import Depth, PathRow
from heimdall.writer import Result, add_root, reconcile


def settings(home: str, *, now: Callable[[], float] | None = None, jobs: int = 1) -> Settings:
    """Settings for a home under a test's own directory."""
    made = Settings(home=home, jobs=jobs, lock_timeout_s=5.0)
    return made if now is None else made._replace(now=now)


def index(home: str, *roots: str, depth: Depth | None = None) -> tuple[Settings, Result]:
    """Put `roots` under watch and index them."""
    made = settings(home)
    for root in roots:
        add_root(made, root, depth=depth)
    return made, reconcile(made, None)


def graph(home: str, *, relative: bool = False) -> list[str]:
    """The whole index, one line each, in its fixed order."""
    with open_reader(home) as journal:
        return [json.dumps(line, sort_keys=True) for line in journal.graph(relative=relative)]


def row(home: str, path: str) -> PathRow | None:
    """One path as the journal knows it."""
    with open_reader(home) as journal:
        return journal.path(path)


def reasons(home: str) -> dict[str, str]:
    """Every path that is not indexed to the depth asked, with its reason."""
    with open_reader(home) as journal:
        return {skip.path: skip.reason for skip in journal.skips()}


def clean_graph(home: str, root: str, *, relative: bool = False) -> list[str]:
    """The graph of `root` indexed from nothing, in a home of its own beside `home`."""
    number = 0
    while os.path.exists(f"{home}.clean{number}"):
        number += 1
    index(f"{home}.clean{number}", root)
    return graph(f"{home}.clean{number}", relative=relative)
