"""Print where a bundled example lies: `python -m aifix.examples [NAME]`; without a name, list them."""

from __future__ import annotations

import sys

from aifix import examples


def main(arguments: list[str]) -> int:
    """Run the command; return its exit status."""
    if not arguments:
        print("\n".join(examples.names()))
        return 0
    try:
        print(examples.path(arguments[0]))
    except KeyError:
        print(f"no example is called {arguments[0]!r}; there are: {', '.join(examples.names())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
