"""How deep a path is indexed: what was asked for it, by rule.

Pure. Rules are patterns of absolute paths; the longest pattern that matches decides, so that a
narrow rule always wins over a wide one. Held by tests/heimdall/core/test_depth.py.
"""

from collections.abc import Mapping

from heimdall.model import Depth


def asked(path: str, rules: Mapping[str, Depth], default: Depth) -> Depth:
    """The depth asked of `path`: that of the longest matching pattern, else `default`.

    A pattern matches a path and all beneath it. `*` stands for anything within one part, `?` for one
    character of a part, `**` for any number of whole parts.
    """
    raise NotImplementedError
