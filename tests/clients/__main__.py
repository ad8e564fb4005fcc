"""What users of other libraries do with functions of the adapters: run it, and say whether the numbers are right.

Libraries that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.clients.page import PAGE, Result, counts, page
from tests.clients.running import verdicts_on
from tests.clients.uses import libraries, uses_of, version_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("libraries", nargs="*", help="all that are installed, if none are named")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}, for which all have to be there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (one for each core)")
    parser.add_argument("--seconds", type=float, default=120, help="that one use may take (120)")
    parser.add_argument("--verbose", action="store_true", help="show what the libraries print, and tracebacks")
    parser.add_argument(
        "--wrong-derivatives",
        action="store_true",
        help="give the libraries functions whose derivatives are wrong, to see which uses notice it",
    )
    options = parser.parse_args()
    chosen = options.libraries or libraries()
    absent = [library for library in chosen if version_of(library) is None]
    if absent:
        print(f"not installed: {', '.join(absent)}")
    if options.write and (absent or options.libraries):
        parser.error("the page is of all libraries: name none, and install those that are missing")

    def results_of(library: str) -> list[Result]:
        log = None if options.verbose else subprocess.DEVNULL
        verdicts = verdicts_on(library, options.wrong_derivatives, options.seconds, log)
        version = version_of(library) or ""
        return [Result(use, version, verdict) for use, verdict in zip(uses_of(library), verdicts, strict=True)]

    results: list[Result] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(results_of, [library for library in chosen if library not in absent]):
            results += found
            for result in found:
                use = result.use
                print(f"{use.library} {result.version}: {use.what}: {use.adapter}: {result.explained}", flush=True)
    print(counts(results))
    if options.write:
        PAGE.write_text(page(results), "utf8")
    return int(not all(result.verdict == "right" or result.limit for result in results))


if __name__ == "__main__":
    sys.exit(main())
