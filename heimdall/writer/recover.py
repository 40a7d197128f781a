"""A journal that cannot be used is set aside, never deleted, and the next one knows its roots.

What the journal holds is derived from the disk, but for what people told it: the roots and the
stores. These are kept a second time in `roots.json` beside it; a home without that file has them
read out of the damaged journal, as far as they can be. A journal that was made anew is queued by
hints for its roots, so that it says `behind` until a pass has filled it, whoever comes next. All of
this happens under the writer lock (`single-writer` is kept by whoever calls).
Held by tests/faults/test_writer_recovery.py.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from typing import NamedTuple

from heimdall import hints
from heimdall.config import Settings
from heimdall.errors import DamagedJournal, HeimdallError, IoRefused
from heimdall.journal import connect, schema, sql
from heimdall.journal.write import JournalWriter, open_writer
from heimdall.model import Depth
from heimdall.writer.lock import held

ROOTS_NAME = "roots.json"
"""What people told the journal, beside it in the state directory."""

_SIDECARS = ("", "-wal", "-shm")


class _Told(NamedTuple):
    """What people told the journal: roots with their depths, stores with their projects."""

    roots: dict[str, Depth | None]
    stores: dict[str, str]


@contextlib.contextmanager
def journal_of(settings: Settings) -> Iterator[JournalWriter]:
    """The pen of the journal, made anew where there is none or a damaged one. Where the damage
    shows only while it is used, it is set aside at the end and DamagedJournal raised: the next call
    begins anew. SQLite's other refusals, and the disk's, are IoRefused."""
    path = os.path.join(settings.home, schema.FILE_NAME)
    try:
        with _opened(settings, path) as journal:
            yield journal
            _remember(settings.home, journal)
    except HeimdallError as error:
        if isinstance(error, DamagedJournal) and error.path == path:
            _set_aside(settings, path)
        raise
    except OSError as error:
        raise IoRefused(settings.home, error.errno or 0, str(error)) from error
    except Exception as error:
        # Bytes that changed where SQLite does not look come up as a value that nothing expects.
        if isinstance(error, sqlite3.DatabaseError):
            told = connect.told(path, error)
            if isinstance(told, IoRefused):
                raise told from error
        if _is_sound(path):
            raise
        _set_aside(settings, path)
        raise DamagedJournal(path, str(error)) from error


def _opened(settings: Settings, path: str) -> JournalWriter:
    """The pen, opened; with its roots, where it is made anew."""
    aside = ""
    # The log of a writer that was killed is whole; one of another journal is believed too.
    doubtful = os.path.isfile(path) and _size(f"{path}-wal") > 0
    try:
        journal: JournalWriter | None = open_writer(settings.home, now=settings.now)
        if doubtful and journal is not None and not journal.sound():
            journal.close()
            journal = None
    except DamagedJournal:
        journal = None
    if journal is None:
        aside = _set_aside(settings, path)
        journal = open_writer(settings.home, now=settings.now)
    journal.aside = aside
    if journal.empty():
        _fill(settings, journal, aside)
    return journal


def _fill(settings: Settings, journal: JournalWriter, aside: str) -> None:
    """Give a new journal the roots that are known otherwise, and ask for a look at all of them."""
    if not journal.roots() and not journal.stores():
        told = _told(settings.home)
        if not any(told):
            told = _salvaged(aside or last_aside(settings.home))
        with journal.transaction():
            for root, depth in told.roots.items():
                journal.add_root(root, depth)
            for store, project in told.stores.items():
                journal.add_store(store, project)
    ask_for_all(settings, journal)


def ask_for_all(settings: Settings, journal: JournalWriter) -> bool:
    """Leave a hint for every root; False where it could not be written."""
    roots = [root.path for root in journal.roots()]
    at_ms = int(settings.now() * 1000)
    return hints.append(settings.home, roots, "made-anew", at_ms=at_ms) == len(roots)


# -- what people told ------------------------------------------------------------------------------


def _remember(home: str, journal: JournalWriter) -> None:
    """Keep the roots and stores beside the journal. Where the disk does not let us, the journal has
    them all the same."""
    told = _Told(
        {root.path: root.depth for root in journal.roots()},
        {store.path: store.root for store in journal.stores()},
    )
    if told == _told(home):
        return
    path = os.path.join(home, ROOTS_NAME)
    with contextlib.suppress(OSError):
        handle = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            # JSON in ASCII: a byte of a name that is no text is a lone surrogate, and comes back.
            file.write(json.dumps(told._asdict(), indent=1).encode("ascii"))
        os.replace(f"{path}.new", path)


def _told(home: str) -> _Told:
    """What the file says; nothing where it cannot be read or understood."""
    try:
        with open(os.path.join(home, ROOTS_NAME), "rb") as file:
            found = json.loads(file.read())
        depths = {str(path): _depth(one) for path, one in found["roots"].items()}
        return _Told(depths, {str(path): str(one) for path, one in found["stores"].items()})
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return _Told({}, {})


def _salvaged(path: str) -> _Told:
    """Roots and stores out of a damaged journal, as far as its pages can still be read."""
    told = _Told({}, {})
    if not os.path.isfile(path):
        return told
    address = connect.uri(path, "mode=ro&immutable=1")
    with contextlib.closing(sqlite3.connect(address, uri=True)) as broken:
        with contextlib.suppress(sqlite3.DatabaseError, ValueError, TypeError):
            for root, depth, _ in broken.execute(sql.ROOTS):
                told.roots[schema.text(root)] = _depth(depth)
        with contextlib.suppress(sqlite3.DatabaseError, TypeError):
            for store, root, _ in broken.execute(sql.STORES):
                told.stores[schema.text(store)] = schema.text(root)
    return told


def _depth(number: object) -> Depth | None:
    if number is None:
        return None
    if isinstance(number, int):
        return Depth(number)
    raise ValueError


# -- putting out of the way ------------------------------------------------------------------------


def mend(settings: Settings) -> str:
    """Open the journal under the lock and close it; where a damaged one lies aside then, "" for
    none."""
    with held(settings.home, settings.lock_timeout_s):
        try:
            with journal_of(settings) as journal:
                return journal.aside
        except DamagedJournal:
            with journal_of(settings):
                return last_aside(settings.home)


def _set_aside(settings: Settings, path: str) -> str:
    """Rename the journal, and its log with it, to a name that nobody has; the name."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(max(0.0, settings.now())))
    base = name = f"{path}.damaged-{moment}"
    number = 1
    while any(os.path.lexists(f"{name}{sidecar}") for sidecar in _SIDECARS):
        number += 1
        name = f"{base}-{number}"
    for sidecar in _SIDECARS:
        try:
            os.rename(f"{path}{sidecar}", f"{name}{sidecar}")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise IoRefused(path, error.errno or 0, "rename") from error
    return name


def last_aside(home: str) -> str:
    """The journal that was set aside last, "" where none was."""
    prefix = f"{schema.FILE_NAME}.damaged-"
    try:
        names = [name for name in os.listdir(home) if name.startswith(prefix)]
    except OSError:
        return ""
    kept = [os.path.join(home, name) for name in names if not name.endswith(_SIDECARS[1:])]
    return max(kept, key=lambda name: os.lstat(name).st_ctime_ns, default="")


def _is_sound(path: str) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            return connect.sound(connection)
    except sqlite3.DatabaseError:
        return False


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


# -- the copy before a rebuild ---------------------------------------------------------------------


def backup(settings: Settings, journal: JournalWriter) -> str:
    """Copy the journal beside itself; the copy's name. Raises IoRefused, and then leaves none."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(max(0.0, settings.now())))
    name = f"{os.path.join(settings.home, schema.FILE_NAME)}.backup-{moment}-{os.getpid()}"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        journal.copy_to(name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    return name


def drop_backups(home: str) -> None:
    """Remove every copy, also those that a killed rebuild left: the journal has been verified."""
    prefix = f"{schema.FILE_NAME}.backup-"
    with contextlib.suppress(OSError):
        for name in os.listdir(home):
            if name.startswith(prefix):
                os.unlink(os.path.join(home, name))
