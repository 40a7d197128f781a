"""What a file is found by."""

from hypothesis import given
from hypothesis import strategies as st

from heimdall.model import Depth, Facts, Node
from heimdall.sinks.base import CAP, continues, matches, project, rows


def facts(*nodes: Node) -> Facts:
    own = Node("", "file", "a.py", "", 1, 9, "", "", b"")
    return Facts(Depth.GRAPH, "python", "", "", None, (own, *nodes), (), ())


PARSE = Node(
    "Http.parseAll",
    "method",
    "parseAll",
    "Http.parseAll",
    1,
    2,
    "def parseAll(self)",
    "Reads it.",
    b"",
)


def test_a_file_is_found_by_its_last_parts_its_definitions_and_its_text() -> None:
    doc = project("/home/me/far/away/proj/src/http_client/readAll.py", facts(PARSE), "one two two")
    assert {"proj", "src", "http", "client", "readall", "read", "all", "py"} <= set(
        doc.names.split()
    )
    assert not {"home", "me", "far", "away"} & set(doc.names.split())
    assert {"http", "parse", "all", "parseall"} <= set(doc.defined.split())
    assert sorted(doc.content.split()) == ["one", "two", "two"]


def test_a_definition_is_found_by_its_name_its_signature_and_its_documentation() -> None:
    (symbol,) = project("/p/a.py", facts(PARSE), "").symbols
    assert (symbol.key, symbol.kind) == ("Http.parseAll", "method")
    assert {"http", "parse", "all"} <= set(symbol.names.split())
    assert {"def", "self", "reads", "it"} <= set(symbol.text.split())


def test_a_token_counts_at_most_so_often() -> None:
    assert project("/p/a.py", facts(), "x " * 1000).content.split() == ["x"] * CAP


def test_each_document_has_its_row_and_the_file_comes_first() -> None:
    assert [row.key for row in rows(project("/p/a.py", facts(PARSE), "x"))] == ["", "Http.parseAll"]


@given(place=st.text(alphabet="abc/", max_size=20), text=st.text(max_size=60))
def test_where_the_tree_lies_changes_nothing(place: str, text: str) -> None:
    inner = "/proj/src/k/a.py"
    here = project(f"/{place}{inner}", facts(PARSE), text)
    assert here[1:] == project(inner, facts(PARSE), text)[1:]


@given(text=st.text(max_size=200))
def test_every_token_is_free_of_white_space_and_can_be_written(text: str) -> None:
    doc = project("/p/caf\udce9.py", facts(), text)
    for word in (doc.names + " " + doc.content).split(" "):
        assert word.split() in ([word], [])
        word.encode("utf-8")


def test_stamps_tell_which_sink_belongs_to_which_journal() -> None:
    assert matches("1:u:5", "1:u:5")
    assert matches("1:u:9", "1:u:5"), "a reader may come between the two commits"
    assert not matches("1:u:5", "1:other:5")
    assert not matches("2:u:5", "1:u:5")
    assert not matches("", "")
    assert continues("1:u:5", "1:u:5")
    assert continues("1:u:6", "1:u:5"), "the sink is committed first"
    assert not continues("1:u:4", "1:u:5"), "a sink that lost a pass"
    assert not continues("1:u:7", "1:u:5"), "a journal that lost passes"
    assert not continues("", "1:u:5")
