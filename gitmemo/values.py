"""Named tuples at a third of the price, for the modules that every search loads.

A search is a whole process, and one of them makes some sixty such classes before it asks anything:
`typing.NamedTuple` takes 75 µs for each, because it checks every annotation and makes each class
twice, and importing `typing` costs four milliseconds more. To a type checker these are the same; at
run time a class statement gives an ordinary subclass of `tuple` with the fields, defaults and
methods that `collections.namedtuple` gives. Imports nothing, knows nothing of memories, and is the
one room that other packages may import from directly. Tests: tests/gitmemo/test_values.py.
"""

import sys

TYPE_CHECKING = False

if TYPE_CHECKING or sys.version_info >= (3, 14):
    # From 3.14 on the fields of a class stand in no namespace that could be read cheaply.
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 # handed on
    from typing import Protocol as Protocol  # noqa: PLC0414 # handed on
else:
    from _collections import _tuplegetter

    def _make(cls, values):
        """A new value of the fields in order; TypeError where their number is another."""
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes):
        """The same value with some fields changed; ValueError for a field that there is not."""
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self):
        """The fields by name, in their order."""
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        """The value as it would be written."""
        said = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({', '.join(said)})"

    def _plain(self):
        """The fields alone, which is what a pickle holds."""
        return tuple(self)

    _SHARED = {
        "__slots__": (),
        "__repr__": _repr,
        "__getnewargs__": _plain,
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
    }

    class _Maker(type):
        """Turns the body of a class statement into that of a plain class."""

        def __new__(cls, name, bases, body):  # noqa: ARG004 # what a metaclass is called with
            types = body.get("__annotations__", {})
            fields = tuple(types)
            defaults = {field: body[field] for field in fields if field in body}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one with a default")
            listed = "".join(f"{field}, " for field in fields)
            # The one way to a constructor that takes its fields by name at the speed of a call.
            new = eval(  # noqa: S307 # the fields are identifiers of a class statement
                f"lambda _cls, {listed}: _new(_cls, ({listed}))", {"_new": tuple.__new__}
            )
            new.__name__, new.__defaults__ = "__new__", tuple(defaults.values())
            new.__annotations__ = types
            getters = {field: _tuplegetter(at, "") for at, field in enumerate(fields)}
            own = {
                "__new__": new,
                "_fields": fields,
                "_field_defaults": defaults,
                "__match_args__": fields,
            }
            return type(name, (tuple,), {**_SHARED, **body, **getters, **own})

    class _Base:
        """What stands among the bases of a class statement, and is no base of what it makes."""

        def __mro_entries__(self, bases):
            return (type.__new__(_Maker, "_Made", (), {}),)

    NamedTuple = _Base()

    class Protocol:
        """At run time a protocol asks for nothing."""
