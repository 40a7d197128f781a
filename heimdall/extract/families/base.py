"""What a family of languages must be able to say, with answers that fit many of them.

Every function here is pure, takes the text of one capture, and must give an empty answer for text
that it does not understand: half-written files reach it every day.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

Pairs = list[tuple[str, str]]
Assigned = list[tuple[str, str, str]]

_TYPE_NAME = re.compile(r"[^\W\d][\w.]*")


class Import(NamedTuple):
    """One imported name: `name` is bound here to `target` of `module` ("" for the unit itself;
    `name` "*" takes all that the unit exports, "" binds nothing). With `reexport` the name is not
    bound in this file but offered to those who import it."""

    name: str
    module: str
    target: str
    reexport: bool = False


def nothing(_text: str) -> list[Import]:
    """No imports."""
    return []


def no_pairs(_text: str) -> Pairs:
    """No parameters."""
    return []


def no_assignment(_text: str) -> Assigned:
    """No assignments."""
    return []


def one_name(text: str) -> list[str]:
    """The name as it stands."""
    return [text]


def first_name(text: str) -> str:
    """The first dotted name in a type: right for `*Server`, `&mut Foo`, `Box`."""
    found = _TYPE_NAME.search(text)
    return found[0] if found else ""


def never(_name: str, _kind: str) -> bool:
    """Nothing is a constant."""
    return False


class Family(NamedTuple):
    """The answers.

    Text in, values out: `imports`, an import statement; `params`, a parameter list -> (name, type
    text), where the name `this.x` is a property as well; `assign`, an assignment -> (target, type
    text, value text); `name_parts`, a definition's name -> qualifiers and the name; `type_name`,
    the one class that a type promises, "" for containers and unions; `is_constant`, whether a name
    with a type text at the top or in a class gets a node; `called`, the chain that is called in a
    call's text, where that has its arguments; `mend`, a text of equal length where the grammar
    stumbles over legal code.

    Words: `separators` part a chain (`a.b`, `A::b`); `this`, `this_type` and `super_words` mean
    the instance, its class and what lies above it; `builtins` are names that the language
    provides; `comment` begins a comment that may end a block without being part of its definition
    ("" where blocks have an end of their own); `constructor` is the method that making an instance
    calls; `exports_name` is the variable that lists what a star import takes; `default_call` is
    what calling a unit calls.

    Rules: `first_parameter_is_self`; `members_visible`, a bare name in a method may be a member;
    `open_names`, a bare name may come from another file of the package; `hoisted`, a definition
    counts before its line.
    """

    imports: Callable[[str], list[Import]] = nothing
    params: Callable[[str], Pairs] = no_pairs
    assign: Callable[[str], Assigned] = no_assignment
    name_parts: Callable[[str], list[str]] = one_name
    type_name: Callable[[str], str] = first_name
    is_constant: Callable[[str, str], bool] = never
    called: Callable[[str], str] | None = None
    mend: Callable[[bytes], bytes] | None = None
    separators: tuple[str, ...] = (".",)
    this: frozenset[str] = frozenset()
    this_type: frozenset[str] = frozenset()
    super_words: frozenset[str] = frozenset()
    builtins: frozenset[str] = frozenset()
    comment: bytes = b""
    constructor: str = ""
    exports_name: str = ""
    first_parameter_is_self: bool = False
    members_visible: bool = False
    open_names: bool = False
    members_elsewhere: bool = False
    hoisted: bool = True
    default_call: str = ""
