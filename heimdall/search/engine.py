"""One question, answered: find in each source, fuse, look, judge, filter.

The engine holds no rule of its own: what fits is `core.fuse`'s, what is true is `core.verdict`'s.
Hits are judged one by one until the page is full, so that a page costs what it shows. Nothing is
written but one batch of hints, for anchors that moved or died and that the index still believes in
(tests/laws/test_search_changes_nothing.py). Held by tests/heimdall/search/test_engine.py.
"""

import os
from collections.abc import Sequence

import gitmemo
from gitmemo import Found, Kind, Mode, Place
from gitmemo.values import NamedTuple
from heimdall import hints as hinting
from heimdall.config import Settings
from heimdall.core import fuse
from heimdall.core.verdict import judge
from heimdall.errors import BadArgument
from heimdall.model import AnchorState, Evidence, Hit, Report, Verdict
from heimdall.search import cursor as cursors
from heimdall.search import filters, hits, trace
from heimdall.search import sources as finding
from heimdall.search.evidence import Witness
from heimdall.search.knowledge import Knowledge
from heimdall.search.scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heimdall.core.precise import Named

SOURCES = frozenset({"memory", "code"})
MEMORY_KINDS = frozenset(Kind)

DEAD = frozenset({Verdict.STALE, Verdict.REMOVED})
"""What comes last on its page; of code it is shown only on demand."""

PRECISE_LOOK = 40
"""How many hits `precise` judges at most in its search for ones that it can justify."""


class Asked(NamedTuple):
    """One question with all its options, checked."""

    words: tuple[str, ...]
    query: tuple[str, ...]
    limit: int
    skip: int
    snapshot: str | None
    mode: Mode
    precise: bool
    show_all: bool
    kinds: frozenset[str]
    sources: frozenset[str]
    since_s: int | None
    paths: tuple[str, ...]

    @property
    def blank(self) -> bool:
        """Whether nothing is asked but what there is."""
        return not any(word.strip() for word in self.words)


class _Page(NamedTuple):
    """The hits of one page, and how many places of the ranking they took."""

    shown: list[Hit]
    consumed: int


def search(
    settings: Settings,
    cwd: str,
    words: Sequence[str],
    *,
    limit: int = 20,
    skip: int = 0,
    snapshot: str | None = None,
    cursor: str | None = None,
    mode: str = "text",
    precise: bool = False,
    show_all: bool = False,
    kinds: frozenset[str] | None = None,
    sources: frozenset[str] | None = None,
    since: str | None = None,
    paths: Sequence[str] = (),
    hint: bool = True,
) -> Report:
    """Answer `words` for the checkout that holds `cwd`.

    `mode` is text, trailer or trailer-weighted (`gitmemo.Mode`); the trailer modes ask the memory
    alone. `cursor` is a former report's `next` and takes the place of `skip` and `snapshot`.
    `kinds` keeps hits of these kinds (task, topic, function, class, …), `sources` asks only these.
    `paths`, as seen from `cwd`, keeps what concerns these files and folders; `since` (a date or an
    age) keeps the memories written since, and no code, which has no date. With one of these three
    `words` may be empty: the memory then lists what it has, the newest first.
    `hint=False` leaves no trace at all.

    Raises BadArgument for an argument that cannot be read, the store's StaleSnapshot, and
    NoProject or the store's own error where there is neither a memory nor an index to ask.
    A source that is missing or damaged is named in the report and never fails the search.
    """
    since_s = None if since is None else _since(since, settings)
    if cursor is not None:
        snapshot, skip, moment = cursors.read(cursor)
        since_s = since_s if moment is None else moment
    place = _place(settings, cwd)
    asked = Asked(
        words=tuple(words),
        query=gitmemo.query_tokens(" ".join(words)),
        limit=_within("limit", limit, 1, 100),
        skip=_within("skip", skip, 0, 1_000_000),
        snapshot=snapshot,
        mode=_mode(mode),
        precise=precise,
        show_all=show_all,
        kinds=kinds or frozenset(),
        sources=sources or SOURCES,
        since_s=since_s,
        paths=filters.project_paths(paths, cwd, place.root),
    )
    knowledge = Knowledge(settings.home, (_hints_of(place),))
    try:
        return _Search(settings, place, asked, knowledge).run(hint=hint)
    finally:
        knowledge.close()


class _Search:
    """One question on its way through the rooms."""

    def __init__(
        self, settings: Settings, place: Place, asked: Asked, knowledge: Knowledge
    ) -> None:
        self._settings = settings
        self._place = place
        self._asked = asked
        self._scene = Scene(os.path.realpath(place.root), knowledge)
        self._witness = Witness(self._scene)
        self._knowledge = knowledge
        self._met: list[Evidence] = []
        self._behind = False
        self._precise = _named(asked) if asked.precise else None
        # Where the files of these paths came from; few searches name any.
        self._former = filters.formers(knowledge, self._scene.root, asked.paths)

    def run(self, *, hint: bool) -> Report:
        memory, code = self._ask()
        if memory.error is not None and code.state not in ("ok", "behind"):
            # Nothing can answer: the store's own error says best what is missing.
            raise memory.error
        ranked = self._rank(memory, code)
        page = self._judge(ranked, memory, code)
        if hint:
            self._hint()
        total = memory.total + len(code.hits)
        following = self._asked.skip + page.consumed
        left = following < total and page.consumed > 0 and not self._asked.precise
        after = cursors.Cursor(memory.snapshot, following, self._asked.since_s)
        return Report(
            query=" ".join(self._asked.words),
            snapshot=memory.snapshot,
            total=len(page.shown) if self._asked.precise else total,
            next=cursors.write(after) if left else None,
            sources=self._states(memory, code),
            hits=tuple(page.shown),
        )

    # -- finding -----------------------------------------------------------------------------------

    def _ask(self) -> tuple[finding.Memory, finding.Code]:
        asked = self._asked
        memory = finding.Memory("ok", None, asked.snapshot, 0, ())
        code = finding.Code("unasked", ())
        if self._asks_memory():
            kinds = frozenset(Kind(kind) for kind in asked.kinds & MEMORY_KINDS) or None
            memory = finding.from_memory(
                self._place,
                asked.words,
                mode=asked.mode,
                limit=PRECISE_LOOK if asked.precise else asked.skip + asked.limit,
                snapshot=asked.snapshot,
                show_all=asked.show_all,
                kinds=kinds,
                since_s=asked.since_s,
                paths=(*asked.paths, *self._former),
            )
        if self._precise is not None and not any(self._precise):
            # Nothing in the question is a name, so no code could be justified.
            code = finding.Code(self._knowledge.state, ())
        elif self._asks_code():
            code = finding.from_code(
                self._settings,
                self._knowledge,
                self._scene.root,
                asked.query,
                kinds=asked.kinds - MEMORY_KINDS,
                paths=asked.paths,
            )
        return memory, code

    def _asks_memory(self) -> bool:
        wanted = not self._asked.kinds or bool(self._asked.kinds & MEMORY_KINDS)
        return wanted and "memory" in self._asked.sources

    def _asks_code(self) -> bool:
        wanted = not self._asked.kinds or bool(self._asked.kinds - MEMORY_KINDS)
        dated = self._asked.since_s is not None
        if dated or self._asked.blank or self._asked.mode is not Mode.TEXT:
            return False
        return wanted and "code" in self._asked.sources

    def _states(self, memory: finding.Memory, code: finding.Code) -> dict[str, str]:
        """The state of each source that was asked."""
        states = {}
        if self._asks_memory():
            states["memory"] = memory.state
        if self._asks_code():
            # The index may have shown its damage only while hits were looked at.
            damaged = self._knowledge.state == "error"
            # Or that it knows less of a hit's file than the disk does.
            edited = code.state == "ok" and self._behind
            states["code"] = "error" if damaged else "behind" if edited else code.state
        return states

    def _rank(self, memory: finding.Memory, code: finding.Code) -> list[tuple[fuse.Scored, float]]:
        remembered = [
            fuse.Scored("memory", at, hit.score, hit.coverage) for at, hit in enumerate(memory.hits)
        ]
        coded = [
            fuse.Scored("code", at, hit.score, hit.coverage, self._aside(hit))
            for at, hit in enumerate(code.hits)
        ]
        return fuse.fuse(remembered, coded)

    def _aside(self, hit: finding.CodeHit) -> bool:
        return fuse.aside(self._scene.relative(hit.row.path))

    # -- judging -----------------------------------------------------------------------------------

    def _judge(
        self,
        ranked: list[tuple[fuse.Scored, float]],
        memory: finding.Memory,
        code: finding.Code,
    ) -> _Page:
        """Judge from `skip` on until the page is full. What died ranks last on its page."""
        asked = self._asked
        kept: list[Hit] = []
        consumed = 0
        for one, value in ranked[asked.skip :]:
            if len(kept) >= asked.limit or (asked.precise and consumed >= PRECISE_LOOK):
                break
            consumed += 1
            hit = self._judged(one, value, memory, code)
            if hit is not None:
                kept.append(hit)
        kept.sort(key=lambda hit: hit.verdict in DEAD)
        first = asked.skip + 1
        shown = [hit._replace(rank=first + at) for at, hit in enumerate(kept)]
        return _Page(shown, consumed)

    def _judged(
        self, one: fuse.Scored, value: float, memory: finding.Memory, code: finding.Code
    ) -> Hit | None:
        """One hit with its verdict; None where it is not to be shown."""
        if self._precise is not None:
            return self._justified(self._precise, one, value, memory, code)
        if one.source == "memory":
            return self._memory_hit(memory.hits[one.at], memory.store, value)
        return self._code_hit(code.hits[one.at], value)

    def _justified(
        self,
        names_: "Named",
        one: fuse.Scored,
        value: float,
        memory: finding.Memory,
        code: finding.Code,
    ) -> Hit | None:
        """The same where only what fits and is proven may be shown; the words are asked first,
        because they cost less than the disk."""
        from heimdall.core import precise  # noqa: PLC0415 # the default mode never asks

        hit: Hit | None = None
        if one.source == "memory":
            found = memory.hits[one.at]
            head = " ".join((found.title, found.summary, *found.keywords))
            if self._asked.blank or precise.fits_memory(self._asked.query, head):
                hit = self._memory_hit(found, memory.store, value)
        else:
            coded = code.hits[one.at]
            symbol = coded.node.qualname if coded.node.key else None
            if precise.fits_code(names_, symbol, coded.row.path):
                hit = self._code_hit(coded, value)
        return hit if hit is not None and hit.verdict in precise.PROVEN else None

    def _memory_hit(self, found: Found, store: str | None, value: float) -> Hit | None:
        evidence = self._witness.of_entry(found, self._asked.query)
        judged = judge(evidence)
        if judged.verdict is Verdict.REMOVED and not self._asked.show_all:
            return None
        if not filters.concerns(found, evidence, self._asked.paths, self._former):
            return None
        self._met.append(evidence)
        return hits.of_memory(
            found, evidence, judged, store=store, root=self._scene.root, value=value
        )

    def _code_hit(self, found: finding.CodeHit, value: float) -> Hit | None:
        evidence = self._witness.of_code(found.row, found.node, self._asked.query)
        judged = judge(evidence)
        self._met.append(evidence)
        # A file that is there and could not be read proves nothing of the index.
        there = evidence.anchors[0].state is not AnchorState.MISSING
        self._behind |= evidence.index_behind and (not there or evidence.content is not None)
        if judged.verdict in DEAD and not self._asked.show_all:
            return None
        return hits.of_code(found, evidence, judged, query=self._asked.query, value=value)

    # -- the one trace -----------------------------------------------------------------------------

    def _hint(self) -> None:
        """Tell the writer what the index is wrong about, as far as this search met it."""
        told = trace.news(self._scene, self._met)
        if told:
            mem = _hints_of(self._place)
            moment = int(self._settings.now() * 1000)
            hinting.append(self._settings.home, told, "search", at_ms=moment, fallback=mem)


def _hints_of(place: Place) -> str:
    """Where hints go if the home may not be written."""
    return os.path.join(place.store_root, ".mem", ".git", hinting.FALLBACK_NAME)


def _named(asked: Asked) -> "Named":
    """What the question names as code."""
    from heimdall.core import precise  # noqa: PLC0415 # the default mode never asks

    return precise.named(" ".join(asked.words))


def _since(text: str, settings: Settings) -> int:
    from heimdall.core.since import since  # noqa: PLC0415 # most searches name no date

    return since(text, settings.now())


def _mode(mode: str) -> Mode:
    try:
        return Mode(mode)
    except ValueError as error:
        raise BadArgument("mode", mode, "unknown") from error


def _within(argument: str, number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise BadArgument(argument, str(number), f"must be from {least} to {most}")
    return number


def _place(settings: Settings, cwd: str) -> Place:
    """The project of `cwd`, else the personal store. Raises NoProject where neither exists."""
    place = gitmemo.locate(cwd, shared_worktrees=settings.shared_worktrees)
    if place is not None:
        return place
    home = finding.personal(settings)
    if os.path.isdir(os.path.join(home.store_root, ".mem")):
        return home
    raise gitmemo.NoProject(cwd)
