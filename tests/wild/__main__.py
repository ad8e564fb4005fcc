"""Differentiate other people's programs as they are, with each system, and compare with finite differences.

`--install` makes an environment with their libraries; run this in it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.wild.entries import entries_of, modules, versions
from tests.wild.installation import install
from tests.wild.page import COLUMNS, PAGE, Result, by_cause, counts, page
from tests.wild.results import Results
from tests.wild.running import verdicts_on


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.wild", description=__doc__)
    parser.add_argument("libraries", nargs="*", help="modules of tests/wild/libraries; all, if none are named")
    parser.add_argument("--install", type=Path, metavar="VENV", help="make an environment with the libraries, and end")
    parser.add_argument("--systems", nargs="*", choices=COLUMNS, default=list(COLUMNS), help="which of them (all)")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}, for which all have to be run")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep what is found, beside what has been found")
    parser.add_argument("--causes", action="store_true", help="say what fails, by its cause")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--seconds", type=float, default=60, help="that one entry may take (60)")
    parser.add_argument("--verbose", action="store_true", help="show what the libraries print, and tracebacks")
    options = parser.parse_args()
    if options.install:
        install(options.install)
        return 0
    if options.write and options.libraries:
        parser.error("the page is of all libraries: name none")
    known = Results(options.results)

    def run(module: str) -> list[Result]:
        log = None if options.verbose else subprocess.DEVNULL
        names = [entry.name for entry in entries_of(module)]
        for system in options.systems:
            verdicts = verdicts_on(module, system, options.seconds, log)
            known.add(module, system, dict(zip(names, verdicts, strict=True)))
        return known.of(module, versions()[module])

    results: list[Result] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(run, options.libraries or modules()):
            results += found
            known.keep()
            for result in found:
                verdicts = [f"{name}: {verdict.kind}" for name, verdict in result.verdicts.items()]
                print(f"{result.entry.module}.{result.entry.name}: {', '.join(verdicts)}", flush=True)
    if options.causes:
        for system in options.systems:
            print(f"\n== {system}\n\n{by_cause(results, system)}")
    print(f"\n{counts(results)}")
    if options.write:
        if absent := [name for name in COLUMNS if not all(name in result.verdicts for result in results)]:
            parser.error(f"the page is of all systems, and {', '.join(absent)} were not run on all libraries")
        PAGE.write_text(page(results), "utf8")
    return int(any(verdict.kind in ("wrong", "no truth") for result in results for verdict in result.verdicts.values()))


if __name__ == "__main__":
    sys.exit(main())
