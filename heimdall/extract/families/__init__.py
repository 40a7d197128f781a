"""How each family of languages spells imports, parameters and assignments: text in, values out.

A family never sees a tree and keeps no state; `family(name)` finds one by its row's word.
"""

from importlib import import_module

from heimdall.extract.families.base import Family

_loaded: dict[str, Family] = {}


def family(name: str) -> Family:
    """The `FAMILY` of `heimdall.extract.families.<name>`."""
    found = _loaded.get(name)
    if found is None:
        found = import_module(f"heimdall.extract.families.{name}").FAMILY
        assert isinstance(found, Family)
        _loaded[name] = found
    return found
