"""All rows, or those named: `python -m benchmarks.run [--json] [--runs N] [ROW…]`.

Two rows take minutes and are measured only where they are named: `write-100k`, and `size`, which
writes ten thousand entries one by one.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from benchmarks import audit, hint, index, material, search, size, survive, write
from benchmarks.common import Place, Row, note, private_place

ROWS = ("index", "search", "hint", "write", "survive", "audit")
LONG = ("write-100k", "size")
CODE = frozenset(("index", "search", "hint", "write"))
"""Rows that need a copy of the standard library."""


def main() -> int:
    """Measure and print; exit 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join((*ROWS, *LONG)))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--runs", type=int, default=9, help="runs a row (an index: a third)")
    asked = parser.parse_args()
    unknown = set(asked.rows) - {*ROWS, *LONG}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    with private_place() as place:
        rows = list(measure(place, set(asked.rows or ROWS), asked.runs))
    if asked.json:
        sys.stdout.write(
            json.dumps({"machine": machine(), "rows": [value(r) for r in rows]}) + "\n"
        )
    else:
        show(rows)
    return int(any(row.promise is not None and row.ratio > row.promise for row in rows))


def measure(place: Place, wanted: set[str], runs: int) -> Iterator[Row]:
    """The rows in order; material is made once and shared."""
    code = material.code_repository(place, "code") if wanted & CODE else ""
    if "index" in wanted:
        note("index")
        yield from index.measure(place, code, max(1, runs // 3))
    elif "search" in wanted:
        place.command(code, "heimdall", "reconcile", code)
    if wanted & {"search", "write"}:
        note(f"a memory of {material.MEMORIES:,} entries")
        material.fill_store(place, code, material.MEMORIES)
    if "search" in wanted:
        note("search")
        yield from search.measure(place, code, runs)
    if "hint" in wanted:
        note("hint")
        yield from hint.measure(place, code, runs)
    if "write" in wanted:
        note("write")
        yield from write.measure(place, filled(place, 100), code, 10_000, runs, promise=2.0)
    if "survive" in wanted:
        note("survive")
        yield from survive.measure(place, runs)
    if "write-100k" in wanted:
        note("a memory of 100,000 entries (minutes)")
        large = filled(place, 100_000)
        yield from write.measure(place, filled(place, 100), large, 100_000, runs, promise=4.0)
    if "size" in wanted:
        note("ten thousand writes, one by one (minutes)")
        yield from size.measure(place)
    if "audit" in wanted:
        note("audit")
        yield from audit.measure(place, material.many_files(place, 10_000), runs)


def filled(place: Place, count: int) -> str:
    """A project with a memory of `count` entries and nothing else; its path."""
    root = os.path.join(place.top, f"memory-{count}")
    if not os.path.exists(root):
        os.makedirs(root)
        place.git(root, "init", "-q", "-b", "main")
        material.fill_store(place, root, count)
    return root


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "git": git.split()[2],
        "load": os.getloadavg()[0],
    }


def value(row: Row) -> dict[str, object]:
    """One row as JSON; seconds."""
    kept = None if row.promise is None else row.ratio <= row.promise
    return {**row._asdict(), "ratio": round(row.ratio, 3), "kept": kept}


def show(rows: list[Row]) -> None:
    """The table of docs/performance.md."""
    facts = machine()
    table = Table(title=", ".join(f"{k} {v}" for k, v in facts.items()), title_justify="left")
    for head in ("work", "ours", "yardstick", "its time", "ratio", "promise", "note"):
        table.add_column(head, justify="right" if head in ("ours", "its time", "ratio") else "left")
    for row in rows:
        promise = "" if row.promise is None else f"<= {row.promise:g}"
        broken = row.promise is not None and row.ratio > row.promise
        style = "red" if broken else None
        shown = span if row.unit == "s" else size_of
        cells = (row.name, shown(row.ours_s), row.yardstick, shown(row.theirs_s))
        table.add_row(*cells, f"{row.ratio:.2f}", promise, row.detail, style=style)
    Console(width=None if sys.stdout.isatty() else 150, highlight=False).print(table)


def span(seconds: float) -> str:
    """A time as people read it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def size_of(count: float) -> str:
    """A size as people read it."""
    return f"{count:,.0f} B"


if __name__ == "__main__":
    sys.exit(main())
