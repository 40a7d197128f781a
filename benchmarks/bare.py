"""The yardstick of an index: tree-sitter alone. Reads, parses and captures every n-th file of a
folder and keeps nothing. Run as a process: `python -m benchmarks.bare FOLDER PART PARTS`."""

import os
import sys

from tree_sitter import Parser, Query, QueryCursor
from tree_sitter_language_pack import get_language

QUERY = """
(class_definition name: (identifier) @name) @class
(class_definition superclasses: (argument_list) @bases)
(function_definition name: (identifier) @name parameters: (parameters) @parameters) @function
(call function: (_) @callee) @call
(import_statement) @import
(import_from_statement) @import
(assignment left: (identifier) @assigned)
"""
"""What any index of definitions, calls, imports and base classes must capture."""


def main(folder: str, part: int, parts: int) -> None:
    """Parse and capture one part of the Python files below `folder`."""
    language = get_language("python")
    parser, cursor = Parser(language), QueryCursor(Query(language, QUERY))
    captured = 0
    for number, path in enumerate(python_files(folder)):
        if number % parts == part:
            with open(path, "rb") as file:
                tree = parser.parse(file.read())
            captured += sum(len(nodes) for nodes in cursor.captures(tree.root_node).values())
    sys.stdout.write(f"{captured}\n")


def python_files(folder: str) -> list[str]:
    """The files in a fixed order, the large ones spread evenly over the parts."""
    found = [
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py")
    ]
    return sorted(found, key=lambda path: (-os.stat(path).st_size, path))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
