"""The command ``rulescore``, also as ``python -m rulescore``: starts the command line of the testers."""

from __future__ import annotations

import sys

from rulescore.shipped import import_shipped


def main() -> int:
    """Run the command line and return its exit status."""
    return int(import_shipped("testutils.runs.command_line").main())


if __name__ == "__main__":
    sys.exit(main())
