"""The suite that every sink joins: give it a way to write, and a way to read what was committed.

The same documents must give the same set of hits in each; how they score them is their own.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heimdall.sinks.base import SinkDoc, SinkHit, SinkReader, SinkWriter, SymbolDoc
from heimdall.sinks.memory import MemorySink
from heimdall.sinks.tantivy import open_sink_reader, open_sink_writer

STAMP = "1:uuid:1"


class Kind(NamedTuple):
    """One kind of sink: its pen, and its reader of the last commit."""

    writer: SinkWriter
    reader: Callable[[], SinkReader]


def _tantivy(home: Path) -> Kind:
    def reader() -> SinkReader:
        found = open_sink_reader(str(home), STAMP)
        assert not isinstance(found, str), found
        return found

    return Kind(open_sink_writer(str(home)), reader)


def _memory(_: Path) -> Kind:
    sink = MemorySink()
    return Kind(sink, sink.reader)


KINDS = {"tantivy": _tantivy, "memory": _memory}


@pytest.fixture(params=sorted(KINDS))
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kind]:
    kind = KINDS[request.param](tmp_path)
    with kind.writer:
        yield kind


def doc(path: str, content: str = "", *symbols: tuple[str, str, str], names: str = "") -> SinkDoc:
    """`symbols` are (key, name tokens, text tokens)."""
    made = tuple(SymbolDoc(key, "function", words, text) for key, words, text in symbols)
    defined = " ".join(symbol.names for symbol in made)
    return SinkDoc(path, names, defined, content, made)


def found(sink: Kind, *tokens: str, limit: int = 100, **options: object) -> set[tuple[str, str]]:
    hits = sink.reader().find(tokens, limit, **options)  # type: ignore[arg-type] # find's own
    return {(hit.path, hit.key) for hit in hits}


A = doc("/p/a.py", "alpha beta", ("f", "parse", "def parse beta"), names="a py")
B = doc("/p/k/b.py", "beta gamma", ("g", "read", "def read alpha"), names="k b py")


def test_a_document_is_found_by_each_of_its_tokens(sink: Kind) -> None:
    sink.writer.replace([A, B])
    sink.writer.commit(STAMP)
    assert found(sink, "gamma") == {("/p/k/b.py", "")}
    assert found(sink, "beta") == {("/p/a.py", ""), ("/p/a.py", "f"), ("/p/k/b.py", "")}
    assert found(sink, "parse") == {("/p/a.py", ""), ("/p/a.py", "f")}
    assert found(sink, "k") == {("/p/k/b.py", "")}
    assert found(sink, "gamma", "parse") == found(sink, "gamma") | found(sink, "parse")


def test_nothing_is_found_by_a_part_of_a_token_or_by_nothing(sink: Kind) -> None:
    sink.writer.replace([A])
    sink.writer.commit(STAMP)
    for tokens in (("alph",), ("lpha",), ("alpha beta",), ("",), (), ("unknown",), ("/p/a.py",)):
        assert found(sink, *tokens) == set()
    assert found(sink, "alpha", limit=0) == set()


def test_every_hit_says_what_it_is_and_the_best_comes_first(sink: Kind) -> None:
    sink.writer.replace([A, B])
    sink.writer.commit(STAMP)
    hits = sink.reader().find(["parse", "beta"], 10)
    assert hits[0] == SinkHit("/p/a.py", "f", hits[0].score, True)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.is_symbol == bool(hit.key) for hit in hits)
    assert all(hit.score > 0 for hit in hits)


def test_a_name_is_worth_more_than_a_mention(sink: Kind) -> None:
    named = doc("/p/named.py", "", ("f", "flush", "x y"))
    mentioned = doc("/p/mentioned.py", "", ("f", "other", "flush y"))
    sink.writer.replace([mentioned, named])
    sink.writer.commit(STAMP)
    hits = sink.reader().find(["flush"], 9, files=False)
    assert [hit.path for hit in hits] == ["/p/named.py", "/p/mentioned.py"]


def test_equal_scores_come_by_path_and_key_however_they_were_written(sink: Kind) -> None:
    paths = [f"/p/{number:02}.py" for number in range(30)]
    for path in reversed(paths):
        sink.writer.replace([doc(path, "same words")])
    sink.writer.commit(STAMP)
    assert [hit.path for hit in sink.reader().find(["same"], 20)] == paths[:20]


def test_only_files_or_only_symbols_can_be_asked_for(sink: Kind) -> None:
    sink.writer.replace([A, B])
    sink.writer.commit(STAMP)
    assert found(sink, "beta", symbols=False) == {("/p/a.py", ""), ("/p/k/b.py", "")}
    assert found(sink, "beta", files=False) == {("/p/a.py", "f")}
    assert found(sink, "beta", files=False, symbols=False) == set()


def test_a_search_can_stay_within_a_directory(sink: Kind) -> None:
    near = doc("/p/kk/c.py", "beta")
    sink.writer.replace([A, B, near])
    sink.writer.commit(STAMP)
    assert found(sink, "beta", within="/p/k") == {("/p/k/b.py", "")}
    assert found(sink, "beta", within="/p/k/") == {("/p/k/b.py", "")}
    assert found(sink, "beta", within="/p") == found(sink, "beta")
    assert found(sink, "beta", within="/") == found(sink, "beta")
    assert found(sink, "beta", within="/elsewhere") == set()


def test_a_search_can_stay_within_a_file(sink: Kind) -> None:
    sink.writer.replace([A, B, doc("/p/a.py.bak", "beta")])
    sink.writer.commit(STAMP)
    assert found(sink, "beta", within="/p/k/b.py") == {("/p/k/b.py", "")}
    assert {path for path, _ in found(sink, "alpha", "beta", within="/p/a.py")} == {"/p/a.py"}


def test_being_within_a_directory_changes_no_score(sink: Kind) -> None:
    sink.writer.replace([A, B])
    sink.writer.commit(STAMP)
    reader = sink.reader()
    assert reader.find(["beta"], 9, within="/p") == reader.find(["beta"], 9)


def test_replacing_leaves_nothing_of_what_was_there(sink: Kind) -> None:
    sink.writer.replace([A, B])
    sink.writer.commit(STAMP)
    sink.writer.replace([doc("/p/a.py", "delta")])
    sink.writer.commit(STAMP)
    assert found(sink, "alpha", "parse") == {("/p/k/b.py", "g")}
    assert found(sink, "delta") == {("/p/a.py", "")}


def test_doing_it_twice_is_doing_it_once(sink: Kind) -> None:
    sink.writer.replace([A, A])
    sink.writer.replace([A])
    sink.writer.commit(STAMP)
    sink.writer.replace([A])
    sink.writer.commit(STAMP)
    assert len(sink.reader().find(["alpha"], 99)) == 1


def test_what_is_removed_or_cleared_is_not_found(sink: Kind) -> None:
    sink.writer.replace([A, B])
    sink.writer.remove(["/p/a.py", "/p/unknown.py", "/p/k"])
    sink.writer.commit(STAMP)
    assert found(sink, "beta") == {("/p/k/b.py", "")}
    sink.writer.clear()
    sink.writer.commit(STAMP)
    assert found(sink, "beta") == set()


def test_readers_see_commits_and_nothing_before_them(sink: Kind) -> None:
    sink.writer.replace([A])
    sink.writer.commit(STAMP)
    early = sink.reader()
    sink.writer.replace([B])
    assert found(sink, "gamma") == set()
    sink.writer.commit(STAMP)
    assert found(sink, "gamma") == {("/p/k/b.py", "")}
    assert early.find(["gamma"], 9) == []


def test_what_was_rolled_back_never_was(sink: Kind) -> None:
    sink.writer.replace([A])
    sink.writer.commit(STAMP)
    sink.writer.replace([B])
    sink.writer.remove(["/p/a.py"])
    sink.writer.rollback()
    sink.writer.commit(STAMP)
    assert found(sink, "beta") == {("/p/a.py", ""), ("/p/a.py", "f")}


def test_the_stamp_is_that_of_the_last_commit(sink: Kind) -> None:
    assert sink.writer.stamp() == ""
    sink.writer.replace([A])
    sink.writer.commit(STAMP)
    assert sink.writer.stamp() == STAMP
    assert sink.reader().stamp() == STAMP
    sink.writer.commit("1:uuid:2")
    assert sink.reader().stamp() == "1:uuid:2"


def test_an_empty_commit_is_a_commit(sink: Kind) -> None:
    sink.writer.commit(STAMP)
    assert found(sink, "alpha") == set()
    assert sink.writer.stamp() == STAMP


@pytest.mark.parametrize(
    "name", ["/p/caf\udce9.py", "/p/a b\nc.py", "/p/日本/語.py", "/p/\udcff/x"]
)
def test_every_name_a_file_can_have_is_found_replaced_and_removed(sink: Kind, name: str) -> None:
    sink.writer.replace([doc(name, "word", ("k日", "x", "y"))])
    sink.writer.commit(STAMP)
    assert found(sink, "word") == {(name, "")}
    assert found(sink, "x", files=False) == {(name, "k日")}
    assert found(sink, "word", within=name.rpartition("/")[0]) == {(name, "")}
    sink.writer.replace([doc(name, "other")])
    sink.writer.commit(STAMP)
    assert found(sink, "word") == set()
    sink.writer.remove([name])
    sink.writer.commit(STAMP)
    assert found(sink, "other") == set()


# -- all sinks agree -------------------------------------------------------------------------------

_WORDS = st.lists(st.sampled_from(["a", "b", "c", "日本"]), max_size=4).map(" ".join)
_PATHS = st.sampled_from(["/p/1", "/p/2", "/p/k/3", "/q/4"])
_DOCS = st.builds(
    SinkDoc,
    _PATHS,
    _WORDS,
    _WORDS,
    _WORDS,
    st.lists(
        st.builds(SymbolDoc, st.sampled_from(["f", "g"]), st.just("function"), _WORDS, _WORDS),
        max_size=2,
        unique_by=lambda symbol: symbol.key,
    ).map(tuple),
)
_STEPS = st.lists(
    st.one_of(_DOCS, _PATHS, st.sampled_from(["commit", "rollback", "clear"])), max_size=10
)


@settings(max_examples=40, deadline=None)
@given(steps=_STEPS, query=st.lists(st.sampled_from(["a", "b", "日本"]), min_size=1, max_size=2))
def test_after_any_history_all_sinks_find_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[SinkDoc | str], query: list[str]
) -> None:
    kinds = [make(tmp_path_factory.mktemp("sink")) for make in KINDS.values()]
    answers = []
    for kind in kinds:
        with kind.writer as writer:
            for step in steps:
                _perform(writer, step)
            writer.commit(STAMP)
            answers.append([found(kind, *query, within=within) for within in ("", "/p", "/p/k")])
    assert answers[0] == answers[1]


def _perform(writer: SinkWriter, step: SinkDoc | str) -> None:
    if isinstance(step, SinkDoc):
        writer.replace([step])
    elif step.startswith("/"):
        writer.remove([step])
    elif step == "commit":
        writer.commit(STAMP)
    elif step == "rollback":
        writer.rollback()
    else:
        writer.clear()
