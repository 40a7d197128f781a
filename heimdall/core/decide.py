"""decide"""
from heimdall.model import Action, Depth, Observed, PathRow

def must_read(row: PathRow | None, observed: Observed, *, asked: Depth, extractor: str) -> bool:
    raise NotImplementedError

def decide(row: PathRow | None, observed: Observed, digest: bytes | None, *, asked: Depth, extractor: str) -> Action:
    raise NotImplementedError
