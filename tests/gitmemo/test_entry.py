"""Drafts are cleaned, files read back as written, and every refusal names its field."""

import os
import re

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from gitmemo import entry, text
from gitmemo.errors import InvalidDraft
from gitmemo.model import Anchor, CodeState, Draft, Kind

HASH = "sha256:" + "ab" * 32
GOOD = Draft("Title", "Summary.", ("a", "b"), "content\n")

CHARS = st.characters(exclude_categories=["Cs", "Cc"])
LINE = st.text(st.one_of(CHARS, st.sampled_from("# \t\"'\\é缓😀\u2028")), min_size=1, max_size=30)
# Headings like the file's own, wherever an author may put them.
PIECES = st.one_of(
    LINE, st.sampled_from(["", "## Final Outcome", "## Summary", "---", "# x", "a: b"])
)
PROSE = st.lists(PIECES, min_size=1, max_size=7).map("\n".join)
PATHS = st.one_of(
    st.binary(min_size=1, max_size=20).map(os.fsdecode),
    st.sampled_from(["a b.py", "100%.md", "a#b.py", "a\nb.py", "目录/文件.md", 'q"\\.py']),
)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """Valid drafts: whatever the rules refuse is drawn again."""
    draft = Draft(
        title=draw(LINE),
        summary=draw(PROSE),
        keywords=tuple(draw(st.lists(LINE, min_size=2, max_size=5))),
        content=draw(PROSE),
        kind=draw(st.sampled_from(Kind)),
        related_paths=tuple(draw(st.lists(PATHS, max_size=3))),
        related_branches=tuple(draw(st.lists(LINE, max_size=3))),
    )
    try:
        return entry.validate(draft)
    except InvalidDraft:
        reject()


# -- files -----------------------------------------------------------------------------------------


@given(drafts(), st.integers(0, 4_000_000_000_000))
def test_a_file_reads_back_as_written(draft: Draft, now_ms: int) -> None:
    kind = draft.kind or Kind.TASK
    anchors = tuple(Anchor(HASH, path, "f#g") for path in draft.related_paths)
    code = CodeState("feature/é", "c" * 40)
    data = entry.render(
        title=draft.title,
        summary=draft.summary,
        keywords=draft.keywords,
        content=draft.content,
        kind=kind,
        epoch_ms=now_ms,
        code=code,
        related_branches=draft.related_branches,
        related_paths=draft.related_paths,
        anchors=anchors,
    )
    digest = entry.digest(
        title=draft.title,
        summary=draft.summary,
        keywords=draft.keywords,
        content=draft.content,
        kind=kind,
    )
    found = entry.parse(data, digest=digest)
    assert (found.title, found.summary, found.content) == (*draft[:2], draft.content)
    assert (found.kind, found.code, found.keywords) == (kind, code, draft.keywords)
    assert found.related_paths == draft.related_paths
    assert found.related_branches == draft.related_branches
    assert found.anchors == anchors


@given(st.binary(max_size=200))
def test_any_bytes_are_an_entry_file(data: bytes) -> None:
    found = entry.parse(b"---\n" + data)
    assert found.code == CodeState() or b"code_" in data


def test_a_file_of_another_shape_is_all_content() -> None:
    found = entry.parse(b'---\ntags: [a, b]\nkind: "task"\n---\n\nfree text\n')
    assert found.content == "\nfree text\n"
    assert found.kind is Kind.TASK
    assert found.keywords == ()


def test_anchors_are_the_last_key_of_the_front_matter_and_absent_without_any() -> None:
    def front(anchors: tuple[Anchor, ...]) -> list[str]:
        data = entry.render(
            title="t",
            summary="s",
            keywords=("a", "b"),
            content="c",
            kind=Kind.TASK,
            epoch_ms=0,
            code=CodeState(),
            anchors=anchors,
        )
        return data.decode().split("\n---\n")[0].split("\n")

    assert front((Anchor(HASH, "a#b.py", "f"),))[-1] == f'anchors: ["{HASH} a%23b.py#f"]'
    assert front(())[-1] == 'keywords: ["a", "b"]'


def test_a_name_carries_its_date_into_its_folder() -> None:
    name = entry.file_name("Bound cache", "0123456789abcdef", 1787484972123)
    assert name == "20260823T113612.123Z-01234567-bound-cache.md"
    assert text.dated_path(name) == f"entries/2026/08/23/{name}"


@given(LINE, st.integers(0, 4_000_000_000_000))
def test_paths_are_plain_ascii_whatever_the_title(title: str, now_ms: int) -> None:
    path = text.dated_path(entry.file_name(title, "ab" * 32, now_ms))
    assert re.fullmatch(
        r"entries/\d{4}/\d\d/\d\d/\d{8}T\d{6}\.\d{3}Z-[a-f0-9]{8}-[a-z0-9-]+\.md", path
    )


# -- drafts ----------------------------------------------------------------------------------------


@given(drafts())
def test_cleaning_twice_is_cleaning_once(draft: Draft) -> None:
    assert entry.validate(draft) == draft


def test_content_that_was_not_given_is_the_summary() -> None:
    assert entry.validate(GOOD._replace(content="")).content == "Summary."


def test_an_unsaid_kind_stays_unsaid() -> None:
    assert entry.validate(GOOD).kind is None
    assert entry.from_fields(GOOD._asdict() | {"kind": "topic"}).kind is Kind.TOPIC


BAD_ANCHOR = Anchor("sha256:12", "a.py")


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"title": " "}, "title", "empty"),
        ({"title": "a\nb"}, "title", "not-one-line"),
        ({"title": "t" * 201}, "title", "too-long"),
        ({"title": "\udcff"}, "title", "not-unicode"),
        ({"summary": "ok\nGitMemo-Type: add"}, "summary", "reserved"),
        ({"summary": "ok\n\u3000gitmemo-x: y"}, "summary", "reserved"),
        ({"summary": "\x1b[31m"}, "summary", "control-character"),
        ({"content": " \n"}, "content", "empty"),
        ({"content": "x" * (2 << 20)}, "content", "too-long"),
        ({"content": "\udcff"}, "content", "not-unicode"),
        ({"keywords": ("a",)}, "keywords", "count"),
        ({"keywords": ("a", "Ａ")}, "keywords", "count-distinct"),
        ({"keywords": ("a\nb", "c")}, "keywords", "not-one-line"),
        ({"related_paths": ("../x",)}, "related_paths", "escapes"),
        ({"related_paths": ("a/../../x",)}, "related_paths", "escapes"),
        ({"related_paths": ("/x",)}, "related_paths", "absolute"),
        ({"related_paths": ("C:\\x",)}, "related_paths", "absolute"),
        ({"related_paths": ("./",)}, "related_paths", "root"),
        ({"related_paths": ("\ud800",)}, "related_paths", "not-unicode"),
        ({"anchors": (BAD_ANCHOR,)}, "anchors", "malformed"),
        ({"anchors": (Anchor(HASH, "../a.py"),)}, "anchors", "malformed"),
        ({"anchors": (Anchor(HASH, "a.py", ""),)}, "anchors", "malformed"),
    ],
)
def test_a_broken_rule_is_named(change: dict[str, object], field: str, problem: str) -> None:
    with pytest.raises(InvalidDraft) as refusal:
        entry.validate(GOOD._replace(**change))  # type: ignore[arg-type]  # one field of each type
    assert (refusal.value.field, refusal.value.problem) == (field, problem)


def test_undecodable_names_may_be_cited() -> None:
    path = os.fsdecode(b"caf\xe9.py")
    assert entry.validate(GOOD._replace(related_paths=(path,))).related_paths == (path,)


# -- the duplicate guard ---------------------------------------------------------------------------


@given(drafts())
def test_the_digest_sees_words_not_their_spelling_or_order(draft: Draft) -> None:
    fields = draft._asdict()
    fields = {name: fields[name] for name in ("title", "summary", "keywords", "content")}
    own = entry.digest(**fields, kind=Kind.TASK)
    shuffled = fields | {"keywords": tuple(reversed(draft.keywords))}
    assert entry.digest(**shuffled, kind=Kind.TASK) == own
    assert entry.digest(**fields | {"title": f" {draft.title}\n"}, kind=Kind.TASK) == own
    assert entry.digest(**fields | {"content": draft.content + " "}, kind=Kind.TASK) != own
    assert entry.digest(**fields, kind=Kind.TOPIC) != own


def test_a_task_is_guarded_in_both_builds_and_a_topic_in_one() -> None:
    def guards(kind: Kind) -> tuple[str, ...]:
        return entry.digests(title="t", summary="s", keywords=("a",), content="c", kind=kind)

    assert len(set(guards(Kind.TASK))) == 2
    assert len(guards(Kind.TOPIC)) == 1


def test_a_title_that_grows_in_lower_case_still_gives_a_name_that_a_disk_can_hold() -> None:
    name = entry.file_name("\u0130" * 200, "0" * 64, 0)
    assert len(name.encode()) + len("-999") <= 255
    assert name.endswith("-i.md")
