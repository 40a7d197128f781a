"""drift"""
from heimdall.model import Depth, Drift, Observed, PathRow

def drift(row: PathRow | None, observed: Observed, *, asked: Depth, extractor: str, digest: bytes | None = None) -> Drift | None:
    """The drift of one path, None where journal and disk agree. digest: bytes now, where hashed"""
    raise NotImplementedError
