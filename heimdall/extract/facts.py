"""All that one file's bytes say."""

from heimdall.model import Depth, Facts


def facts(path: str, data: bytes, asked: Depth) -> Facts:
    """The facts of `data`; `path` gives only its name's suffix and its last part."""
    raise NotImplementedError
