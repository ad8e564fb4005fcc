"""The long run: random programs by ranges of seeds, in several processes, with a log that a later run goes on from.

Each seed is a run of Hypothesis on programs that begin with one of the functions with rules, in turn; so a range of as
many seeds as there are functions has every function in it. What was found is in the log; another program with a
problem of the same kind is counted, and the search goes on for what it would hide.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported: each process has a core

from tests.fuzz.as_written.seeds import run_written_seed  # noqa: E402
from tests.fuzz.points import draw_points, run_points  # noqa: E402
from tests.fuzz.seeds import draw_seed, run_seed  # noqa: E402

Run = Callable[[int, int, Collection[Any]], dict[str, Any]]
"""What makes of a seed, a number of programs and the kinds of problems that are known a record."""


HUNG = 300.0
"""Seconds after which a seed is in code of C that does not end, or in a loop: its process is killed."""

MOST_REFUSALS = 10
"""How many reasons of refusals a summary names."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("seeds", nargs="+", type=_seeds, help="a seed, or a range of them: first:end or first:end:step")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--as-written", action="store_true", help="programs as people write them, through traceable, in few modes"
    )
    kind.add_argument(
        "--points", action="store_true", help="one call each, at points that the samples do not have, in few modes"
    )
    parser.add_argument("--programs", type=int, default=25, help="how many programs a seed has (25)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (one for each core)")
    parser.add_argument(
        "--log", type=Path, default=Path("fuzz.jsonl"), help="a line for each seed; seeds in it are done"
    )
    options = parser.parse_args()
    records = [json.loads(line) for line in options.log.read_text().splitlines()] if options.log.exists() else []
    done = {record["seed"] for record in records}
    wanted = sorted({seed for seeds in options.seeds for seed in seeds})
    seeds = [seed for seed in wanted if seed not in done]
    run: Run = run_written_seed if options.as_written else run_points if options.points else run_seed
    with options.log.open("a") as log:
        for record in results(seeds, options.programs, options.jobs, records, run):
            log.write(json.dumps(record) + "\n")
            log.flush()
            records.append(record)
            if "problem" in record:
                print(
                    f"seed {record['seed']} ({record['first']}):\n{record['problem']}\n\n{record['test']}\n", flush=True
                )
    asked_for = set(wanted)
    print(summary([record for record in records if record["seed"] in asked_for]))
    return int(any("problem" in record for record in records))


def results(
    seeds: list[int],
    programs: int,
    jobs: int,
    before: Sequence[dict[str, Any]] = (),
    run: Run = run_seed,
    hung: float = HUNG,
) -> Iterator[dict[str, Any]]:
    """The record of each seed, as they come; also of one whose process dies or hangs, in SciPy perhaps."""
    known = {(words, statements) for record in before for words, statements in record.get("kinds", ())}
    context = multiprocessing.get_context("spawn")
    left, is_alone = list(seeds), False
    while left:
        # Where somebody has died, the next ones go one by one, until he is found.
        batches = [[seed] for seed in left[: 2 * jobs]] if is_alone else [list(left)]
        is_alone = False
        for batch in batches:
            with ProcessPoolExecutor(min(jobs, len(batch)), context) as pool:
                waiting, running = iter(batch), dict[Future[dict[str, Any]], float]()
                hangs = False
                try:
                    while True:
                        for seed in itertools.islice(waiting, 2 * jobs - len(running)):
                            running[pool.submit(run, seed, programs, frozenset(known))] = time.monotonic()
                        if not running:
                            break
                        done, _ = wait(running, timeout=hung, return_when=FIRST_COMPLETED)
                        for future in done:
                            del running[future]
                            record = future.result()
                            left.remove(record["seed"])
                            known.update(record.get("kinds", ()))
                            yield record
                        hangs = any(time.monotonic() - since > hung for since in running.values())
                        if hangs:
                            for process in multiprocessing.active_children():
                                process.kill()
                except BrokenProcessPool:
                    is_alone = True
                    if len(batch) == 1:
                        left.remove(batch[0])
                        yield _of_dead(batch[0], programs, run, context) if not hangs else _of_hanging(batch[0], hung)


def _of_hanging(seed: int, seconds: float) -> dict[str, Any]:
    """The record of a seed that did not end: what it was, a debugger shows when it is run alone."""
    return {"seed": seed, "first": "", "programs": 0, "outcomes": {}, "called": {}, "hangs": f"for {seconds:.0f} s"}


def _of_dead(seed: int, programs: int, run: Run, context: Any) -> dict[str, Any]:
    """The record of a seed whose process died: no problem where its programs end it without any derivative."""
    record = {"seed": seed, "first": "", "programs": 0, "outcomes": {}, "called": {}}
    draw = {run_seed: draw_seed, run_points: draw_points}.get(run)
    if draw is not None:
        try:
            with ProcessPoolExecutor(1, context) as pool:
                pool.submit(draw, seed, programs).result()
        except BrokenProcessPool:
            return {**record, "died": "as the programs themselves do"}
    return {**record, "problem": "the process died", "test": ""}


def _seeds(text: str) -> range:
    numbers = [int(part) for part in text.split(":")]
    return range(*numbers) if len(numbers) > 1 else range(numbers[0], numbers[0] + 1)


def summary(records: list[dict[str, Any]]) -> str:
    """How the programs of a range of seeds ended, in each mode."""
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    called: collections.Counter[str] = collections.Counter()
    for record in records:
        called.update(record["called"])
        for mode, of_mode in record["outcomes"].items():
            outcomes[mode].update(of_mode)
    total = sum(record["programs"] for record in records)
    lines = [f"{total} programs of {len(records)} seeds" + (f", {len(called)} functions" if called else "")]
    lines += [f"{sum('problem' in record for record in records)} seeds with a problem"]
    died = sum("died" in record for record in records)
    lines += [f"{died} seeds whose programs end the process without any derivative"] if died else []
    hanging = [str(record["seed"]) for record in records if "hangs" in record]
    lines += [f"{len(hanging)} seeds that did not end: {', '.join(hanging)}"] if hanging else []
    without = sorted({record["first"] for record in records if "left out" in record} - called.keys())
    again = sum(record.get("again", 0) for record in records)
    lines += [f"{again} programs more with a problem of one of these kinds"] if again else []
    lines += [f"in no program: {', '.join(without)}"] if without else []
    if called:
        name, least = min(called.items(), key=lambda item: item[1])
        lines.append(f"the function in fewest programs: {name}, in {least}")
    for mode, of_mode in outcomes.items():
        if of_mode.keys() == {"left out"}:
            continue
        share = of_mode["compared"] / max(total, 1)
        rest = ", ".join(f"{outcome} {count}" for outcome, count in of_mode.most_common() if outcome != "compared")
        lines.append(f"{mode}: {share:.1%} compared; {rest or 'no other'}")
    refusals = sum((collections.Counter(record.get("refusals", ())) for record in records), collections.Counter[str]())
    lines += [f"refused {count} times: {text}" for text, count in refusals.most_common(MOST_REFUSALS)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
