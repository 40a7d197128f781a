"""Answers on a terminal, with colour. The only room of the commands that loads rich for data.

Rich honours NO_COLOR, FORCE_COLOR and the terminal's width. The same values as in `render` and
`views`, shown wider; a pipe or a file never gets here.
"""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from heimdall.cli import render
from heimdall.model import Report, Verdict

COLOURS = {
    Verdict.STRONG: "bold green",
    Verdict.WEAK: "yellow",
    Verdict.REBUILT: "bold cyan",
    Verdict.STALE: "red",
    Verdict.REMOVED: "dim",
}
"""The colour of each verdict."""


def report(answer: Report, cwd: str) -> None:
    """Print the answer to a search."""
    console = Console(highlight=False)
    for hit in answer.hits:
        line = Text(f"{hit.rank:>3}  ")
        line.append(f"{hit.verdict:<8}", style=COLOURS[hit.verdict])
        line.append(render.clean(hit.title), style="bold")
        where = render.place(hit, cwd)
        if where:
            line.append(f"  {where}", style="blue")
        console.print(line)
        below = Text(", ".join(hit.reasons), style="dim")
        below.append(f"   {render.label(hit)}")
        console.print(Padding(below, (0, 0, 0, 5)))
        if hit.source == "memory" and hit.summary:
            console.print(Padding(Text(render.gist(hit)), (0, 0, 0, 5)))
    for note in render.notes(answer):
        console.print(Text(note, style="dim"))
