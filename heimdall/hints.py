"""Telling the watchman which path may have changed: anyone appends, the writer takes.

A hint is one line of `hints.jsonl`, `{"path","reason","at"}`, and nothing in it is believed but the
path: a missed, doubled or wrong hint costs one stat (level-triggered). Appending is a whole process
in a git hook, so this room imports `os` and `sys` alone; what only the taker needs is imported
where it is needed. Nothing appended is ever lost, whoever is killed when: see `append` and `take`.
Held by tests/heimdall/test_hints.py.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # `typing` and `collections.abc` would cost as much as the hint.
    from collections.abc import Callable, Iterable, Mapping, Sequence

FILE_NAME = "hints.jsonl"
"""The hints inside the state directory."""

FALLBACK_NAME = "heimdall-hints.jsonl"
"""The hints inside a store's `.mem/.git`, where a sandbox forbids the state directory."""

LONGEST_PATH = 4096
"""Bytes; longer paths are refused, no system could open them."""

_TAKEN = ".taken."
_HELD_S = 60.0
_TRIES = 100


def append(home: str, paths: Sequence[str], reason: str, *, at_ms: int, fallback: str = "") -> int:
    """Append one hint for each path, in one write; the answer is how many were stored.

    Relative, over-long and NUL-bearing paths are refused and not counted. Where the state directory
    does not exist or cannot be written, the hints go to the file `fallback` (in a directory that
    exists); where that fails too, the answer is 0: a hint is never worth an error. No directory is
    ever made.
    """
    lines = [_line(path, reason, at_ms) for path in paths if acceptable(path)]
    if not lines:
        return 0
    data = "".join(lines).encode("ascii")
    for target in (os.path.join(home, FILE_NAME), fallback):
        if target and _appended(target, data):
            return len(lines)
    return 0


def acceptable(path: str) -> bool:
    """Whether a path can be hinted at: absolute, no NUL, at most `LONGEST_PATH` bytes."""
    if not path.startswith("/") or "\0" in path:
        return False
    try:
        return len(os.fsencode(path)) <= LONGEST_PATH
    except UnicodeEncodeError:
        # A lone surrogate that stands for no byte: no file can be called that.
        return False


def take(home: str, others: Iterable[str] = ()) -> tuple[list[str], Callable[[], None]]:
    """The hinted paths, each once in order of arrival, and what to call when they are safe.

    `others` are further hint files (`fallback` files of known stores). Files are renamed first and
    removed by the returned function; whoever dies between leaves them to the next taker, as is a
    file that somebody still has open. A path may be given twice and is never lost. Lines that are
    torn, foreign or hostile are passed over.
    """
    taken: list[tuple[str, str, int]] = []
    found: dict[str, None] = {}
    for base in (os.path.join(home, FILE_NAME), *others):
        _set_aside(base)
        for name in _aside(base):
            data = _content(name)
            taken.append((base, name, len(data)))
            found.update(dict.fromkeys(_paths(data)))

    def done() -> None:
        for base, name, size in taken:
            _finish(base, name, size)

    return list(found), done


def waiting(home: str, others: Iterable[str] = ()) -> int:
    """How many bytes of hints wait to be taken: 0 is none; changes nothing."""
    total = 0
    for base in (os.path.join(home, FILE_NAME), *others):
        for name in (base, *_aside(base)):
            try:
                total += os.stat(name).st_size
            except OSError:
                continue
    return total


# -- appending -------------------------------------------------------------------------------------


def _line(path: str, reason: str, at_ms: int) -> str:
    """One hint as ASCII: a lone surrogate, which stands for an undecodable byte, stays one."""
    quoted = _quote()
    return f'{{"path":{quoted(path)},"reason":{quoted(reason[:80])},"at":{at_ms}}}\n'


def _quote() -> Callable[[str], str]:
    """JSON's own quoting. `json` itself would load `re` and double the price of a hint."""
    try:
        from _json import encode_basestring_ascii  # noqa: PLC0415 # CPython's half in C, if there
    except ImportError:
        from json import dumps  # noqa: PLC0415 # the same, slower

        return dumps
    return encode_basestring_ascii


def _appended(target: str, data: bytes) -> bool:
    """Write `data` at the end of `target`, where a taker will surely see it.

    Opening and writing are two steps, and a taker may rename and read the file between them. So
    the name is looked at again afterwards: if it leads elsewhere now, the same is appended there
    once more. The taker may then see a hint twice, never not at all.
    """
    for _ in range(_TRIES):
        try:
            handle = os.open(
                target, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
        except OSError:
            return False
        try:
            if os.write(handle, data) != len(data):
                return False
            mine = os.fstat(handle)
            now = os.stat(target)
        except FileNotFoundError:
            continue
        except OSError:
            return False
        finally:
            os.close(handle)
        if (mine.st_dev, mine.st_ino) == (now.st_dev, now.st_ino):
            return True
    return True


# -- taking ----------------------------------------------------------------------------------------


def _set_aside(base: str) -> None:
    """Rename the hints to a name nobody has, so that appenders begin a new file."""
    for number in range(_TRIES):
        name = f"{base}{_TAKEN}{os.getpid()}.{number}"
        if os.path.lexists(name):
            continue
        try:
            os.rename(base, name)
        except OSError:
            return
        return


def _aside(base: str) -> list[str]:
    """What was set aside, by this taker or by one that died, in a fixed order."""
    folder, prefix = os.path.dirname(base), os.path.basename(base) + _TAKEN
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.startswith(prefix)]


def _content(name: str) -> bytes:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(handle, "rb") as file:
        return file.read()


def _paths(data: bytes) -> list[str]:
    """The acceptable paths in the lines of `data`, in order."""
    found = (_path(line) for line in data.split(b"\n") if line.strip())
    return [path for path in found if path and acceptable(path)]


def _path(line: bytes) -> str:
    """The path in one line, or "". A line torn by a full disk swallows the beginning of the next
    one, which is therefore looked for inside it."""
    import json  # noqa: PLC0415 # the taker alone pays for it

    for start in (0, line.rfind(b'{"path"')):
        if start < 0:
            continue
        try:
            # A shell writes a name as it is, and a name need not be UTF-8.
            value = json.loads(line[start:].decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("path"), str):
            path: str = value["path"]
            return path
    return ""


def _finish(base: str, name: str, size: int) -> None:
    """Remove a taken file; what an appender added after it was read goes back to the queue.

    `>>` of a shell opens, and writes a moment later, and does not look where the name leads then.
    So a file that somebody may still write to stays for the next taker.
    """
    if _open_elsewhere(name):
        return
    late = _content(name)[size:]
    if late and not _appended(base, late if late.endswith(b"\n") else late + b"\n"):
        return
    try:
        os.unlink(name)
    except FileNotFoundError:
        return


def _open_elsewhere(name: str) -> bool:
    """Whether another process has this file open, as far as the system can tell: Linux gives a
    write lease only to the one that has it open alone. Once nobody has, nobody can again, because
    no appender knows the taken name. Whatever holds a file for `_HELD_S` is no appender."""
    import errno  # noqa: PLC0415 # built in; the taker alone pays for these
    import fcntl  # noqa: PLC0415
    import signal  # noqa: PLC0415
    import time  # noqa: PLC0415

    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        # Another taker that opens it within this moment makes the kernel send a signal, which by
        # default would end the process; this one is ignored by default.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        fresh = time.time() - os.fstat(handle).st_ctime < _HELD_S
        return error.errno == errno.EAGAIN and fresh
    finally:
        os.close(handle)
    return False


# -- the command -----------------------------------------------------------------------------------

_PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "paths", "files")
"""Where coding harnesses put the files of an edit in what they hand to a hook."""


def state_home(env: Mapping[str, str], user_home: str) -> str:
    """The state directory, by the rule of `heimdall.config` (which costs more to import than this
    room may); "" where HEIMDALL_HOME is not absolute. A test holds the two together."""
    given = env.get("HEIMDALL_HOME", "")
    if not given:
        return os.path.join(user_home, ".heimdall")
    if given == "~" or given.startswith("~/"):
        given = user_home + given[1:]
    return os.path.normpath(given) if os.path.isabs(given) else ""


def from_stdin(data: bytes, cwd: str) -> list[str]:
    """The paths in what was piped in: a harness's JSON object (the values of its path keys, at any
    depth), else names separated by NUL, else by newline. Relative ones are taken from `cwd`."""
    if data.lstrip()[:1] == b"{":
        names = _payload_names(data)
    else:
        parts = data.split(b"\0" if b"\0" in data else b"\n")
        names = [os.fsdecode(part) for part in parts if part]
    return [absolute(name, cwd) for name in names]


def absolute(name: str, cwd: str) -> str:
    """`name` seen from `cwd`, without `.` and `..`; links are not resolved."""
    return os.path.normpath(os.path.join(cwd, name))


def _payload_names(data: bytes) -> list[str]:
    import json  # noqa: PLC0415 # only a harness's hook pays for it

    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        return []
    names: list[str] = []
    heap: list[object] = [payload]
    while heap:
        value = heap.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                given = inner if isinstance(inner, list) else [inner]
                if key in _PATH_KEYS:
                    names.extend(name for name in given if isinstance(name, str) and name)
                heap.append(inner)
        elif isinstance(value, list):
            heap.extend(value)
    return names


def main(arguments: Sequence[str]) -> int:
    """`[--reason WORD] [--stdin] [PATH…]`: 0, or 2 for a wrong call. A hint that could not be
    stored is no failure: the next audit finds what it would have told."""
    import time  # noqa: PLC0415 # built in; only the command needs the clock

    paths, reason, cwd = [], "hook", os.getcwd()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--stdin":
            paths += from_stdin(sys.stdin.buffer.read(), cwd)
        elif word == "--reason" and rest:
            reason = rest.pop(0)
        elif word == "--":
            paths += [absolute(name, cwd) for name in rest]
            break
        elif word.startswith("-"):
            return 2
        else:
            paths.append(absolute(word, cwd))
    home = state_home(os.environ, os.path.expanduser("~"))
    if not home:
        return 2
    at_ms = int(time.time() * 1000)
    if paths and not append(home, paths, reason, at_ms=at_ms):
        append(home, paths, reason, at_ms=at_ms, fallback=fallback_for(cwd))
    return 0


def fallback_for(cwd: str) -> str:
    """The hint file of the store that `cwd` belongs to, "" where there is none."""
    from gitmemo import locate  # noqa: PLC0415 # only a sandbox pays for it

    place = locate(cwd)
    folder = os.path.join(place.store_root, ".mem", ".git") if place else ""
    return os.path.join(folder, FALLBACK_NAME) if folder and os.path.isdir(folder) else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
