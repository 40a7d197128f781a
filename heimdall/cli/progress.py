"""A bar on standard error while something long runs; silence where nobody watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heimdall.app import Progress
from heimdall.cli import session


@contextmanager
def bar(label: str) -> Iterator[Progress | None]:
    """A function to call with (done, total), or None where standard error is no terminal."""
    if not session.pretty(sys.stderr):
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 # rich, only on a terminal
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(label, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
