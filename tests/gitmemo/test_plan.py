"""A plan says everything that a commit will do, and nothing that the clock or a disk decides."""

from gitmemo import entry, plan, trailers
from gitmemo.model import Act, Anchor, CodeState, Draft, Entry, EntryId, Kind

NOW = 1787484972123
ID = EntryId("0123456789abcdef0123456789abcdef01234567")
ANCHOR = Anchor("sha256:" + "ab" * 32, "src/cache.py", "Lru.get")
DRAFT = Draft(
    "[cache] bound LRU size",
    "Cap is 512 entries.",
    ("cache", "LRU", "缓存"),
    "max_entries=512",
    related_paths=("src/cache.py",),
    related_branches=("release/1",),
)
OLD = Entry(
    id=ID,
    file="entries/20260101T000000.000Z-abababab-old.md",
    title="old",
    summary="s",
    keywords=("a", "b"),
    kind=Kind.TOPIC,
    date="2026-01-01T00:00:00.000Z",
    digest="ab" * 32,
    content="c",
    text="",
    code=CodeState(),
    related_paths=(),
    related_branches=(),
    anchors=(),
    active=True,
    replaces=None,
    replaced_by=(),
    current=(ID,),
    withdrawn=None,
    author="",
)
PATH = "entries/2026/08/23/20260823T113612.123Z-1555f419-cache-bound-lru-size.md"


def test_adding_writes_one_dated_file_with_the_formats_digest() -> None:
    change = plan.add(DRAFT, now_ms=NOW, code=CodeState("main", "c" * 40), anchors=(ANCHOR,))
    ((path, data),) = change.add
    assert path == PATH
    assert change.remove == ()
    assert change.operation == "add"
    assert change.digest == "1555f419cf88c7f76551ca8b16ff4d6817ec75b60ed022ee8e0627f830a80333"
    file = entry.parse(data, digest=change.digest)
    assert file.related_branches == ("release/1", "main")
    assert file.anchors == (ANCHOR,)
    message = trailers.parse(change.message)
    assert (message.type, message.kind, message.digest) == (Act.ADD, Kind.TASK, change.digest)
    assert message.anchors == (ANCHOR,)


def test_the_worked_example_of_the_format_is_written_to_the_letter() -> None:
    assert plan.add(DRAFT, now_ms=NOW).message == (
        "[cache] bound LRU size\n\nCap is 512 entries.\n\nGitMemo-Type: add\n"
        "GitMemo-Keyword: cache\nGitMemo-Keyword: LRU\nGitMemo-Keyword: 缓存\n"
        "GitMemo-Digest: sha256:1555f419cf88c7f76551ca8b16ff4d6817ec75b60ed022ee8e0627f830a80333\n"
        "GitMemo-Search-Text: [cache] bound lru size\nGitMemo-Search-Text: cap is 512 entries.\n"
        "GitMemo-Search-Text: cache\nGitMemo-Search-Text: lru\nGitMemo-Search-Text: 缓存\n"
    )


def test_a_taken_name_gets_the_next_number() -> None:
    stem = PATH.removesuffix(".md")
    taken = {PATH, f"{stem}-2.md"}
    ((path, _),) = plan.add(DRAFT, now_ms=NOW, taken=taken).add
    assert path == f"{stem}-3.md"


def test_replacing_is_one_change_that_inherits_the_kind() -> None:
    change = plan.replace(OLD, DRAFT, now_ms=NOW)
    message = trailers.parse(change.message)
    assert change.remove == (OLD.file,)
    assert (message.type, message.replaces, message.kind) == (Act.REPLACE, ID, Kind.TOPIC)
    assert entry.parse(change.add[0][1]).kind is Kind.TOPIC
    said = plan.replace(OLD, DRAFT._replace(kind=Kind.TASK), now_ms=NOW)
    assert trailers.parse(said.message).kind is Kind.TASK
    assert change.digest != said.digest


def test_withdrawing_names_the_file_and_keeps_the_reason() -> None:
    change = plan.delete(OLD, "Measured again: wrong.")
    assert change == (
        "delete",
        (),
        (OLD.file,),
        "delete: withdraw 20260101T000000.000Z-abababab-old\n\nMeasured again: wrong.\n\n"
        f"GitMemo-Type: delete\nGitMemo-Deletes: {ID}\n",
        None,
    )
