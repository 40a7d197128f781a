"""Where a missing thing went."""

from hypothesis import given
from hypothesis import strategies as st

from heimdall.core.rehome import NOWHERE, Candidate, choose


def test_nothing_found_is_nowhere() -> None:
    assert choose("a.py", []) == NOWHERE


def test_the_only_identical_file_is_the_new_place() -> None:
    choice = choose("a.py", [Candidate("b.py", 1.0), Candidate("lib/a.py", 0.95)])
    assert choice == ("b.py", 1.0, ())


def test_of_two_identical_files_the_one_that_was_seen_moving_is_it() -> None:
    found = [Candidate("b.py", 1.0), Candidate("c.py", 1.0, followed=True)]
    assert choose("a.py", found).path == "c.py"


def test_of_two_identical_files_the_one_that_kept_its_name_is_it() -> None:
    found = [Candidate("b.py", 1.0), Candidate("lib/a.py", 1.0)]
    assert choose("src/a.py", found).path == "lib/a.py"


def test_equal_candidates_are_named_and_none_is_guessed() -> None:
    found = [Candidate("y/a.py", 1.0), Candidate("x/a.py", 1.0)]
    assert choose("a.py", found) == (None, 0.0, ("x/a.py", "y/a.py"))


def test_a_clearly_most_similar_file_is_the_new_place() -> None:
    found = [Candidate("b.py", 0.9), Candidate("c.py", 0.8)]
    assert choose("a.py", found) == ("b.py", 0.9, ())


def test_two_nearly_equally_similar_files_are_no_place() -> None:
    found = [Candidate("b.py", 0.85), Candidate("c.py", 0.8)]
    assert choose("a.py", found) == (None, 0.0, ("b.py", "c.py"))


def test_a_name_parts_nearly_equally_similar_files() -> None:
    found = [Candidate("lib/a.py", 0.8), Candidate("c.py", 0.85)]
    assert choose("src/a.py", found) == ("lib/a.py", 0.8, ())


def test_a_name_alone_is_nothing() -> None:
    assert choose("src/a.py", [Candidate("lib/a.py", 0.3)]) == NOWHERE


def test_a_symbol_keeps_its_file_and_name_only_together() -> None:
    found = [Candidate("lib/a.py#f", 1.0), Candidate("b.py#f", 1.0)]
    assert choose("src/a.py#f", found).path == "lib/a.py#f"


candidates = st.lists(
    st.builds(
        Candidate,
        st.sampled_from(["a.py", "x/a.py", "b.py", "c.py"]),
        st.sampled_from([0.2, 0.5, 0.85, 0.9, 0.99, 1.0]),
        st.booleans(),
    ),
    max_size=5,
)


@given(candidates, st.randoms())
def test_the_order_of_the_candidates_does_not_matter(
    found: list[Candidate], random: object
) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # hypothesis gives a random.Random
    assert choose("old/a.py", shuffled) == choose("old/a.py", found)


@given(candidates)
def test_a_chosen_place_is_one_that_was_found_and_is_alike_enough(found: list[Candidate]) -> None:
    choice = choose("old/a.py", found)
    if choice.path is not None:
        alike = max(one.similarity for one in found if one.path == choice.path)
        assert choice.similarity == alike >= 0.5
        assert choice.candidates == ()
