"""Everything that can go wrong in the watchman, by whose fault it is.

    HeimdallError
    ├── CallerError         the call is wrong
    │   ├── BadArgument         an option or argument cannot be understood
    │   ├── UnknownPath         a path that does not exist or lies outside every root
    │   └── BadConfig           config.toml says something that no setting knows
    ├── JournalError        the journal cannot be used as it is
    │   ├── NoJournal           nothing was indexed yet
    │   ├── NewerJournal        written by a newer version
    │   └── DamagedJournal      truncated, or not SQLite
    └── WorldError          the machine said no
        ├── WriterBusy          another process holds the writer lock
        └── IoRefused           disk full, no permission, I/O error

Classes carry facts; sentences, hints and exit codes live in `heimdall.cli.exits` and a test proves
that no class lacks its row. Nothing is imported here.
"""


class HeimdallError(Exception):
    """Never raised itself; every subclass is one kind of failure."""

    def facts(self) -> dict[str, object]:
        """The error's own fields by name, for `--json` and for the table of sentences."""
        return dict(vars(self))


class CallerError(HeimdallError):
    """The call is wrong and would be wrong again."""


class BadArgument(CallerError):
    """`argument` was given as `value`; `problem` names the rule."""

    def __init__(self, argument: str, value: str, problem: str) -> None:
        super().__init__(argument, value, problem)
        self.argument = argument
        self.value = value
        self.problem = problem


class UnknownPath(CallerError):
    """`path` does not exist, or no root holds it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem


class BadConfig(CallerError):
    """`key` in the file `path` is unknown or has a wrong value; `nearest` is a known key or ""."""

    def __init__(self, path: str, key: str, problem: str, nearest: str = "") -> None:
        super().__init__(path, key, problem, nearest)
        self.path = path
        self.key = key
        self.problem = problem
        self.nearest = nearest


class JournalError(HeimdallError):
    """The journal at `path` cannot be used; `detail` is SQLite's word or a version."""

    def __init__(self, path: str, detail: str = "") -> None:
        super().__init__(path, detail)
        self.path = path
        self.detail = detail


class NoJournal(JournalError):
    """Nothing was ever indexed."""


class NewerJournal(JournalError):
    """Written by a newer heimdall; this one keeps its hands off."""


class DamagedJournal(JournalError):
    """Truncated, not SQLite, or inconsistent."""


class WorldError(HeimdallError):
    """The machine refused; the same call may succeed later."""


class WriterBusy(WorldError):
    """`path` is locked by `holder` after `waited_s` seconds."""

    def __init__(self, path: str, holder: str, waited_s: float) -> None:
        super().__init__(path, holder, waited_s)
        self.path = path
        self.holder = holder
        self.waited_s = waited_s


class IoRefused(WorldError):
    """An operation on `path` failed with errno `code`."""

    def __init__(self, path: str, code: int, detail: str) -> None:
        super().__init__(path, code, detail)
        self.path = path
        self.code = code
        self.detail = detail
