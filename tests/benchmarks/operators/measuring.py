"""How long the contestants take: our rule, and each system with each formulation of a workload.

They take turns, so that whatever else the machine does meets all of them; times are medians over the turns. What is
measured is processor time, of all threads of the process: on a busy machine, the clock also counts what others do.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib.metadata
import os
import platform
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

import rulescore
from rulescore import rrule, unthunk
from rulescore.ad import vjp
from tests.benchmarks.operators.systems import KINDS, Ours, System, ValueAndPullback, is_installed
from tests.benchmarks.operators.workloads import LOOP, Workload

RULE, RULE_IN_AD, COPY = "rule", "rule in rulescore.ad", "copy"
"""Contestants that every workload has: the rule itself, our AD system that meets it, and a copy of the array."""

TURN = 5e-3
"""How many seconds a turn takes at least; a fast call is repeated."""

SECONDS = 0.05
"""How long all turns of a contestant take, if it has more than one."""

MOST_TURNS, MOST_TURNS_WITHOUT_GC = 9, 3

ENDLESS = 3.0
"""Seconds. Who takes longer for the first call is not asked again."""

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
"""What tells the libraries, before they are imported, to compute with one thread."""

LIBRARIES = ("numpy", "numba", "autograd", "mygrad", "torch", "jax")


# ---------------------------------------------------------------- what was measured


@dataclass(frozen=True)
class Measurement:
    """Of one contestant.

    Attributes
    ----------
    system, formulation : str
        Ours has no formulation where it is one of `RULE`, `RULE_IN_AD` and `COPY`.
    seconds : float, optional
        The median over the turns; None where it could not run.
    seconds_without_gc : float, optional
        The same while Python's garbage collector is off; of loops alone.
    first_seconds : float
        Of the first call, by the clock: with what it compiles.
    peak_bytes : int, optional
        What Python sees of the memory that is held at once, beyond what is there before; of loops and rules.
    is_right : bool
        Whether value and gradient are those of the rule.
    problem : str
        Why it did not run, or not again.
    """

    system: str
    formulation: str = ""
    seconds: float | None = None
    seconds_without_gc: float | None = None
    first_seconds: float | None = None
    peak_bytes: int | None = None
    is_right: bool = True
    problem: str = ""


@dataclass(frozen=True)
class Contest:
    """What was measured of one workload."""

    name: str
    title: str
    steps: str
    measurements: tuple[Measurement, ...]

    def of(self, system: str, formulation: str = "") -> Measurement | None:
        """One of the measurements."""
        found = [m for m in self.measurements if (m.system, m.formulation) == (system, formulation)]
        return found[0] if found else None

    @property
    def rule_seconds(self) -> float:
        rule = self.of(RULE)
        assert rule is not None
        assert rule.seconds is not None
        return rule.seconds

    def on_arrays(self, system: str) -> Measurement | None:
        """The fastest of a system's formulations without a loop, of those that are right if there are any."""
        found = [m for m in self.measurements if m.system == system and m.formulation not in ("", LOOP) and m.seconds]
        return min(found, key=lambda m: (not m.is_right, m.seconds or 0.0), default=None)


@dataclass(frozen=True)
class Run:
    """All contests, and where they took place.

    Attributes
    ----------
    versions : mapping
        Of Python and of the libraries that are installed.
    missing : tuple of str
        The systems that are not installed, or were left out on demand.
    cores : int
    has_one_thread : bool
        Whether all libraries were told to use one thread.
    seconds : float
        How long it took, by the clock.
    """

    versions: Mapping[str, str]
    missing: tuple[str, ...]
    cores: int
    has_one_thread: bool
    seconds: float
    contests: tuple[Contest, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Run:
        contests = [
            Contest(**{**contest, "measurements": tuple(Measurement(**m) for m in contest["measurements"])})
            for contest in document["contests"]
        ]
        return cls(**{**document, "missing": tuple(document["missing"]), "contests": tuple(contests)})


# ---------------------------------------------------------------- contestants


class Contestant:
    """A call to be timed, and what is known of it so far.

    Parameters
    ----------
    system, formulation : str
    call : callable
        What is timed.
    expected : tuple of ndarray, optional
        The value and the gradient that it should return.
    is_timed_without_gc : bool
    compiles : bool
        Whether the first call takes longer than others.
    """

    def __init__(
        self,
        system: str,
        formulation: str,
        call: ValueAndPullback,
        expected: tuple[Any, Any] | None = None,
        is_timed_without_gc: bool = False,
        compiles: bool = False,
    ) -> None:
        self.system, self.formulation, self.call = system, formulation, call
        self.is_timed_without_gc = is_timed_without_gc
        self.seconds: list[float] = []
        self.seconds_without_gc: list[float] = []
        self.repetitions, self.turns = 1, 1
        self.is_right = True
        self.problem = ""
        self.peak_bytes: int | None = None
        self.first_seconds: float | None = None
        started, used = time.perf_counter(), time.process_time()
        try:
            result = call()
        except Exception as error:  # compilers may give up on what is unrolled
            self.turns, self.problem = 0, f"it raised {type(error).__name__}: {str(error).splitlines()[0][:80]}"
            return
        used = time.process_time() - used
        self.first_seconds = time.perf_counter() - started
        if expected is not None:
            self.is_right = all(map(agrees, result, expected))
        if used > ENDLESS and not compiles:
            self.seconds, self.turns = [used], 0
            self.problem = "measured once, in its first call"
            return
        took = self._time()
        if took > SECONDS:
            self.seconds, self.turns = [took], 1
            return
        took = min(took, self._time())
        self.repetitions = max(1, round(TURN / max(took, 1e-9)))
        self.turns = max(1, min(MOST_TURNS, round(SECONDS / (took * self.repetitions))))

    def _time(self) -> float:
        started = time.process_time()
        for _ in range(self.repetitions):
            self.call()
        return (time.process_time() - started) / self.repetitions

    def take_turn(self, number: int) -> None:
        """If it has one of this number."""
        if len(self.seconds) < self.turns and number < self.turns:
            self.seconds.append(self._warm_time())

    def take_turn_without_gc(self, number: int) -> None:
        """If it has one of this number; the collector is off."""
        if number < self.turns and self.is_timed_without_gc:
            self.seconds_without_gc.append(self._warm_time())

    def _warm_time(self) -> float:
        if self.repetitions > 1:
            self.call()  # the others have left the caches cold
        return self._time()

    def measure_memory(self) -> None:
        gc.collect()
        tracemalloc.start()
        try:
            self.call()
            self.peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    @property
    def measurement(self) -> Measurement:
        return Measurement(
            self.system,
            self.formulation,
            median(self.seconds) if self.seconds else None,
            median(self.seconds_without_gc) if self.seconds_without_gc else None,
            self.first_seconds,
            self.peak_bytes,
            self.is_right,
            self.problem,
        )


def agrees(found: Any, expected: Any) -> bool:
    """To rounding."""
    found = np.asarray(found)
    scale = 1e-9 * np.max(np.abs(expected), initial=0.0)
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-6, atol=scale)


# ---------------------------------------------------------------- contests


def contest(workload: Workload, systems: Sequence[System], memory: bool = False) -> Contest:
    """Let all contestants of a workload take turns, and measure what the loops hold in memory if asked to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what AD systems deprecate within themselves is not ours to mend
        for system in systems:
            system.forget()
        contestants, absent = contestants_of(workload, systems)
        take_turns(contestants)
        if memory and workload.measures_memory:
            in_numpy = {RULE, *(system.name for system in systems if system.has_numpy_arrays)}
            for contestant in contestants:
                is_meant = contestant.formulation == LOOP or contestant.system == RULE
                if is_meant and contestant.system in in_numpy and not contestant.problem:
                    contestant.measure_memory()
    measurements = (*(contestant.measurement for contestant in contestants), *absent)
    return Contest(workload.name, workload.title, workload.steps, measurements)


def take_turns(contestants: Sequence[Contestant]) -> None:
    """As Python runs by default, and then without its garbage collector, which passes between the rounds."""
    gc.collect()
    for number in range(MOST_TURNS):
        for contestant in contestants:
            contestant.take_turn(number)
    gc.disable()
    try:
        most = max(contestant.turns for contestant in contestants)
        for number in range(min(most, MOST_TURNS_WITHOUT_GC)):
            for contestant in contestants:
                contestant.take_turn_without_gc(number)
            gc.collect()
    finally:
        gc.enable()


def contestants_of(workload: Workload, systems: Sequence[System]) -> tuple[list[Contestant], list[Measurement]]:
    """Who takes part, the rule first; and who does not, with the reason."""
    x, ybar, operator, args = workload.x, workload.ybar, workload.operator, workload.args

    def by_rule() -> tuple[Any, Any]:
        y, pullback = rrule(operator, x, *args)
        return y, unthunk(pullback(ybar)[1])

    def in_ad() -> tuple[Any, Any]:
        y, pull = vjp(lambda x: operator(x, *args), x)
        return y, pull(ybar)[0]

    expected = by_rule()
    copied = np.empty_like(x)

    def copy() -> tuple[Any, Any]:
        np.copyto(copied, x)
        return copied, copied

    contestants = [
        Contestant(RULE, "", by_rule, expected),
        Contestant(RULE_IN_AD, "", in_ad, expected),
        Contestant(COPY, "", copy),
    ]
    absent = []
    for system in systems:
        for name, formulation in workload.formulations.items():
            reason = workload.left_out.get(type(system), "") if name == LOOP else ""
            if not isinstance(system, formulation.systems):
                continue
            if reason:
                absent.append(Measurement(system.name, name, problem=reason))
                continue
            call = system.value_and_pullback(formulation.prepare(system), x, ybar)
            contestants.append(Contestant(system.name, name, call, expected, name == LOOP, system.compiles))
    if not all(c.is_right for c in contestants if c.system in (RULE_IN_AD, Ours.name)):
        raise AssertionError(f"{workload.name}: rulescore.ad has another gradient than the rule")
    return contestants, absent


def run(
    workloads: Iterable[Workload],
    without: Iterable[str] = (),
    memory: bool = False,
    on_contest: Callable[[Contest], None] | None = None,
) -> Run:
    """Hold the contests.

    Parameters
    ----------
    workloads : iterable of Workload
    without : iterable of str
        The modules of systems that should not take part.
    memory : bool
        Whether memory is measured too, which takes longer than all the rest.
    on_contest : callable, optional
        Called with each contest when it is over.
    """
    started = time.perf_counter()
    without = set(without)
    present = [kind for kind in KINDS if kind.module not in without and is_installed(kind)]
    systems = [kind() for kind in present]
    contests = []
    for workload in workloads:
        contests.append(contest(workload, systems, memory))
        if on_contest is not None:
            on_contest(contests[-1])
    return Run(
        versions_of({kind.module for kind in present}),
        tuple(kind.name for kind in KINDS if kind not in present),
        os.cpu_count() or 1,
        has_one_thread(),
        time.perf_counter() - started,
        tuple(contests),
    )


def has_one_thread() -> bool:
    """Whether the libraries that are imported later are told so."""
    return all(os.environ.get(name) == value for name, value in ONE_THREAD.items())


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    versions = {"Python": platform.python_version(), "rulescore": rulescore.__version__}
    for name in LIBRARIES:
        if name in ("numpy", "numba") or name in modules:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
    return versions
