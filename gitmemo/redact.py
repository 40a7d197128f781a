"""Redaction: secrets are replaced before anything is written."""

from gitmemo.model import Draft, Redaction


def redact(draft: Draft) -> tuple[Draft, tuple[Redaction, ...]]:
    """`draft` with secrets replaced by `[redacted:<kind>]`, and what was replaced where."""
    raise NotImplementedError


def redact_text(text: str, field: str) -> tuple[str, tuple[Redaction, ...]]:
    """The same for one text, such as a withdrawal's reason; `field` names it in the report."""
    raise NotImplementedError
