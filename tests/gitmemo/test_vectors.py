"""The format's golden vectors, each one case: what another engine answered, we answer."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from gitmemo import entry, ranking, text, trailers
from gitmemo.errors import InvalidDraft
from gitmemo.model import CodeState, Kind, Mode

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "golden", "gitmemo")

Vector = dict[str, Any]


def load() -> list[Vector]:
    with open(os.path.join(GOLDEN, "vectors.json"), encoding="utf-8") as file:
        vectors: list[Vector] = json.load(file)["vectors"]
    return vectors


VECTORS = load()


# -- one adapter for each function that was run ----------------------------------------------------


def normalise(given: Vector) -> object:
    return text.norm(given["text"])


def normalise_keyword(given: Vector) -> object:
    return entry.query_keyword(given["keyword"])


def slug(given: Vector) -> object:
    return text.slug(given["title"])


def file_name(given: Vector) -> object:
    return "entries/" + entry.file_name(given["title"], given["digest"], given["epoch_ms"])


def digest(given: Vector) -> object:
    kind = Kind(given["kind"]) if "kind" in given else None
    return entry.digest(**{**given, "kind": kind})


def message(given: Vector) -> object:
    return trailers.build(**{**given, "kind": Kind(given["kind"])})


def delete_message(given: Vector) -> object:
    return trailers.build_delete(**given)


def parse_message(given: Vector) -> object:
    found = trailers.parse(given["message"])
    return {
        "subject": found.subject,
        "summary": found.summary,
        "type": "unknown" if found.type is None else found.type.value,
        "keywords": list(found.keywords),
        "kind": found.kind.value,
        "digest": found.digest,
        "deletes": found.deletes,
        "replaces": found.replaces,
        "legacy": found.legacy,
    }


def entry_file(given: Vector) -> object:
    fields = dict(given)
    code = CodeState(fields.pop("code_branch"), fields.pop("code_commit"))
    return entry.render(**{**fields, "kind": Kind(fields["kind"])}, code=code).decode()


def unfolded(value: object) -> object:
    if isinstance(value, dict) and value.keys() == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    return value


def validate(given: Vector) -> object:
    fields = {name: unfolded(value) for name, value in given["entry"].items()}
    clean = entry.validate(entry.from_fields(fields), legacy=given["legacy"])
    return {
        "title": clean.title,
        "summary": clean.summary,
        "keywords": list(clean.keywords),
        "content": "(as given)" if len(clean.content) > 10_000 else clean.content,
        "related_branches": list(clean.related_branches),
        "related_paths": list(clean.related_paths),
        "kind": (clean.kind or Kind.TASK).value,
    }


def recency(given: Vector) -> object:
    return ranking.recency(given["now_ms"], given["committer_epoch"])


def rarity(given: Vector) -> object:
    return ranking.rarity(given["df"], given["n"])


def score_set(given: Vector) -> object:
    now_s = given["now_ms"] // 1000
    return ranking.scores(
        given["matched"],
        [now_s - int(age * 86_400) for age in given["ages_days"]],
        keywords=["a", "b", "c"],
        now_ms=given["now_ms"],
        mode={"count": Mode.TRAILER, "weighted": Mode.TRAILER_WEIGHTED}[given["mode"]],
    )


def iso_date(given: Vector) -> object:
    return text.iso_date(given["committer_epoch"] * 1000)


def links(given: Vector) -> object:
    return list(entry.links(given["content"]))


ADAPTERS: dict[str, Callable[[Vector], object]] = {
    "normalise": normalise,
    "normalise_keyword": normalise_keyword,
    "slug": slug,
    "file_name": file_name,
    "digest": digest,
    "digest_without_kind": digest,
    "add_message": message,
    "replace_message": message,
    "delete_message": delete_message,
    "parse_message": parse_message,
    "entry_file": entry_file,
    "validate": validate,
    "recency": recency,
    "rarity": rarity,
    "score_set": score_set,
    "iso_date": iso_date,
    "links": links,
}

# The other engine's sentence -> the field and the problem that we name.
REFUSALS = {
    "non-empty title": ("title", {"empty", "type"}),
    "title must be a single line": ("title", {"not-one-line"}),
    "title must be at most": ("title", {"too-long"}),
    "title contains unsafe control": ("title", {"control-character"}),
    "title must not contain reserved": ("title", {"reserved"}),
    "non-empty summary": ("summary", {"empty"}),
    "summary must be at most": ("summary", {"too-long"}),
    "summary contains unsafe control": ("summary", {"control-character"}),
    "summary must not contain reserved": ("summary", {"reserved"}),
    "non-empty content": ("content", {"empty"}),
    "content contains unsafe control": ("content", {"control-character"}),
    "content must be at most": ("content", {"too-long"}),
    "distinct entries after normalization": ("keywords", {"count-distinct"}),
    "keywords must contain": ("keywords", {"count"}),
    "keywords must be an array": ("keywords", {"type"}),
    "keywords must be a single line": ("keywords", {"not-one-line"}),
    "keywords must not contain reserved": ("keywords", {"reserved"}),
    "kind must be": ("kind", {"unknown"}),
    "related_paths escapes": ("related_paths", {"escapes"}),
    "related_paths resolves to the project root": ("related_paths", {"root"}),
    "related_paths must be project-relative": ("related_paths", {"absolute"}),
    "related_paths entries must be 1-1024": ("related_paths", {"length", "type"}),
    "related_paths entries must not be empty": ("related_paths", {"empty"}),
    "related_paths contains unsafe": ("related_paths", {"control-character"}),
    "related_paths allows at most": ("related_paths", {"count"}),
    "related_paths must be an array": ("related_paths", {"type"}),
    "related_branches entries must be": ("related_branches", {"length"}),
    "related_branches must not contain newlines": ("related_branches", {"not-one-line"}),
    "related_branches allows at most": ("related_branches", {"count"}),
    "related_branches must be an array": ("related_branches", {"type"}),
    "keyword must not be empty": ("keyword", {"empty"}),
    "keyword must be a single line": ("keyword", {"not-one-line"}),
    "keyword contains unsafe control": ("keyword", {"control-character"}),
    "each keyword must be at most": ("keyword", {"too-long"}),
}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_every_vector_is_answered_as_recorded(vector: Vector) -> None:
    answer = ADAPTERS[vector["fn"]]
    if "error" not in vector:
        expected = vector["output"]
        if vector["fn"] == "rarity":
            # The last bit of a logarithm is each C library's own; scores keep two decimals.
            expected = pytest.approx(expected, rel=1e-15, abs=0)
        assert answer(vector["input"]) == expected
        return
    with pytest.raises(InvalidDraft) as refusal:
        answer(vector["input"])
    stem = next(stem for stem in REFUSALS if stem in vector["error"])
    field, problems = REFUSALS[stem]
    # One keyword of a draft is named by its list, one of a query by itself.
    assert refusal.value.field.removesuffix("s") == field.removesuffix("s")
    assert refusal.value.problem in problems


def test_all_307_vectors_are_there() -> None:
    assert len(VECTORS) == 307
    assert {vector["fn"] for vector in VECTORS} == ADAPTERS.keys()


def test_the_formats_own_second_digest_vector_holds() -> None:
    fields: Vector = {
        "title": "[cache] bound LRU size",
        "summary": "Cap is 512 entries.\nEvict oldest.",
        "keywords": ["cache", "lru", "缓存"],
        "content": 'Line1\tTab "q" \\ \u2028 é 😀\x7f\n',
    }
    assert entry.digest(**fields, kind=Kind.TASK).startswith("c3c770a1")
    assert entry.digest(**fields, kind=None).startswith("37cb1145")
