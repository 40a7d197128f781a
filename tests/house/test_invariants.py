"""Each invariant has one name, one sentence in docs, one home in the code and one law in tests."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

NAMES = frozenset(
    {
        "level-triggered",
        "single-writer",
        "exact-ownership",
        "content-oracle",
        "generation-guard",
        "order-independence",
        "clean-rebuild-parity",
        "project-before-commit",
        "audit-backstop",
        "three-outcomes",
        "no-silent-skip",
    }
)
LAW = re.compile(r'"""([a-z]+(?:-[a-z]+)+): ')
ROW = re.compile(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)


def _rows() -> dict[str, tuple[str, str]]:
    text = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
    section = text.split("## The invariants", 1)[1].split("\n## ", 1)[0]
    return {name: (sentence, home) for name, sentence, home in ROW.findall(section)}


def test_the_documentation_names_each_invariant_once_with_its_sentence() -> None:
    assert _rows().keys() == NAMES


def test_each_invariant_has_a_law_of_its_name_that_begins_with_its_sentence() -> None:
    for name, (sentence, _) in _rows().items():
        path = ROOT / "tests" / "laws" / f"test_{name.replace('-', '_')}.py"
        text = path.read_text(encoding="utf-8")
        found = LAW.match(text)
        assert found is not None, path
        assert found.group(1) == name
        spoken = " ".join(text.split('"""', 2)[1].removeprefix(f"{name}: ").split())
        assert spoken.replace("*", "") == sentence.replace("*", "").rstrip(".") + "."
        assert re.search(r"^def test_|^TestHistory = ", text, re.MULTILINE), path


def test_each_invariant_is_named_where_it_is_kept() -> None:
    for name, (_, home) in _rows().items():
        modules = re.findall(r"`(heimdall/[\w/]+\.py)`", home)
        assert modules, name
        for module in modules:
            text = " ".join((ROOT / module).read_text(encoding="utf-8").split())
            assert name in text, f"{module} does not say that it keeps {name}"


def test_no_code_speaks_of_an_invariant_that_is_not_one() -> None:
    for directory, _, names in os.walk(ROOT / "heimdall"):
        for name in names:
            if name.endswith(".py"):
                text = Path(directory, name).read_text(encoding="utf-8")
                for spoken in re.findall(r"[Kk]eeps `([a-z]+(?:-[a-z]+)+)`", text):
                    assert spoken in NAMES, f"{name} keeps {spoken}"
