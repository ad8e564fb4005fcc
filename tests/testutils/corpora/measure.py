"""Measure the tester on both corpora and print the tables of docs/tester.md.

    python tests/testutils/corpora/measure.py            # 20 seeds of every wrong rule, 200 of every right one
    python tests/testutils/corpora/measure.py --hard 20  # 20 seeds of the hard kinds, with the peers' verdicts

With two numbers, other seeds. It is no test: `test_corpora.py` runs the same with fewer seeds.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from corpora.ad_checkers import ERROR, NOT_TAKEN, PEERS
from corpora.corpus import HARD_KINDS, KINDS
from corpora.right_rules import RIGHT
from corpora.wrong_rules import WRONG
from testutils import Report, check_rule


def checked(entry, seed: int) -> Report:
    """The report on one entry; on variants of its arguments too where only these show the mistake."""
    args, fkwargs = entry.inputs(np.random.default_rng(seed))
    thorough = getattr(entry, "variants", False) and not entry.made_up
    with entry.installed():
        return check_rule(entry.function, *args, fkwargs=fkwargs, modes=entry.modes, rng=seed, thorough=thorough)


CORPORA = {"wrong": WRONG, "right": RIGHT}


def verdicts(task: tuple[str, str, int]) -> Counter[str]:
    """How often an entry, named by corpus and name, gets each verdict over some seeds."""
    corpus, name, seeds = task
    entry = CORPORA[corpus][name]
    return Counter(checked(entry, seed).verdict for seed in range(seeds))


def table_of_wrong_rules(found: dict[str, Counter[str]]) -> Iterator[str]:
    yield "| kind of mistake | rules | checks | caught | inconclusive | missed |"
    yield "|---|---|---|---|---|---|"
    for kind in KINDS:
        of_kind = [found[name] for name, entry in WRONG.items() if entry.kind == kind]
        yield _row(kind, of_kind, ("fail", "inconclusive", "pass"))
    yield _row("**all**", list(found.values()), ("fail", "inconclusive", "pass"))


def table_of_right_rules(found: dict[str, Counter[str]]) -> Iterator[str]:
    yield "| right rules | rules | checks | pass | inconclusive | accused |"
    yield "|---|---|---|---|---|---|"
    at_kinks = {name for name, entry in RIGHT.items() if entry.at_kink}
    verdicts_shown = ("pass", "inconclusive", "fail")
    yield _row("smooth or hard", [c for name, c in found.items() if name not in at_kinks], verdicts_shown)
    yield _row("at kinks and edges", [c for name, c in found.items() if name in at_kinks], verdicts_shown)
    yield _row("**all**", list(found.values()), verdicts_shown)


def _row(title: str, counts: list[Counter[str]], shown: tuple[str, ...]) -> str:
    total = sum(counts, Counter())
    return f"| {title} | {len(counts)} | {total.total()} | {' | '.join(str(total[v]) for v in shown)} |"


# ------------------------------------------------------------------ the hard kinds, with the peers


OURS = "check_rule"
CHECKERS = (OURS, *PEERS)
WORKERS = 2

NOTES = """\
Each cell: of `check_rule` caught / inconclusive / missed and passed / inconclusive / accused, of a peer caught / missed
/ no verdict and passed / accused / no verdict. A peer gets the same function, rules and inputs in the same modes, at
first order with its default settings; arguments without derivative are fixed. Caught or accused is what its own verdict
says: `GradcheckError`, or an `AssertionError` of `check_grads`. No verdict: it cannot be given the function, for its
objects, containers or dtypes or because the function is an object with parameters of its own; or it ended with another
error, as listed. Only `check_rule` varies the inputs by itself, where a mistake does not show at those given."""


@dataclass
class Verdicts:
    """What one checker says of one entry over some seeds, and how long it takes."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, verdict: Callable[[], str]) -> None:
        start = time.perf_counter()
        self.counts[verdict()] += 1
        self.seconds += time.perf_counter() - start


Found = dict[str, Verdicts]
"""By checker."""


def verdicts_of_all(task: tuple[str, str, int]) -> Found:
    """What each checker says of an entry, named by corpus and name."""
    corpus, name, seeds = task
    entry = CORPORA[corpus][name]
    found = {checker: Verdicts() for checker in CHECKERS}
    for seed in range(seeds):
        found[OURS].add(lambda seed=seed: checked(entry, seed).verdict)
        for checker, peer in PEERS.items():
            args, fkwargs = entry.inputs(np.random.default_rng(seed))
            found[checker].add(lambda p=peer, a=args, f=fkwargs, s=seed: p.verdict(entry, a, f, s))
    return found


def table_of_hard_rules(corpus: str, found: dict[str, Found]) -> Iterator[str]:
    """One row a kind: of the wrong rules what catches them, of the right ones what passes them."""
    decided = {"wrong": ("fail", "pass"), "right": ("pass", "fail")}[corpus]
    yield f"| {corpus} rules | rules | checks | {' | '.join(f'`{c}`' if c == OURS else c for c in CHECKERS)} |"
    yield "|---" * (3 + len(CHECKERS)) + "|"
    kinds = {kind: [found[name] for name in found if CORPORA[corpus][name].kind == kind] for kind in HARD_KINDS}
    for title, of_kind in {**kinds, "**all**": list(found.values())}.items():
        counts = {checker: sum((one[checker].counts for one in of_kind), Counter()) for checker in CHECKERS}
        cells = [_cell(checker, counts[checker], *decided) for checker in CHECKERS]
        yield f"| {title} | {len(of_kind)} | {counts[OURS].total()} | {' | '.join(cells)} |"


def _cell(checker: str, counts: Counter[str], good: str, bad: str) -> str:
    if checker == OURS:
        return f"{counts[good]} / {counts['inconclusive']} / {counts[bad]}"
    return f"{counts[good]} / {counts[bad]} / {counts.total() - counts[good] - counts[bad]}"


def remarks(corpus: str, found: dict[str, Found]) -> Iterator[str]:
    """What is no clear verdict, or not the expected one of ours; and how many rules each peer cannot be given."""
    expected = {"wrong": "fail", "right": "pass"}[corpus]
    for name, by_checker in found.items():
        if set(by_checker[OURS].counts) != {expected}:
            yield f"{corpus}, {OURS}: {name}: {dict(by_checker[OURS].counts)}"
        for checker in PEERS:
            errors = {v: n for v, n in by_checker[checker].counts.items() if v.startswith(ERROR)}
            if errors:
                shown = next(iter(errors)).splitlines()[0][:100]
                yield f"{corpus}, {checker}: {name}: {sum(errors.values())} times an {shown}"
    for checker in PEERS:
        not_taken = [CORPORA[corpus][name].kind for name in found if NOT_TAKEN in found[name][checker].counts]
        yield f"{corpus}, {checker}: cannot be given {dict(Counter(not_taken))} rules"


def measure_hard(seeds: int) -> None:
    """Print the tables of the hard kinds. The processes are spawned: JAX and PyTorch start threads of their own."""
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")  # for the processes: the threads of PyTorch and of BLAS wait for each other
    tasks = [(c, name, seeds) for c, corpus in CORPORA.items() for name, e in corpus.items() if e.kind in HARD_KINDS]
    start = time.perf_counter()
    with ProcessPoolExecutor(min(WORKERS, os.cpu_count() or 1), multiprocessing.get_context("spawn")) as pool:
        found = dict(zip(tasks, pool.map(verdicts_of_all, tasks), strict=True))
    took = time.perf_counter() - start
    by_corpus = {c: {name: found[c, name, seeds] for of, name, _ in tasks if of == c} for c in CORPORA}
    for corpus, of_corpus in by_corpus.items():
        print(*table_of_hard_rules(corpus, of_corpus), "", sep="\n")
    print(NOTES)
    for corpus, of_corpus in by_corpus.items():
        for remark in remarks(corpus, of_corpus):
            print(f"<!-- {remark} -->")
    seconds = {checker: sum(one[checker].seconds for one in found.values()) for checker in CHECKERS}
    print(f"<!-- {took:.0f} s; {', '.join(f'{checker} {s:.0f} s' for checker, s in seconds.items())} -->")


# ------------------------------------------------------------------ the command


def measure_all(wrong_seeds: int, right_seeds: int) -> None:
    tasks = [("wrong", name, wrong_seeds) for name in WRONG] + [("right", name, right_seeds) for name in RIGHT]
    with ProcessPoolExecutor() as pool:
        counts = dict(zip(tasks, pool.map(verdicts, tasks, chunksize=4), strict=True))
    wrong = {name: counts["wrong", name, wrong_seeds] for name in WRONG}
    right = {name: counts["right", name, right_seeds] for name in RIGHT}
    print(*table_of_wrong_rules(wrong), "", *table_of_right_rules(right), sep="\n")
    unexpected = {name: c for name, c in wrong.items() if set(c) != {"fail"}}
    unexpected |= {name: c for name, c in right.items() if set(c) != {"pass"}}
    for name, count in unexpected.items():
        print(f"<!-- {name}: {dict(count)} -->")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the tester on both corpora.")
    parser.add_argument("wrong_seeds", type=int, nargs="?", default=20, help="of every wrong rule")
    parser.add_argument("right_seeds", type=int, nargs="?", default=200, help="of every right rule")
    parser.add_argument("--hard", type=int, metavar="SEEDS", help="the hard kinds instead, with the peers' verdicts")
    given = parser.parse_args()
    if given.hard:
        measure_hard(given.hard)
    else:
        measure_all(given.wrong_seeds, given.right_seeds)


if __name__ == "__main__":
    main()
