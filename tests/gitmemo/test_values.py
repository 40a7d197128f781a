"""The lean named tuples, judged by the standard library's own."""

import pickle
from collections import namedtuple

import pytest

from gitmemo.values import NamedTuple


class Spot(NamedTuple):
    """A value with all that a class statement may hold."""

    x: int
    y: str = "up"
    z: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.x}{self.y}"


Theirs = namedtuple("Theirs", ("x", "y", "z"), defaults=("up", ()))  # the model


def test_it_is_made_as_the_standard_librarys_is() -> None:
    assert tuple(Spot(1)) == tuple(Theirs(1))
    assert tuple(Spot(1, z=(2,))) == tuple(Theirs(1, z=(2,)))
    assert Spot._make([1, "b", (3,)]) == Spot(1, "b", (3,))
    assert Spot(1)._replace(y="down") == Spot(1, "down")
    assert Spot(1)._asdict() == Theirs(1)._asdict()


def test_it_tells_of_itself_as_the_standard_librarys_does() -> None:
    assert repr(Spot(1, "b")) == repr(Theirs(1, "b")).replace("Theirs", "Spot")
    assert Spot._fields == Theirs._fields == Spot.__match_args__
    assert Spot._field_defaults == Theirs._field_defaults
    assert Spot.__mro__ == (Spot, tuple, object)
    assert list(Spot.__annotations__) == ["x", "y", "z"]
    assert (Spot.__module__, Spot.__qualname__, Spot.__doc__) == (
        __name__,
        "Spot",
        "A value with all that a class statement may hold.",
    )


def test_what_the_body_defines_is_there() -> None:
    assert Spot(4).label == "4up"


@pytest.mark.parametrize("made", [Spot, Theirs])
def test_what_does_not_fit_the_fields_is_refused(made: type[Spot]) -> None:
    with pytest.raises(TypeError):
        made()  # type: ignore[call-arg] # that is the point
    with pytest.raises(TypeError):
        made(1, "b", (), 4)  # type: ignore[call-arg] # that is the point
    with pytest.raises(TypeError):
        made(w=1)  # type: ignore[call-arg] # that is the point
    with pytest.raises(TypeError):
        made._make([1])
    with pytest.raises((ValueError, TypeError)):
        made(1)._replace(w=1)  # type: ignore[call-arg] # that is the point
    with pytest.raises(AttributeError):
        made(1).x = 2  # type: ignore[misc] # that is the point
    with pytest.raises(AttributeError):
        made(1).w = 2  # type: ignore[attr-defined] # that is the point


def test_a_field_without_a_default_may_not_follow_one_with_a_default() -> None:
    with pytest.raises(TypeError):
        exec("class Wrong(NamedTuple):\n    a: int = 1\n    b: int\n", {"NamedTuple": NamedTuple})


def test_it_survives_a_pickle_and_matches_patterns() -> None:
    assert pickle.loads(pickle.dumps(Spot(7, "b"))) == Spot(7, "b")
    assert type(pickle.loads(pickle.dumps(Spot(7, "b")))) is Spot
    match Spot(1, "b"):
        case Spot(x, y):
            assert (x, y) == (1, "b")
