"""What every command but search prints: one value, as a JSON object and as plain lines.

Pure: values in, dictionaries and text out. Every JSON object names its schema and version; a field
may be added, never renamed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gitmemo import Entry, EntryId, Event, Redaction, Written
from heimdall.app import Opened, Reached, Reconciled, Standing
from heimdall.cli.render import block, clean
from heimdall.model import Drift, PathRow

if TYPE_CHECKING:
    from heimdall.writer import Result

Value = Mapping[str, object]


def dumps(value: Value) -> str:
    """One line of JSON in readable characters."""
    return json.dumps(value, ensure_ascii=False)


# -- memory ----------------------------------------------------------------------------------------


def written_value(written: Written) -> Value:
    """What `write` and `replace` print as mem.write/1."""
    return {
        "schema": "mem.write/1",
        "id": written.id,
        "file": written.file,
        "redactions": [one._asdict() for one in written.redactions],
        "similar": written.similar,
    }


def written_text(written: Written) -> str:
    """The id first, so that a script may take the first word."""
    lines = [f"{written.id}  {written.file}"]
    for one in written.redactions:
        lines.append(f"redacted in {one.field}: {one.kind} ({one.count})")
    for like in written.similar:
        instead = f"mem delete {written.id[:12]} --reason duplicate && mem replace {like[:12]} …"
        lines.append(f"much like {like[:12]}; to replace it instead: {instead}")
    return "\n".join(lines)


def entry_value(entry: Entry) -> Value:
    """The whole entry as mem.read/1."""
    return {
        "schema": "mem.read/1",
        "id": entry.id,
        "file": entry.file,
        "title": entry.title,
        "summary": entry.summary,
        "keywords": entry.keywords,
        "kind": entry.kind,
        "content": entry.content,
        "date": entry.date,
        "code": entry.code._asdict(),
        "related_paths": entry.related_paths,
        "related_branches": entry.related_branches,
        "anchors": [
            {"path": one.path, "symbol": one.symbol, "hash": one.hash} for one in entry.anchors
        ],
        "active": entry.active,
        "replaces": entry.replaces,
        "replaced_by": entry.replaced_by,
        "current": entry.current,
        "withdrawn": entry.withdrawn,
        "author": entry.author,
        "faults": entry.faults,
    }


def entry_text(entry: Entry) -> str:
    """The entry for people: what it says, then where it stands."""
    lines = [clean(entry.title), "", block(entry.summary)]
    if entry.content.strip() != entry.summary:
        lines += ["", block(entry.content.rstrip("\n"))]
    lines += [
        "",
        f"id        {entry.id}",
        f"kind      {entry.kind}",
        f"date      {entry.date}",
        f"author    {clean(entry.author)}",
        f"code      {clean(entry.code.branch)} {entry.code.commit[:12]}",
        f"keywords  {clean(', '.join(entry.keywords))}",
    ]
    lines += [f"path      {clean(path)}" for path in entry.related_paths]
    lines += [
        f"symbol    {clean(one.path)}#{clean(one.symbol)}" for one in entry.anchors if one.symbol
    ]
    lines.append(f"state     {_state(entry)}")
    lines += [f"chain     {fault_text(fault)}" for fault in entry.faults]
    return "\n".join(lines)


def _state(entry: Entry) -> str:
    if entry.active:
        rivals = ", ".join(entry.current[1:])
        return f"active, contested by {rivals}" if rivals else "active"
    if entry.withdrawn is not None:
        return f"withdrawn: {clean(' '.join(entry.withdrawn.split()))}"
    if entry.current:
        return "replaced; now " + ", ".join(entry.current)
    if entry.replaced_by:
        return "replaced; what took its place is gone too"
    return "gone; its file was removed, and no commit of main says why"


def fault_text(fault: str) -> str:
    """What is wrong with a chain, in words."""
    kind, _, hash_ = fault.partition(":")
    if kind == "gap":
        return f"it names {clean(hash_)}, which is no entry here"
    return _FAULTS[kind]


_FAULTS = {
    "forked": "more than one end of it is living: merged histories each went on from one entry",
    "cycle": "it goes round in a circle: an entry of it replaces what replaced it",
}


def deleted_value(commit: EntryId, target: str, redactions: Sequence[Redaction]) -> Value:
    """What `delete` prints as mem.delete/1."""
    return {
        "schema": "mem.delete/1",
        "id": commit,
        "deleted": target,
        "redactions": [one._asdict() for one in redactions],
    }


def deleted_text(commit: EntryId, target: str, redactions: Sequence[Redaction]) -> str:
    """The withdrawing commit first."""
    lines = [f"{commit}  withdrew {target}"]
    lines += [f"redacted in {one.field}: {one.kind} ({one.count})" for one in redactions]
    return "\n".join(lines)


def events_value(events: Sequence[Event]) -> Value:
    """A life as mem.log/1, newest first."""
    return {"schema": "mem.log/1", "events": [event._asdict() for event in events]}


def events_text(events: Sequence[Event]) -> str:
    """One line an event."""
    lines = []
    for event in events:
        target = f"  of {event.target[:12]}" if event.target else ""
        note = f"  ({clean(' '.join(event.note.split()))})" if event.note else ""
        when = f"{event.id[:12]}  {event.date[:10]}  {event.act:<7}"
        lines.append(f"{when}  {clean(event.title)}{target}{note}")
    return "\n".join(lines) if lines else "nothing was written yet"


def opened_value(opened: Opened) -> Value:
    """What `init` did as mem.init/1."""
    return {
        "schema": "mem.init/1",
        "root": opened.root,
        "store": opened.store,
        "created": opened.created,
        "index": None if opened.indexed is None else result_value(opened.indexed),
    }


def opened_text(opened: Opened) -> str:
    """What `init` did."""
    first = "a memory was opened at" if opened.created else "there is a memory already at"
    lines = [f"{first} {clean(opened.store)}"]
    if opened.indexed is not None:
        lines.append(result_text(opened.indexed))
    return "\n".join(lines)


# -- index -----------------------------------------------------------------------------------------


def result_value(result: "Result") -> dict[str, object]:
    """What one pass of the reconciler came to."""
    return {
        "counts": {str(action): count for action, count in result.counts.items()},
        "errors": [{"path": path, "reason": reason} for path, reason in result.errors],
        "roots": result.roots,
        "moves": result.moves,
        "behind": result.behind,
        "set_aside": result.set_aside or None,
        "backup": result.backup or None,
    }


def result_text(result: "Result") -> str:
    """The pass in one line, and a line for each path that could not be read."""
    counts = ", ".join(f"{count} {action}" for action, count in result.counts.items() if count)
    moves = f", {result.moves} moved" if result.moves else ""
    lines = [(counts or "nothing to do") + moves]
    lines += [f"could not read {clean(path)}: {reason}" for path, reason in result.errors]
    if result.behind:
        lines.append("there is more to do; run it again")
    if result.set_aside:
        lines.append(f"the index was damaged: set aside as {clean(result.set_aside)}, made anew")
    if result.backup:
        lines.append(f"not all of it could be verified; the old index is {clean(result.backup)}")
    return "\n".join(lines)


def reconciled_value(done: Reconciled, *, dry_run: bool) -> Value:
    """A reconcile as heimdall.reconcile/1."""
    return {
        "schema": "heimdall.reconcile/1",
        "dry_run": dry_run,
        "registered": done.registered,
        **result_value(done.result),
    }


def reconciled_text(done: Reconciled) -> str:
    """A reconcile for people."""
    lines = [f"now watching {clean(root)}" for root in done.registered]
    return "\n".join([*lines, result_text(done.result)])


def rebuilt_value(result: "Result") -> Value:
    """A rebuild as heimdall.rebuild/1."""
    return {"schema": "heimdall.rebuild/1", **result_value(result)}


def drift_value(drift: Sequence[Drift], *, deep: bool) -> Value:
    """What `verify` found as heimdall.verify/1."""
    found = [one._asdict() for one in drift]
    return {"schema": "heimdall.verify/1", "deep": deep, "drift": found}


def drift_text(drift: Sequence[Drift]) -> str:
    """One line a place, or the good news."""
    lines = [f"{one.why:<11}  {clean(one.path)}" for one in drift]
    return "\n".join(lines) if lines else "the index and the disk agree"


def reached_value(reached: Reached) -> Value:
    """A path's depth as heimdall.depth/1."""
    return {
        "schema": "heimdall.depth/1",
        "path": reached.path,
        "directory": reached.directory,
        "counts": reached.counts,
        "rows": [_row_value(row) for row in reached.rows],
    }


def _row_value(row: PathRow) -> Value:
    return {
        "path": row.path,
        "root": row.root,
        "state": row.state,
        "depth": row.depth.name.lower(),
        "asked": row.asked.name.lower(),
        "reason": row.reason,
        "language": row.language,
        "extractor": row.extractor,
        "size": None if row.stat is None else row.stat.size,
        "sha256": None if row.digest is None else row.digest.hex(),
    }


def reached_text(reached: Reached) -> str:
    """A file's depth and reason, or a directory's counts and what fell short."""
    lines = []
    if reached.directory:
        lines.append(", ".join(f"{count} at {depth}" for depth, count in reached.counts.items()))
    for row in reached.rows:
        why = f"  {row.reason}" if row.reason else ""
        lines.append(f"{row.depth.name.lower():<6}  {clean(row.path)}{why}")
    return "\n".join(lines)


def standing_value(standing: Standing) -> Value:
    """How things are as heimdall.status/1."""
    return {
        "schema": "heimdall.status/1",
        "home": standing.home,
        "journal": standing.journal,
        "project": standing.project,
        "store": standing.store,
        "roots": [
            {"path": one.path, "depth": None if one.depth is None else one.depth.name.lower()}
            for one in standing.roots
        ],
        "counts": None if standing.counts is None else standing.counts._asdict(),
    }


def standing_text(standing: Standing) -> str:
    """How things are, a fact a line."""
    lines = [
        f"project  {clean(standing.project or 'none here')}",
        f"memory   {clean(standing.store or 'none here; `mem init` opens one')}",
        f"index    {_JOURNALS[standing.journal]} ({clean(standing.home)})",
    ]
    lines += [f"root     {clean(one.path)}" for one in standing.roots]
    counts = standing.counts
    if counts is not None:
        lines.append(f"paths    {counts.present} present, {counts.unreadable} unreadable")
        lines.append(
            f"graph    {counts.nodes} nodes, {counts.edges} edges, {counts.pending} pending"
        )
        lines += [
            f"skipped  {count:>6}  {reason}" for reason, count in sorted(counts.reasons.items())
        ]
    return "\n".join(lines)


_JOURNALS = {
    "ok": "up to date with every hint",
    "behind": "behind the disk; `heimdall reconcile` brings it up to date",
    "absent": "nothing was indexed yet",
}


def graph_lines(lines: Iterable[Value]) -> Iterable[str]:
    """One JSON object a line; keys stay in the order the journal gave them."""
    return (dumps(line) + "\n" for line in lines)
