"""What the user may set, and the only room that reads it from the outside.

Order: environment, then `config.toml` in the state directory, then the defaults below. The
environment and the home arrive as parameters, so that nothing deeper ever asks the process for
them. A key that no setting knows is refused with its nearest relative: a typo that is silently
ignored is a setting that silently does nothing. Imported by every search, hence nothing heavy here:
`tomllib` is loaded only where a file exists. Held by tests/heimdall/test_config.py.
"""

import os
import time
from collections.abc import Callable, Mapping

from gitmemo import Identity
from gitmemo.values import NamedTuple
from heimdall.errors import BadConfig, IoRefused
from heimdall.model import Depth

FILE_NAME = "config.toml"
"""The file of settings inside the state directory."""

DEPTHS = {
    "path": Depth.PATH,
    "file": Depth.FILE,
    "symbol": Depth.SYMBOL,
    "graph": Depth.GRAPH,
    "max": Depth.GRAPH,
}
"""The depths by the names people write."""


class Settings(NamedTuple):
    """Everything that may be set. `home` is the state directory (absolute); `jobs` the number of
    parsing processes; `lock_timeout_s` how long to wait for another writer, in seconds;
    `shared_worktrees` whether linked worktrees share the main checkout's store; `identity` who
    commits memories (None: git's own answer); `depth` how deep a new root is indexed; `now` the
    clock, in seconds since the epoch."""

    home: str
    jobs: int = 1
    lock_timeout_s: float = 30.0
    shared_worktrees: bool = True
    identity: Identity | None = None
    depth: Depth = Depth.GRAPH
    now: Callable[[], float] = time.time


ENVIRONMENT = {
    "HEIMDALL_JOBS": "jobs",
    "HEIMDALL_LOCK_TIMEOUT_S": "lock_timeout_s",
    "HEIMDALL_DEPTH": "depth",
}
"""The settings that an environment variable overrides; HEIMDALL_HOME comes before them all."""


def load(
    env: Mapping[str, str], user_home: str, *, now: Callable[[], float] = time.time
) -> Settings:
    """The settings for this process.

    Raises BadConfig for a value or key that cannot be meant, IoRefused for a file that cannot be
    read. A missing file or directory is the ordinary case and creates nothing.
    """
    home = _home(env, user_home)
    path = os.path.join(home, FILE_NAME)
    values = _checked(_read(path), path)
    for variable, key in ENVIRONMENT.items():
        if env.get(variable):
            values[key] = _value(key, _number(env[variable]), variable)
    values.setdefault("jobs", _processors())
    return Settings(home=home, now=now, **values)  # type: ignore[arg-type] # _RULES gave each its type


def _home(env: Mapping[str, str], user_home: str) -> str:
    """The state directory: HEIMDALL_HOME, else `.heimdall` in the user's home."""
    given = env.get("HEIMDALL_HOME", "")
    if not given:
        return os.path.join(user_home, ".heimdall")
    if given == "~" or given.startswith("~/"):
        given = user_home + given[1:]
    if not os.path.isabs(given):
        raise BadConfig("environment", "HEIMDALL_HOME", "must be an absolute path")
    return os.path.normpath(given)


def _read(path: str) -> dict[str, object]:
    """The file's tables, or nothing where there is no file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise IoRefused(path, error.errno or 0, "read") from error
    import tomllib  # noqa: PLC0415 # four milliseconds that only the owner of a file pays

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(path, "", f"is not TOML ({error})") from error


def _checked(tables: Mapping[str, object], path: str) -> dict[str, object]:
    """The file's values as settings; every key is known and every value has its rule's type."""
    values: dict[str, object] = {}
    for key, value in tables.items():
        if key not in _RULES:
            raise BadConfig(path, key, "is not a setting", _nearest(key))
        values[key] = _value(key, value, path)
    return values


def _nearest(key: str) -> str:
    """The known key that a typo most likely meant, or ""."""
    import difflib  # noqa: PLC0415 # only a typo pays for it

    return next(iter(difflib.get_close_matches(key, _RULES, n=1, cutoff=0.6)), "")


def _number(text: str) -> object:
    """An environment variable's text as the number it may be, else as it is."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _value(key: str, value: object, path: str) -> object:
    """`value` in the setting's own type; BadConfig says what it must be."""
    rule, problem = _RULES[key]
    found = rule(value)
    if found is None:
        raise BadConfig(path, key, problem)
    return found


def _whole(value: object) -> object:
    return value if type(value) is int and 1 <= value <= 256 else None


def _seconds(value: object) -> object:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 86_400
    return float(value) if isinstance(value, int | float) and fits else None


def _truth(value: object) -> object:
    return value if isinstance(value, bool) else None


def _depth(value: object) -> object:
    return DEPTHS.get(value) if isinstance(value, str) else None


def _identity(value: object) -> object:
    if not isinstance(value, dict) or set(value) != {"name", "email"}:
        return None
    name, email = value["name"], value["email"]
    if not (isinstance(name, str) and isinstance(email, str)):
        return None
    if not name.strip() or not email.strip() or set("<>\n\0") & set(name + email):
        return None
    return Identity(name.strip(), email.strip())


_RULES: dict[str, tuple[Callable[[object], object], str]] = {
    "jobs": (_whole, "must be a whole number from 1 to 256"),
    "lock_timeout_s": (_seconds, "must be a number of seconds from 0 to 86400"),
    "shared_worktrees": (_truth, "must be true or false"),
    "identity": (_identity, "must be a table with a name and an email"),
    "depth": (_depth, "must be one of path, file, symbol, graph, max"),
}
"""Setting -> how its value is taken (None: refused), and what it must be."""


def _processors() -> int:
    """The processors this process may use, at least one."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
