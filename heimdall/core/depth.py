"""How deep a path is indexed: what was asked for it, by rule.

Pure. Rules are patterns of absolute paths; the longest pattern that matches decides, so that a
narrow rule always wins over a wide one. Held by tests/heimdall/core/test_depth.py.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from heimdall.model import Depth


def asked(path: str, rules: Mapping[str, Depth], default: Depth) -> Depth:
    """The depth asked of `path`: that of the longest matching pattern, else `default`.

    A pattern matches a path and all beneath it. `*` stands for anything within one part, `?` for
    one character of a part, `**` as a whole part for any number of parts. Of patterns of equal
    length the one that sorts last decides.
    """
    best = max(
        ((len(pattern), pattern) for pattern in rules if _compiled(pattern).fullmatch(path)),
        default=None,
    )
    return rules[best[1]] if best else default


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as an expression that matches it and all beneath it."""
    parts = pattern.rstrip("/").split("/")
    text = ""
    for place, part in enumerate(parts):
        slash = "/" if place else ""
        if part == "**":
            text += f"(?:{slash}[^/]+)*"
        else:
            text += slash + "".join(map(_piece, part))
    return re.compile(text + "(?:/.*)?", re.DOTALL)


def _piece(character: str) -> str:
    return {"*": "[^/]*", "?": "[^/]"}.get(character) or re.escape(character)
