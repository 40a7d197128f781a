"""The help of every command is as it was reviewed; `make golden` writes it anew."""

from tests.heimdall.cli import golden


def test_the_help_is_the_reviewed_one() -> None:
    with open(golden.FILE, encoding="utf-8") as file:
        assert golden.text() == file.read()
