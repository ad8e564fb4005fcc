"""Running the sample inputs of many rules: what the command line and the pytest plugin share.

A target is a function with rules and its sample inputs. Targets are found by the name of a module, a file, or a single
function; they are checked here, or in several processes that find the same targets again.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import multiprocessing
import os
import signal
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import rulescore
from rulescore import RuleRecord, frule, instances_of, rrule
from rulescore.shipped import import_shipped, public_name
from rulescore.tables.discovery import rule_entries

from ..cases.arguments import SampleError
from ..checking import Inconclusive, settle
from ..reports.names import name_of
from ..reports.places import UNKNOWN, RulePlace
from ..reports.report import Report
from ..reports.results import CheckResult, CheckVerdict
from ..samples.sampling import Sample, functions_sampled_in, load_samples, samples_of
from ..systems.reference_ad import first_order_results, second_order_results
from ..testers import check_sample

_CHUNK = 8
"""How many samples a process takes at a time: few enough to share the work, enough to hide the hand-over."""

_THREADS_OF_BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Where BLAS libraries read, when they are loaded, how many threads they may use."""

_ABBREVIATIONS = {"np": "numpy", "sp": "scipy"}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what was found until then."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes


class TargetError(ValueError):
    """A name that was asked for is no module, file or function with rules."""


class NothingToCheckError(TargetError):
    """What was asked for is there, and has nothing that could be checked."""


@dataclass(frozen=True)
class Target:
    """A function with rules, and the sample inputs to check them on."""

    function: Any
    name: str
    module: str
    samples: list[Sample]
    record: RuleRecord
    asked: str = ""
    """The name by which it was asked for."""

    @property
    def short_name(self) -> str:
        """The name without the module it was found in."""
        return self.name.removeprefix(f"{self.module}.")

    @property
    def file(self) -> str:
        """Where its (first) rule is defined."""
        return self.record.file

    @property
    def line(self) -> int:
        """The line of that definition."""
        return self.record.line

    @property
    def is_looked_into(self) -> bool:
        """Whether it has no rules, on purpose, because AD systems differentiate what it does."""
        return self.record.opted_out

    def check(self, sample: Sample, thorough: bool = False, strict: bool = False) -> Report:
        """Check the rules on one sample; a sample on which the function itself raises is a failure.

        Parameters
        ----------
        sample : Sample
            One of those of the target.
        thorough : bool
            Whether to check variants of the sample too, and the second derivatives, by the reference AD.
        strict : bool
            Whether that fails for what the rule does not claim to serve too; see `check_rule`.

        Notes
        -----
        Of what is looked into, the derivatives by the reference AD are checked.
        """
        try:
            if self.is_looked_into:
                found = first_order_results(self.function, sample)
                report = Report(self.name, f"{self.name}[{sample.id}]", tuple(found))
            else:
                report = check_sample(self.function, sample, thorough=thorough, strict=strict)
            if thorough:
                # A person's own rule may do what nothing can be traced through. What is offered to all may not.
                unsupported: CheckVerdict = "not run" if self.record.entry is None else "fail"
                report = replace(
                    report, results=(*report.results, *second_order_results(self.function, sample, unsupported))
                )
            return self._placed(report)
        except SampleError as error:
            result = CheckResult("sample input", "fail", str(error))
        except Exception as error:  # of the checks themselves; one sample must not stop the run
            where = traceback.extract_tb(error.__traceback__)[-1]
            message = f"checking raised {type(error).__name__} ({where.filename}:{where.lineno}): {error}"
            result = CheckResult("sample input", "fail", message)
        return self._placed(Report(self.name, f"{self.name}[{sample.id}]", (result,)))

    def _placed(self, report: Report) -> Report:
        """The report with the place of the rule in what went wrong before, or beside, a rule."""
        places = self._places
        concerned = ("fail", "inconclusive")
        results = [r if r.places or r.verdict not in concerned else replace(r, places=places) for r in report.results]
        return replace(report, results=tuple(results))

    @property
    def _places(self) -> tuple[RulePlace, ...]:
        mode = "rrule" if self.record in rrule.records(self.function) else "frule"
        return () if self.file == UNKNOWN else (RulePlace(mode, self.file, self.line, mode),)

    def test(
        self,
        sample: Sample | None,
        inconclusive: Inconclusive = "raise",
        thorough: bool = False,
        strict: bool = False,
    ) -> Report:
        """Check, and raise what the report says. Without a sample, say that there is none."""
        __tracebackhide__ = True
        if sample is None:
            return settle(self.report_without_samples())
        return settle(self.check(sample, thorough, strict), inconclusive)

    def report_without_samples(self) -> Report:
        """The report that nothing could be checked."""
        message = (
            f"{self.name} has a rule and no sample inputs, so the rule was not checked: "
            "register some with @rulescore.testing.sample_inputs, and where another file does that name it too"
        )
        return self._placed(Report(self.name, self.name, (CheckResult("sample inputs", "fail", message),)))


@dataclass
class Outcome:
    """The reports on one target."""

    target: Target
    reports: list[tuple[Sample, Report]] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """``"untested"`` without samples, else the worst verdict of the reports."""
        found = {report.verdict for _, report in self.reports}
        if not self.target.samples:
            return "untested"
        return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"

    @property
    def is_complete(self) -> bool:
        """Whether all samples have been checked."""
        return len(self.reports) == len(self.target.samples)

    def to_dict(self) -> dict[str, Any]:
        return {
            "function": self.target.name,
            "module": self.target.module,
            "file": self.target.file,
            "line": self.target.line,
            "verdict": self.verdict,
            "samples": [{"id": sample.id, **report.to_dict()} for sample, report in self.reports],
        }


def collect_targets(names: Iterable[str] = (), seed: int = 0, only: str = "") -> list[Target]:
    """The functions with rules of some modules, files or names, with their sample inputs.

    Parameters
    ----------
    names : iterable of str
        Module names, paths of Python files that register rules or sample inputs, dotted names of functions, or
        ``file.py:name``. Empty for all rules that installed packages offer. All are loaded before samples are looked
        for, so that those of one file may be for the rules of another.
    seed : int
        See `samples_of`.
    only : str
        Where given, the samples in whose names it occurs, as ``"numpy.sin[3-"``, and their functions.

    Raises
    ------
    TargetError
        When a name means nothing.
    NothingToCheckError
        When a module registers no rules, or no sample has such a name.
    """
    names = list(names) or list(rule_entries.names)
    targets: dict[int, Target] = {}
    named = [(name, function, module) for name in names for function, module in _functions_named(name)]
    for name, function, module in named:
        record = _first_record(function)
        if record is not None and id(function) not in targets:
            title = name_of(function)
            samples = [sample for sample in samples_of(function, seed) if only in f"{title}[{sample.id}]"]
            if samples or not only:
                targets[id(function)] = Target(function, title, module, samples, record, name)
    without_rules = [
        function for _, function, _ in named if not rrule.records(function) and not frule.records(function)
    ]
    if without_rules and not targets:
        raise NothingToCheckError(
            f"{', '.join(names)}: there are sample inputs for {', '.join(map(name_of, without_rules))} and no rules: "
            "name the file of the rules too"
        )
    if only and not targets:
        raise NothingToCheckError(f"no sample input has {only!r} in its name, as numpy.sin[3-...] has")
    return list(targets.values())


def load(names: Iterable[str]) -> None:
    """Import what names mean, as far as there is something: sample inputs of one may be for the rules of another."""
    for name in names:
        with contextlib.suppress(TargetError):
            _functions_named(name)


def _first_record(function: Any) -> RuleRecord | None:
    """Its first rule, or else its first opt-out, which samples can prove right too; None where there is neither."""
    records = [r for r in (*rrule.records(function), *frule.records(function)) if not says_why_nothing(r)]
    return next((r for r in records if not r.opted_out), records[0] if records else None)


def says_why_nothing(record: RuleRecord) -> bool:
    """Whether a record only tells why there is no rule: the function computes no numbers, or its rules are missing."""
    return bool({"not numerical", "missing"} & record.tags)


def run_targets(
    names: list[str],
    targets: list[Target],
    *,
    seed: int = 0,
    jobs: int = 1,
    thorough: bool = False,
    strict: bool = False,
    only: str = "",
    on_report: Callable[[Target, Sample, Report], None] = lambda target, sample, report: None,
) -> list[Outcome]:
    """Check every sample of every target.

    Parameters
    ----------
    names, seed, only
        What the targets were collected from; processes collect them again.
    targets : list of Target
        As `collect_targets` returned them.
    jobs : int
        How many processes; with one, everything runs in this one.
    thorough, strict : bool
        Whether every variant of the arguments is checked too, and fails whatever the rules claim; see `check_rule`.
    on_report : callable, optional
        Called with each report as it comes, for progress.

    Returns
    -------
    list of Outcome
        In the order of the targets.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the outcomes until then.
    """
    outcomes = [Outcome(target) for target in targets]
    if jobs <= 1:
        reports = _reports_here(targets, thorough, strict)
    else:
        reports = _reports_from_processes(names, targets, (seed, only), jobs, (thorough, strict))
    try:
        for position, sample, report in reports:
            outcomes[position].reports.append((sample, report))
            on_report(targets[position], sample, report)
    except KeyboardInterrupt:
        raise Interrupted(outcomes) from None
    for outcome in outcomes:
        outcome.reports.sort(key=lambda pair: pair[0].position)
    return outcomes


def resolve(dotted: str) -> Any:
    """The object that a dotted name means: ``np.linalg.inv``, ``mypkg.pool``, ``numpy.ndarray.sum``.

    Raises
    ------
    TargetError
        When there is no such object; the message says how far the name is good.
    """
    dotted = _as_registered(dotted)
    root, *attributes = dotted.split(".")
    if _is_operator(dotted):
        root, attributes = "rules.operators", attributes[1:]
    root = _ABBREVIATIONS.get(root, root)
    module = _import(root)
    if module is None:
        raise TargetError(
            f"{dotted}: there is no module {root!r}; write the name as you would import it, or a file as my_rules.py"
        )
    found: Any = module
    path = root
    for attribute in attributes:
        if not hasattr(found, attribute) and isinstance(found, ModuleType):
            _import(f"{path}.{attribute}")
        if not hasattr(found, attribute):
            raise TargetError(f"{dotted}: {path} has no {attribute!r}")
        found = getattr(found, attribute)
        path = f"{path}.{attribute}"
    return found


def resolve_in_module(text: str) -> Any:
    """The object that ``module:name`` means, or ``file.py:name``; or a dotted name, as `resolve` takes it.

    Raises
    ------
    TargetError
        When there is no such object.
    """
    if not names_function_of_module(text):
        return resolve(text)
    owner, _, name = text.rpartition(":")
    if not is_path(owner):
        return resolve(f"{owner}.{name}")
    module = load_file(owner)
    found: Any = sys.modules[module]
    for attribute in name.split("."):
        if not hasattr(found, attribute):
            ruled = dict.fromkeys(map(name_of, [*rrule.functions_of(module), *frule.functions_of(module)]))
            has_rules = f"; it registers rules for {', '.join(ruled)}" if ruled else ""
            raise TargetError(f"{text}: {owner} has no {name!r}{has_rules}")
        found = getattr(found, attribute)
    return found


def names_function_of_module(text: str) -> bool:
    """Whether a name that was asked for is ``file.py:f`` or ``module:f``; a colon may also be one of a path."""
    _, colon, name = text.rpartition(":")
    return bool(colon) and all(part.isidentifier() for part in name.split(".")) and not text.endswith(".py")


def default_jobs(sample_count: int) -> int:
    """Processes worth their start-up time: one for a handful of samples, else one per core."""
    return 1 if sample_count < 200 else os.cpu_count() or 1


def _functions_named(name: str) -> list[tuple[Any, str]]:
    name = _as_registered(_ABBREVIATIONS.get(name, name))
    if names_function_of_module(name):
        return _function_alone(resolve_in_module(name), name, name.rpartition(":")[0])
    if is_path(name):
        return _functions_in_folder(name) if Path(name).is_dir() else _functions_in(load_file(name), name)
    if name in rule_entries.names:
        if _import(name) is None:
            raise TargetError(f"{name}: an installed package has rules for it, but {name} itself cannot be imported")
        return _functions_in(name, name)
    imported = _import(name)
    if (
        getattr(imported, "__file__", None) is None and Path(name).is_dir()
    ):  # as `src`, which Python takes for a package
        with contextlib.suppress(NothingToCheckError):
            return _functions_in(name, name)
        return _functions_in_folder(name)
    if imported is not None:
        return _functions_in(imported.__name__, imported.__name__)
    return _function_alone(resolve(name), name, name.rpartition(".")[0])


def _function_alone(found: Any, name: str, module: str) -> list[tuple[Any, str]]:
    function = rules_are_for(found)
    if function is None:
        short = name.rpartition(":")[2]
        raise NothingToCheckError(
            f"{name} has no rule: register one with @rrule.register({short}), or check a derivative that is not "
            "registered with --vjp, --jvp or --jac, and --at"
        )
    return [(rrule.canonical(function), module)]


def rules_are_for(found: Any) -> Any:
    """What the rules that serve a function are registered for: itself, or the instances of a class; None of none."""
    candidates = [found, instances_of(found)] if isinstance(found, type) else [found]
    return next((f for f in candidates if rrule.records(f) or frule.records(f)), None)


def is_path(name: str) -> bool:
    """Whether a name that was asked for is that of a file or folder, and not of a module or function."""
    return name.endswith(".py") or os.sep in name or name in (os.curdir, os.pardir)


def names_modules(name: str) -> bool:
    """Whether a name that was asked for is that of a file or folder as a whole."""
    return is_path(name) and not names_function_of_module(name)


def files_in(folder: str) -> list[str]:
    """The modules in a folder and below it that may register rules: no tests, nothing hidden, no environments."""
    return [
        str(path)
        for path in sorted(Path(folder).rglob("*.py"))
        if not path.name.startswith(("test_", "conftest.", "setup.", "__main__.", "."))
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not any((Path(folder, parent) / "pyvenv.cfg").exists() for parent in path.relative_to(folder).parents)
    ]


def _functions_in_folder(folder: str) -> list[tuple[Any, str]]:
    found = []
    for file in files_in(folder):
        with contextlib.suppress(NothingToCheckError):
            found += _functions_in(load_file(file), file)
    if not found:
        raise NothingToCheckError(f"no module in {folder} registers rules")
    return found


def _functions_in(module: str, title: str) -> list[tuple[Any, str]]:
    load_samples([module])
    functions = dict.fromkeys(map(_Identity, [*rrule.functions_of(module), *frule.functions_of(module)]))
    if not functions:  # rules for a part of a package, as numpy.linalg, may come with those for the whole
        functions = dict.fromkeys(map(_Identity, _public_functions_with_rules(module)))
    if not functions:  # the rules may be those of another file
        functions = dict.fromkeys(_Identity(rrule.canonical(f)) for f in functions_sampled_in(module))
    if not functions:
        raise NothingToCheckError(
            f"{title} registers no rules: a rule is registered with @rrule.register(f), @frule.register(f) or one of "
            "the short forms, when its module is imported"
        )
    return [(wrapped.value, title) for wrapped in functions]


def _public_functions_with_rules(module: str) -> list[Any]:
    owner = sys.modules.get(module)
    found = [getattr(owner, name, None) for name in getattr(owner, "__all__", ())]
    canonical = [rrule.canonical(f) for f in found if callable(f) and not isinstance(f, type)]
    return [f for f in canonical if rrule.records(f) or frule.records(f)]


class _Identity:
    """A function as a dictionary key, whatever its own idea of equality."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _as_registered(name: str) -> str:
    """A name below the public door of the operators as that of the module behind it, which has the rules."""
    is_operator = f"{name}.".startswith("rulescore.operators.")
    return f"rules.{name.removeprefix('rulescore.')}" if is_operator else name


def _is_operator(name: str) -> bool:
    """Whether a name is that of our operators, which there is no other of, whosever ``rules`` may be."""
    return f"{name}.".startswith("rules.operators.")


def _import(name: str) -> ModuleType | None:
    """Import a module; None when there is none of that name. An error inside it is a `TargetError`."""
    try:
        return import_shipped(name) if _is_operator(name) else importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = public_name(error.name or "?")
        if f"{name}.".startswith(f"{missing}."):
            return None
        raise TargetError(f"importing {name} raised {_told(error)}") from error
    except Exception as error:
        raise TargetError(f"importing {name} raised {_told(error)}") from error


def load_file(name: str) -> str:
    """Run a person's own file as a module, once, and return the module's name; of one in a package, import it."""
    path = Path(name).resolve()
    if not path.is_file():
        beside = f"; write {name}.py" if path.with_name(f"{path.name}.py").is_file() else ""
        raise TargetError(f"{name}: there is no such file{beside}")
    if (path.parent / "__init__.py").exists():
        return _load_from_package(name, path)
    module_name = _module_name_for(path)
    if module_name in sys.modules:
        return module_name
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{name} is not a Python file: its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    # After everything installed, so that a neighbour of the file cannot hide a package.
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        if not isinstance(error, Exception):
            raise
        raise TargetError(f"running {name} raised {_told(error)}") from error
    return module_name


def _load_from_package(name: str, path: Path) -> str:
    """Import a file of a package, which may import its neighbours by relative names."""
    top = next(parent for parent in path.parents if not (parent / "__init__.py").exists())
    parts = path.with_suffix("").relative_to(top).parts
    module_name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if str(top) not in sys.path:
        sys.path.append(str(top))
    module = _import(module_name)
    file = getattr(module, "__file__", None)
    if file is None or Path(file).resolve() != path:
        raise TargetError(
            f"{name} is {module_name}, and importing that gives {file}: uninstall the other one, or name a module"
        )
    return module_name


def see_project() -> None:
    """Make what a project has in its folder, or in ``src``, importable: after everything that is installed."""
    for folder in (Path.cwd(), Path.cwd() / "src"):
        if folder.is_dir() and str(folder) not in sys.path:
            sys.path.append(str(folder))


def _told(error: Exception) -> str:
    """An error in somebody's module, with the line of theirs that it comes from."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno}: {(error.text or '').strip()})"
    libraries = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
    libraries += [Path(__file__).parents[1], Path(rulescore.__file__).parent]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    theirs = [f for f in frames if not any(Path(f.filename).is_relative_to(folder) for folder in libraries)]
    last = (theirs or frames)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}:{last.lineno}: {last.line})"


def _module_name_for(path: Path) -> str:
    """The file's own name, unless a module that can be imported has it: neither may hide the other."""
    if not path.stem.isidentifier():
        return path.stem
    known = sys.modules.get(path.stem) or importlib.util.find_spec(path.stem)
    file = getattr(known, "__file__", None) or getattr(known, "origin", None)
    return path.stem if known is None or file == str(path) else f"{path.stem}@{path.parent}"


def _reports_here(targets: list[Target], thorough: bool, strict: bool) -> Iterator[tuple[int, Sample, Report]]:
    for position, target in enumerate(targets):
        for sample in target.samples:
            yield position, sample, target.check(sample, thorough, strict)


def _reports_from_processes(
    names: list[str], targets: list[Target], which: tuple[int, str], jobs: int, how: tuple[bool, bool]
) -> Iterator[tuple[int, Sample, Report]]:
    every = [(position, number) for position, target in enumerate(targets) for number in range(len(target.samples))]
    count = -(-len(every) // _CHUNK)
    # Samples that take long are neighbours, and no process should end with all of them.
    chunks = [every[number::count] for number in range(count)]
    # Not forked: a fork of a process whose BLAS has threads can hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_start_worker, initargs=(names, *which))
    with _one_thread_of_blas(), pool:
        futures = {pool.submit(_check_chunk, chunk, *how): chunk for chunk in chunks}
        try:
            for future in as_completed(futures):
                for (position, number), report in zip(futures[future], future.result(), strict=True):
                    yield position, targets[position].samples[number], report
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():  # which may be far from the end of what they are at
                process.terminate()
            raise
        except BrokenProcessPool:
            raise RuntimeError(
                "a process that checked rules died (killed, or crashed in native code); run again with --jobs 1 to see "
                "which rule it was"
            ) from None


@contextlib.contextmanager
def _one_thread_of_blas() -> Iterator[None]:
    """Where nobody has said otherwise, processes that start now let BLAS use the core they run on, and no other."""
    unset = [name for name in _THREADS_OF_BLAS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]


_worker_targets: list[Target] = []


def _start_worker(names: list[str], seed: int, only: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the first one decides
    _worker_targets.extend(collect_targets(names, seed, only))


def _check_chunk(chunk: list[tuple[int, int]], thorough: bool, strict: bool) -> list[Report]:
    targets = [(_worker_targets[position], number) for position, number in chunk]
    return [target.check(target.samples[number], thorough, strict) for target, number in targets]
