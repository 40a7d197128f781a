"""Where do the journal and the disk disagree?"""

from heimdall.config import Settings
from heimdall.model import Drift


def verify(settings: Settings, *, deep: bool = False) -> tuple[Drift, ...]:
    """Every drift, sorted by path; `deep` reads and hashes every file. Changes nothing, takes no
    lock. Raises `NoJournal` where nothing was indexed."""
    raise NotImplementedError
