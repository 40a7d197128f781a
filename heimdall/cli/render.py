"""The answer to a search, as `mem.search/1` and as plain lines.

Pure: a report in, text out. Loaded by every search, so it imports nothing but `json`, and that only
where it is asked for. Rich output for terminals lives in `pretty`; the other commands' in `views`.
"""

from heimdall.model import AnchorFact, Hit, Report

SCHEMA = "mem.search/1"
GIST = 300
"""Characters of a summary that an answer shows; `mem read` shows all of it."""


def report_value(report: Report) -> dict[str, object]:
    """The report as the JSON object of docs/search.md."""
    return {
        "schema": SCHEMA,
        "query": report.query,
        "snapshot": report.snapshot,
        "total": report.total,
        "next": report.next,
        "sources": report.sources,
        "hits": [hit_value(hit) for hit in report.hits],
    }


def hit_value(hit: Hit) -> dict[str, object]:
    """One hit as JSON; numbers with four digits after the point."""
    return {
        "rank": hit.rank,
        "source": hit.source,
        "id": hit.id,
        "store": hit.store,
        "title": hit.title,
        "summary": hit.summary,
        "kind": hit.kind,
        "path": hit.path,
        "line": hit.line,
        "symbol": hit.symbol,
        "score": round(hit.score, 4),
        "matched": hit.matched,
        "verdict": hit.verdict,
        "reasons": hit.reasons,
        "coverage": round(hit.coverage, 4),
        "content_coverage": None
        if hit.content_coverage is None
        else round(hit.content_coverage, 4),
        "anchors": [anchor_value(anchor) for anchor in hit.anchors],
    }


def anchor_value(anchor: AnchorFact) -> dict[str, object]:
    """One anchor as JSON."""
    return {
        "path": anchor.path,
        "symbol": anchor.symbol,
        "state": anchor.state,
        "now": anchor.now,
    }


def report_json(report: Report) -> str:
    """The report as one line of JSON."""
    import json  # noqa: PLC0415 # two milliseconds that plain output saves

    return json.dumps(report_value(report), ensure_ascii=False)


def report_text(report: Report, cwd: str) -> str:
    """The report as lines for people and pipes: two or three a hit, then what else to know."""
    lines: list[str] = []
    for hit in report.hits:
        lines.append(f"{hit.rank:>3}  {hit.verdict:<7}  {clean(hit.title)}{_where(hit, cwd)}")
        lines.append(f"     {', '.join(hit.reasons)}   {label(hit)}")
        if hit.source == "memory" and hit.summary:
            lines.append(f"     {gist(hit)}")
    lines.extend(notes(report))
    return "\n".join(lines) + "\n"


def notes(report: Report) -> list[str]:
    """What a reader should know beside the hits."""
    none = "nothing found" if not report.total else f"nothing more: {report.total} in all"
    lines = [] if report.hits else [none]
    if report.next is not None:
        shown = f"{len(report.hits)} of {report.total} shown"
        lines.append(f"{shown}; more with --cursor {report.next}")
    for source, state in report.sources.items():
        if state != "ok":
            lines.append(f"{source}: {_SOURCE_NOTES.get(state, state)}")
    return lines


_SOURCE_NOTES = {
    "behind": "the index is behind the disk; `heimdall reconcile` brings it up to date",
    "absent": "nothing there; `mem init` makes it, or brings it back",
    "error": "could not be read; `heimdall status` says more",
    "legacy": "an old format, read as it is; `mem migrate` shows what would become of it",
}


def label(hit: Hit) -> str:
    """What to call the hit by: a memory's short id, or the kind of code it is."""
    return hit.id[:12] if hit.source == "memory" else hit.kind


def gist(hit: Hit) -> str:
    """The summary on one line, cut where it would bury the next hit."""
    text = clean(" ".join(hit.summary.split()))
    return text if len(text) <= GIST else text[: GIST - 1] + "…"


def place(hit: Hit, cwd: str) -> str:
    """Where the hit points, as seen from `cwd` where that is shorter."""
    if hit.path is None:
        return ""
    path = hit.path
    if path.startswith(cwd + "/"):
        path = path[len(cwd) + 1 :]
    return clean(path) if hit.line is None else f"{clean(path)}:{hit.line}"


def _where(hit: Hit, cwd: str) -> str:
    where = place(hit, cwd)
    return f"  {where}" if where else ""


def block(text: str) -> str:
    """Text of several lines without anything that could move a terminal's cursor: an entry that was
    pulled may hold what no `mem write` takes."""
    return "\n".join("\t".join(map(clean, line.split("\t"))) for line in text.split("\n"))


def clean(text: str) -> str:
    """`text` without anything that could move a terminal's cursor or break the line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\ud800" <= c <= "\udfff" else "\ufffd" for c in text)
