"""HIPS autograd's own tests, unmodified, on `rulescore.ad`: its names are offered by a shim.

The release is fetched from PyPI. Tests of arrays of xarray are left out where it is not installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.autograd_suite.exclusions import EXCLUDED
from tests.autograd_suite.running import VERSION, Outcome, downloaded, outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.autograd_suite", description=__doc__)
    parser.add_argument("tests", nargs="*", help="such as test_numpy.py or test_numpy.py::test_dot; by default all")
    parser.add_argument("--source", type=Path, help=f"a folder with the source of autograd {VERSION}, not to fetch it")
    parser.add_argument("--verbose", action="store_true", help="show what pytest says")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        release = options.source.resolve() if options.source else downloaded(Path(folder))
        results = outcomes(options.tests, release / "tests", release, options.verbose)
    for name, outcome in results.items():
        if name in EXCLUDED:
            print(f"{name}: excluded, for it {EXCLUDED[name]}")
        elif outcome.kind != "passed":
            print(f"{name}: {outcome.kind}: {outcome.message.partition(chr(10))[0]}")
    passing = [name for name in EXCLUDED if results.get(name, Outcome("failed")).kind == "passed"]
    absent = [] if options.tests else [name for name in EXCLUDED if name not in results]
    if passing or absent:
        print(f"these are not to be excluded any more: {', '.join(passing + absent)}")
    counted = Counter("excluded" if name in EXCLUDED else outcome.kind for name, outcome in results.items())
    print(", ".join(f"{counted[kind]} {kind}" for kind in ("passed", "failed", "skipped", "excluded")))
    return int(bool(counted["failed"] or passing or absent))


if __name__ == "__main__":
    sys.exit(main())
