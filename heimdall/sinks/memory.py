"""The sink that leaves no trace."""


class MemorySink:
    """Reader and writer in one."""
