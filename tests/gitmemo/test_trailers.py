"""Messages read back as written, and git itself agrees on every trailer."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from gitmemo import text, trailers
from gitmemo.entry import validate, validate_reason
from gitmemo.errors import InvalidDraft
from gitmemo.model import Act, Anchor, Draft, EntryId, Kind

HASH = "sha256:" + "ab" * 32
ID = EntryId("0123456789abcdef0123456789abcdef01234567")


def run_git(*args: str, stdin: str = "", cwd: str | None = None) -> str:
    """git with no configuration but the one given, so that no user's file colours the answer."""
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    done = subprocess.run(
        ["git", *args], input=stdin.encode(), capture_output=True, check=True, cwd=cwd, env=env
    )
    return done.stdout.decode()


# -- strategies ------------------------------------------------------------------------------------

WORDY = st.text(
    st.one_of(
        st.sampled_from("ab Z09#:-%[]\t é缓存😀ßİ\u00a0\u2028\u0085-"),
        st.characters(exclude_categories=["Cs", "Cc"]),
    ),
    min_size=1,
    max_size=40,
)
PROSE = st.lists(
    st.one_of(WORDY, st.just(""), st.just("Foo: bar"), st.just("---")), min_size=1
).map("\n".join)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """Valid drafts: whatever the rules refuse is drawn again."""
    draft = Draft(
        title=draw(WORDY),
        summary=draw(PROSE),
        keywords=tuple(draw(st.lists(WORDY, min_size=2, max_size=5))),
        content="c",
        kind=draw(st.sampled_from(Kind)),
    )
    try:
        return validate(draft)
    except InvalidDraft:
        reject()


PATHS = st.one_of(
    st.binary(min_size=1, max_size=30).map(os.fsdecode),
    st.text(min_size=1, max_size=30).filter(lambda s: s.isprintable()),
    st.sampled_from(
        ["a b.py", "100%.md", "a#b.py", "a\nb", "%23", "目录/文件", " edge ", "#", "%"]
    ),
).filter(lambda p: "\0" not in p and not p.startswith("/") and ".." not in p.split("/"))
SYMBOLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["f", "Box.#open", "outer.<locals>.inner", "operator%", "operator new", "a\nb"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
)
HASHES = st.binary(min_size=32, max_size=32).map(lambda digest: "sha256:" + digest.hex())
ANCHORS = st.builds(Anchor, hash=HASHES, path=PATHS, symbol=SYMBOLS)


def message(draft: Draft, anchors: list[Anchor], replaces: str | None = None) -> str:
    return trailers.tidy(
        trailers.build(
            title=draft.title,
            summary=draft.summary,
            keywords=draft.keywords,
            digest="cd" * 32,
            kind=draft.kind or Kind.TASK,
            replaces=replaces,
            anchors=anchors,
        )
    )


# -- round trips -----------------------------------------------------------------------------------


@given(drafts(), st.lists(ANCHORS, max_size=4), st.one_of(st.none(), st.just(str(ID))))
def test_a_message_reads_back_as_written(
    draft: Draft, anchors: list[Anchor], replaces: str | None
) -> None:
    found = trailers.parse(message(draft, anchors, replaces))
    assert found.subject == draft.title
    assert text.norm(found.summary) == text.norm(draft.summary)
    assert found.type is (Act.ADD if replaces is None else Act.REPLACE)
    assert found.kind is draft.kind
    assert found.keywords == draft.keywords
    assert found.digest == "cd" * 32
    assert found.replaces == replaces
    assert found.deletes is None
    assert found.anchors == tuple(anchors)
    folded = (draft.title, draft.summary, *draft.keywords)
    assert found.search_text == tuple(map(text.norm, folded))


@given(PROSE)
def test_a_withdrawal_reads_back_as_written(reason: str) -> None:
    try:
        clean = validate_reason(reason)
    except InvalidDraft:
        return
    written = trailers.build_delete(entry_name="20260101T000000.000Z-x", reason=clean, deletes=ID)
    found = trailers.parse(trailers.tidy(written))
    assert (found.type, found.deletes) == (Act.DELETE, ID)
    assert found.subject == "delete: withdraw 20260101T000000.000Z-x"
    assert text.norm(found.summary) == text.norm(clean)


@given(ANCHORS)
def test_an_anchor_is_one_line_and_reads_back_as_written(anchor: Anchor) -> None:
    line = trailers.anchor_text(anchor)
    assert line.splitlines() == [line]
    assert text.js_strip(line) == line
    line.encode()  # no undecodable byte is left
    assert trailers.parse_anchor(line) == anchor


@pytest.mark.parametrize(
    ("anchor", "line"),
    [
        (Anchor(HASH, "src/a b.py"), f"{HASH} src/a b.py"),
        (Anchor(HASH, "a.py", "Box.#open"), f"{HASH} a.py#Box.#open"),
        (Anchor(HASH, "100%#1.py", "f"), f"{HASH} 100%25%231.py#f"),
        (Anchor(HASH, "a\nb"), f"{HASH} a%0Ab"),
        (Anchor(HASH, os.fsdecode(b"caf\xe9.py")), f"{HASH} caf%E9.py"),
        (Anchor(HASH, "目录/é.py"), f"{HASH} 目录/é.py"),
    ],
)
def test_only_what_would_break_the_line_is_encoded(anchor: Anchor, line: str) -> None:
    assert trailers.anchor_text(anchor) == line


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "src/queue.py::drain@cccccccccccccccccccccccccccccccccccccccc",
        "sha256:abcd a.py",
        f"{HASH}",
        f"{HASH} ",
        f"{HASH} /etc/passwd",
        f"{HASH} ../secret",
        f"{HASH} a/%2E%2E/%2e%2e/secret",
        f"{HASH} a%00b",
        f"{HASH.upper()} a.py",
    ],
)
def test_foreign_and_escaping_anchors_are_none(line: str) -> None:
    assert trailers.parse_anchor(line) is None


@given(st.text())
def test_any_text_is_a_message(s: str) -> None:
    found = trailers.parse(s)
    assert found.subject == text.js_strip(s.replace("\r\n", "\n").split("\n")[0])


# -- git as the oracle -----------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(drafts(), st.lists(ANCHORS, max_size=3))
def test_git_reads_the_trailers_that_we_wrote(draft: Draft, anchors: list[Anchor]) -> None:
    written = message(draft, anchors)
    block = run_git("interpret-trailers", "--parse", "--no-divider", stdin=written)
    expected = written[written.index("\nGitMemo-Type: ") + 1 :]
    assert [tuple(map(str.strip, pair)) for pair in pairs(block)] == [
        tuple(map(str.strip, pair)) for pair in pairs(expected)
    ]
    assert len(list(pairs(block))) >= 4 + 2 * len(draft.keywords) + len(anchors)


def pairs(block: str) -> Iterator[tuple[str, str]]:
    for line in block.removesuffix("\n").split("\n"):
        name, _, value = line.partition(":")
        yield name, value


@settings(max_examples=15, deadline=None)
@given(st.text(st.sampled_from("ab \t\r\n\v#é")))
def test_tidy_is_what_git_does_to_a_message(s: str) -> None:
    assert trailers.tidy(s) == run_git("stripspace", stdin=s)


def test_git_log_prints_our_trailers_and_finds_their_folded_text(tmp_path: object) -> None:
    repo = str(tmp_path)
    draft = validate(
        Draft("[Cache] Bound LRU", "Straße\n\n\nnaïve  ＣＡＰ ", ("LRU", "缓存"), "c", Kind.TOPIC)
    )
    anchors = [Anchor(HASH, "a\n#b.py", "f"), Anchor(HASH, os.fsdecode(b"\xff.py"))]
    written = message(draft, anchors, ID)
    run_git("init", "-q", "-b", "main", repo)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
    run_git(
        *who,
        "commit",
        "-q",
        "--allow-empty",
        "--cleanup=verbatim",
        "-F",
        "-",
        cwd=repo,
        stdin=written,
    )
    run_git(*who, "commit", "-q", "--allow-empty", "-F", "-", cwd=repo, stdin=written)
    stored = run_git("log", "-2", "--format=%T%x00%B%x01", cwd=repo).split("\x01\n")
    assert stored[0] == stored[1]  # git's own clean-up had nothing left to do
    logged = run_git("log", "-1", "--format=%(trailers:only,unfold)", cwd=repo)
    assert logged.strip() == written[written.index("GitMemo-Type") :].strip()
    for needle in ("strasse naïve cap", "lru", "缓存", "[cache] bound lru"):
        assert run_git("log", "--oneline", "--fixed-strings", f"--grep={needle}", cwd=repo)
