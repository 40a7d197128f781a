"""The only importer of tree-sitter."""


def extractor(language: str) -> str:
    """The version of what extracts `language`; "-" for files without a grammar."""
    return "-"
