"""What old entries say, file by file; the recorded reports are in test_legacy_golden.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmemo import Draft, EntryId, entry, legacy, trailers
from gitmemo.legacy import Source
from gitmemo.model import Act

SOURCE = Source("main", "entries/old.md", EntryId("a" * 40), 1_770_000_000, "A <a@b>", "0" * 64)


def keywords(front: str, message: str = "title") -> tuple[str, ...]:
    return legacy.read(f"---\n{front}\n---\ntext\n".encode(), message).keywords


@pytest.mark.parametrize(
    ("front", "found"),
    [
        ("tags: [a, 'b', \"c d\"]", ("a", "b", "c d")),
        ("tags: a, b，c、d", ("a", "b", "c", "d")),
        ("tags:\n- a\n  - 'b, c'", ("a", "'b, c'")),
        ("tags: [a,\n  b]", ("a", "b")),
        ("Keywords: [x]\ntags: [y]", ("x", "y")),
        ("tags: []", ()),
        ("tags:\nstatus: done", ()),
        ("repo_branch: main", ()),
    ],
)
def test_keywords_are_taken_from_either_style_of_front_matter(
    front: str, found: tuple[str, ...]
) -> None:
    assert keywords(front) == found


def test_lines_with_commas_in_the_message_are_keywords_where_the_front_has_none() -> None:
    message = "title\n\nKeywords: a, b\ntag：c，d\ntags: alone\nmy tags: e, f"
    assert keywords("status: done", message) == ("a", "b", "c", "d")
    assert keywords("tags: [own]", message) == ("own",)


def test_line_ends_and_byte_order_marks_do_not_hide_the_front_matter() -> None:
    text = "---\r\ntags: [a, b]\r\nrelated_paths: [src\\a.py, ../out, /abs]\r\n---\r\n"
    for data in (text.encode(), text.encode("utf-8-sig"), text.encode("utf-16")):
        said = legacy.read(data, "title")
        assert said.keywords == ("a", "b")
        assert said.related_paths == ("src/a.py",)
        assert sum("left out a related path" in warning for warning in said.warnings) == 2


def test_the_content_is_the_whole_file() -> None:
    assert (
        legacy.read(b"---\r\ntags: [a]\r\n---\r\nx", "t").content == "---\r\ntags: [a]\r\n---\r\nx"
    )
    assert legacy.read(b"", "t").content == ""
    assert legacy.read("ü".encode("utf-16"), "t").content == "ü"
    latin = legacy.read(b"caf\xe9", "t")
    assert latin.content == "caf\ufffd"
    assert "content is not UTF-8; unreadable bytes are marked" in latin.warnings


def test_a_message_without_words_gives_the_default_title_and_says_so() -> None:
    said = legacy.read(b"text", " \n\n")
    assert (said.title, said.summary) == ("legacy memory", "")
    assert said.warnings[0] == "entry with empty subject — titled 'legacy memory'"
    assert said.warnings[-1] == "no summary could be inferred"


def test_the_outcome_is_one_paragraph_and_ends_at_a_heading() -> None:
    text = "# Final Outcome\n\n one \ntwo\n## Next\nthree"
    assert legacy.read(text.encode(), "t").summary == "one two"
    assert legacy.read(b"## Final Outcome\n\n\n", "t\n\nbody").summary == "t\n\nbody"


def test_no_text_is_cut_inside_a_character() -> None:
    said = legacy.read(b"x", "a" + "😀" * 2100)
    assert said.title == "a" + "😀" * 99
    assert said.summary == "a" + "😀" * 1999


def test_lines_that_would_be_trailers_are_quoted_and_told() -> None:
    said = legacy.read(b"x", "GitMemo-Type: add\n\nfine\ngitmemo-digest: sha256:00")
    assert said.title == "> GitMemo-Type: add"
    assert said.summary.endswith("fine\n> gitmemo-digest: sha256:00")
    assert "sanitized legacy summary" in said.warnings


def test_secrets_are_named_and_stay() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    one = legacy.planned(SOURCE, legacy.read(f"token {token}\n".encode(), "title"))
    assert one.secrets == ("github-token",)
    assert token in one.said.content
    assert token in legacy.change(one, ()).add[0][1].decode()


def test_two_entries_of_one_name_get_two_files() -> None:
    one = legacy.planned(SOURCE, legacy.read(b"text", "title"))
    first = legacy.change(one, ()).add[0][0]
    assert legacy.change(one, (first,)).add[0][0] == first.removesuffix(".md") + "-2.md"


def test_where_the_old_entry_lay_is_no_path_of_the_project() -> None:
    front = b"---\nrelated_paths: [src/a.py]\n---\n"
    one = legacy.planned(SOURCE, legacy.read(front, "title"))
    assert legacy.related_paths(one) == ("entries/old.md", "src/a.py")
    assert legacy.project_paths(legacy.related_paths(one)) == ("src/a.py",)


ODD = st.text(st.characters(codec="utf-8")) | st.sampled_from(
    ["GitMemo-Type: add", "---\ntags:\n- a\n---", "tags: a, b", "## Final Outcome\n\nx"]
)


@given(data=st.binary() | ODD.map(str.encode), message=st.lists(ODD).map("\n".join))
def test_whatever_was_written_becomes_an_entry_that_reads_back(data: bytes, message: str) -> None:
    said = legacy.read(data, message)
    one = legacy.planned(SOURCE, said)
    # The limits of the format hold; what an old entry need not have is filled in for the question.
    draft = Draft(said.title, said.summary or "-", said.keywords, "x")
    clean = entry.validate(draft, legacy=True)
    assert (clean.title, clean.keywords) == (said.title, said.keywords)
    change = legacy.change(one, ())
    parsed = trailers.parse(change.message)
    assert (parsed.type, parsed.legacy, parsed.digest) == (Act.ADD, True, one.digest)
    assert parsed.keywords == said.keywords
    file = entry.parse(change.add[0][1], digest=parsed.digest)
    assert (file.title, file.keywords) == (said.title, said.keywords)
    assert file.content == said.content
