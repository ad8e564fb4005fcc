"""Two trees of the packages, timed in turns: the workers, the rounds, and what the rounds say.

A worker is a process with the packages of one tree. Two of them, one for each tree, prepare a contest and then take
turns (old, new; new, old; ...), so that whatever else the machine does meets both. As where a process happens to lie in
memory may cost it some per cent for as long as it lives, the rounds are shared among several pairs of workers. A turn
has several parts, the fastest of which counts: what disturbs a part makes it slower, never faster.

Nothing of the packages is imported here.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

HERE = Path(__file__).resolve().parent

BOUND = 1.10
"""A contest whose ratio is above has become slower."""

PART, PARTS = 0.005, 5
"""How many seconds a part of a turn takes at least, and how many there are in a turn."""

SLOW, PARTS_OF_SLOW = 0.05, 2
"""A call that takes more seconds has fewer of them."""

LONG_PART = 0.2
"""The one part of a contest that waits for the garbage collector, whose passes are rare and belong to what it costs."""

IMPORTS = ("import rulescore", "import rulescore.ad")
IMPORT_ROUNDS = 15

ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "PYTHONHASHSEED": "0",
    **dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(2**30)),
}
"""Of all processes that are timed: one thread, dictionaries in one order, and memory that glibc keeps once it has it.

Whether it gives large arrays back, for every call to have its pages mapped anew, hangs on what was freed before: that
made `np.copysign` take 199 µs or 735.
"""


@dataclass
class Outcome:
    """A contest with the seconds of a call in each round, by the old packages and by the new.

    Attributes
    ----------
    problem : str
        Why it has no rounds.
    new_fails : bool
        Whether it is the new packages that cannot run it.
    """

    suite: str
    name: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    problem: str = ""
    new_fails: bool = False

    @property
    def ratios(self) -> list[float]:
        """New by old, of each round."""
        return [new / old for old, new in zip(self.old, self.new, strict=True)]

    @property
    def ratio(self) -> float:
        """The median over the rounds, whose two turns follow each other: what slows both down does not change it."""
        return median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles of the ratios: half of the rounds lie between them."""
        if len(self.ratios) < 2:
            return self.ratio, self.ratio
        low, _, high = quantiles(self.ratios, method="inclusive")
        return low, high

    @property
    def is_slower(self) -> bool:
        return self.new_fails or (not self.problem and self.ratio > BOUND)


class WorkerDiedError(RuntimeError):
    """A worker that ended without an answer, with the end of what it wrote."""


class Worker:
    """A process that times contests with the packages of a tree."""

    def __init__(self, root: Path, suite: str) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed with the process
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "compare_worker.py"), str(root), suite],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            cwd=root,
            env=environment(root),
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()

    def answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            self.process.wait()
            self.errors.seek(0)
            last = self.errors.read().strip().splitlines()[-1:] or ["nothing"]
            raise WorkerDiedError(f"it ended with status {self.process.returncode} and wrote: {last[0]}")
        return json.loads(line)  # type: ignore[no-any-return]

    def ask(self, **question: Any) -> dict[str, Any]:
        with contextlib.suppress(BrokenPipeError):  # the answer says why
            print(json.dumps(question), file=self.process.stdin, flush=True)
        return self.answer()


def environment(root: Path) -> dict[str, str]:
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **ENVIRONMENT, "PYTHONPATH": path}


def in_turn(number: int) -> tuple[int, int]:
    """Who comes first and who second in a round, which alternates."""
    return (0, 1) if number % 2 == 0 else (1, 0)


# ---------------------------------------------------------------- suites of contests

SIDES = ("the old packages", "the new packages")
Progress = Callable[[str], None]


def quiet(name: str) -> None:
    """Who takes the names of contests as they come, and does nothing."""


def compare_suite(
    old: Path, new: Path, suite: str, only: str = "", rounds: int = 9, pairs: int = 3, progress: Progress = quiet
) -> list[Outcome]:
    """Time a suite's contests in whose names ``only`` occurs, with the packages of two trees."""
    outcomes: dict[str, Outcome] = {}
    for share in shares(rounds, pairs):
        todo: list[str] | None = None
        while todo is None or todo:
            with ExitStack() as stack:
                workers = [stack.enter_context(Worker(root, suite)) for root in (old, new)]
                try:
                    offers = [worker.answer() for worker in workers]
                except WorkerDiedError as death:
                    number = 0 if workers[0].process.poll() is not None else 1
                    problem = f"{SIDES[number]} do not load: {death}"
                    return [Outcome(suite, "all of it", problem=problem, new_fails=number == 1)]
                if todo is None:
                    todo = in_both(suite, offers, only, outcomes)
                run_some(workers, todo, outcomes, share, offers[1]["all_collected"], progress)
    return list(outcomes.values())


def shares(rounds: int, pairs: int) -> list[int]:
    """How many rounds each pair of workers has."""
    pairs = max(1, min(pairs, rounds))
    ends = [rounds * number // pairs for number in range(pairs + 1)]
    return [end - start for start, end in itertools.pairwise(ends)]


def in_both(suite: str, offers: list[dict[str, Any]], only: str, outcomes: dict[str, Outcome]) -> list[str]:
    """The names of the contests that both workers have; of those that one has not, the outcome says so."""
    for name, why in offers[0]["problems"].items():
        if offers[1]["problems"].get(name) == why:
            outcomes[name] = Outcome(suite, name, problem=why)
    found = []
    for name in dict.fromkeys([*offers[1]["contests"], *offers[0]["contests"]]):
        if only.lower() not in name.lower():
            continue
        outcome = outcomes.setdefault(name, Outcome(suite, name))
        for number, offer in enumerate(offers):
            if name not in offer["contests"]:
                whys = [why for part, why in offer["problems"].items() if name.startswith(part)]
                fail(outcome, number, *whys)
        if not outcome.problem:
            found.append(name)
    return found


def fail(outcome: Outcome, number: int, why: str = "it is not there") -> None:
    """One of the sides cannot run a contest: the old ones when the number is 0."""
    outcome.old, outcome.new = [], []
    outcome.problem, outcome.new_fails = f"{SIDES[number]} cannot run it: {why}", number == 1


def run_some(
    workers: list[Worker],
    todo: list[str],
    outcomes: dict[str, Outcome],
    rounds: int,
    all_collected: list[str],
    progress: Progress,
) -> None:
    """Run contests until there are none left, or one has killed a worker, which leaves the rest to other workers."""
    while todo:
        name = todo.pop(0)
        progress(name)
        try:
            run_contest(workers, outcomes[name], rounds, name in all_collected)
        except WorkerDiedError as death:
            fail(outcomes[name], 0 if workers[0].process.poll() is not None else 1, str(death))
            return


def run_contest(workers: list[Worker], outcome: Outcome, rounds: int, all_collected: bool) -> None:
    part = LONG_PART if all_collected else PART
    prepared = [worker.ask(prepare=outcome.name, part=part) for worker in workers]
    for number, answer in enumerate(prepared):
        if "problem" in answer:
            fail(outcome, number, answer["problem"])
    if not outcome.problem:
        repetitions = max(answer["repetitions"] for answer in prepared)
        is_slow = min(answer["seconds"] for answer in prepared) > SLOW
        parts = 1 if all_collected else PARTS_OF_SLOW if is_slow else PARTS
        for _ in range(rounds):
            seconds = [0.0, 0.0]
            for number in in_turn(len(outcome.old)):
                seconds[number] = workers[number].ask(time=repetitions, parts=parts)["seconds"]
            outcome.old.append(seconds[0])
            outcome.new.append(seconds[1])
    for worker in workers:
        worker.ask(finish=True)


# ---------------------------------------------------------------- imports

CHECK = "import sys, rulescore; assert rulescore.__file__.startswith(sys.argv[1]), rulescore.__file__"


def compare_imports(old: Path, new: Path, only: str = "", progress: Progress = quiet) -> list[Outcome]:
    """Time whole processes that import a package and end."""
    outcomes = []
    for statement in IMPORTS:
        if only.lower() not in statement:
            continue
        progress(statement)
        outcome = Outcome("import", statement)
        outcomes.append(outcome)
        try:
            for root in (old, new):
                seconds_of_process(root, statement)  # which compiles what has not been compiled
            for number in range(IMPORT_ROUNDS):
                seconds = [0.0, 0.0]
                for which in in_turn(number):
                    seconds[which] = seconds_of_process((old, new)[which], statement)
                outcome.old.append(seconds[0])
                outcome.new.append(seconds[1])
        except FailedImportError as failure:
            fail(outcome, int(failure.args[0] == new), failure.args[1])
    return outcomes


class FailedImportError(RuntimeError):
    """Of a root, and why."""


def seconds_of_process(root: Path, statement: str) -> float:
    """The processor time of a process that imports something from a tree, by what the system says of it."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", f"{statement}\n{CHECK}", str(root)], cwd=root, env=environment(root), stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            errors.seek(0)
            raise FailedImportError(root, (errors.read().strip().splitlines() or ["no message"])[-1])
    return usage.ru_utime + usage.ru_stime
