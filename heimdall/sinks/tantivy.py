"""Default sink"""

from heimdall.sinks.base import SinkReader, SinkWriter


def open_sink_writer(home: str) -> SinkWriter:
    raise NotImplementedError


def open_sink_reader(home: str, stamp: str) -> "SinkReader | str":
    """The reader, or "absent" / "foreign" / "damaged" where the index does not belong to `stamp`."""
    raise NotImplementedError
