"""Measure the tester on both corpora and print the table of docs/tester.md.

    python tests/testutils/corpora/measure.py            # 20 seeds of every wrong rule, 200 of every right one

With two numbers, other seeds. It is no test: `test_corpora.py` runs the same with fewer seeds.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from corpora.corpus import KINDS
from corpora.right_rules import RIGHT
from corpora.wrong_rules import WRONG
from testutils import Report, check_rule


def checked(entry, seed: int) -> Report:
    """The report on one entry; on variants of its arguments too where only these show the mistake."""
    args, fkwargs = entry.inputs(np.random.default_rng(seed))
    thorough = getattr(entry, "variants", False)
    with entry.installed():
        return check_rule(entry.function, *args, fkwargs=fkwargs, modes=entry.modes, rng=seed, thorough=thorough)


def verdicts(task: tuple[str, str, int]) -> Counter[str]:
    """How often an entry, named by corpus and name, gets each verdict over some seeds."""
    corpus, name, seeds = task
    entry = {"wrong": WRONG, "right": RIGHT}[corpus][name]
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


def main(wrong_seeds: int = 20, right_seeds: int = 200) -> None:
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


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
