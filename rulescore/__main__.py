"""The command ``rulescore``, also as ``python -m rulescore``: finds our ``testutils`` and starts its command line."""

from __future__ import annotations

import sys

from rulescore.tables.discovery import ShadowedPackageError, import_shipped


def main() -> int:
    """Run the command line and return its exit status."""
    try:
        cli = import_shipped("testutils.runs.command_line")
    except ShadowedPackageError as error:
        print(f"rulescore: {error}", file=sys.stderr)
        return 2
    return int(cli.main())


if __name__ == "__main__":
    sys.exit(main())
