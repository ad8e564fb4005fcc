"""The command line: ``rulescore check``, ``rulescore list`` and ``rulescore show``."""

from __future__ import annotations

import argparse
import inspect
import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

import rulescore
from rulescore import NoTangent, RuleTable, frule, rrule
from rulescore.tables.names import name_of, place_of

from ..bare_functions import check_derivative
from ..cases.arguments import SampleError
from ..reports.names import counted
from ..reports.report import Report
from ..reports.results import COLOURS
from ..samples.random_tangents import with_tangent
from ..samples.sampling import Sample, SamplingError, samples_of
from ..testers import check_sample
from .listing import FunctionState, kind_of, listed_modules, states_of_module
from .page import page_of
from .running import (
    Interrupted,
    NothingToCheckError,
    Outcome,
    TargetError,
    collect_targets,
    default_jobs,
    names_modules,
    resolve_in_module,
    rules_are_for,
    run_targets,
    see_project,
)

PASSED, FAILED, INTERRUPTED, USAGE, NOTHING = 0, 1, 2, 4, 5
"""The exit statuses, which are pytest's."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``rulescore``; those of the process by default.

    Returns
    -------
    int
        As pytest's: 0 when all is well, 1 when a rule is wrong, untested or undecided (or the function shown has none),
        2 when interrupted, 4 when the command itself is wrong, 5 when there was nothing to check.
    """
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as exit_:  # argparse has said why
        return USAGE if exit_.code else PASSED
    # Without a terminal there is no width to fit: a report in a log should not be broken into short lines. Brackets are
    # no markup: names of files and samples have them.
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, markup=False)
    see_project()
    try:
        return int(options.command(options, console))
    except (TargetError, SamplingError) as error:
        print(f"rulescore {options.name}: {error}", file=sys.stderr)
        return NOTHING if isinstance(error, NothingToCheckError) else USAGE
    except KeyboardInterrupt:  # before anything was found
        print(f"rulescore {options.name}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rulescore", description="Derivative rules: check them, list them, show them."
    )
    parser.add_argument("--version", action="version", version=f"rulescore {rulescore.__version__}")
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="check rules against finite differences on their sample inputs")
    check.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="a module (numpy, mypkg.mod), a file (my_rules.py), a folder (src) or a function (np.sin, my_rules.py:f); "
        "sample inputs in another file are found when it is named too; default: all rules of installed packages",
    )
    check.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: one per core where it pays)")
    check.add_argument("--seed", type=_seed, default=0, metavar="N", help="seed of the random inputs (default: 0)")
    check.add_argument("--only", default="", metavar="TEXT", help="samples in whose names it occurs: numpy.sin[3-")
    check.add_argument(
        "--thorough",
        action="store_true",
        help="also check variants of every sample (0-d, empty, float32, complex, other magnitudes and signs, ...), and "
        "second derivatives in all combinations of modes, by the reference AD",
    )
    check.add_argument(
        "--strict",
        action="store_true",
        help="fail too where a thorough check finds rules wrong for what they do not claim to serve (complex, float16, "
        "0-d and empty arguments, keywords)",
    )
    check.add_argument("--json", type=Path, metavar="FILE", help="also write every report to FILE")
    check.add_argument("--html", type=Path, metavar="FILE", help="also write a page with pictures of failures to FILE")
    bare = check.add_argument_group(
        "one function at arguments of your own (my_file.py:f, mymodule:f): its registered rules with --at alone, or a "
        "derivative that is not registered"
    )
    bare.add_argument("--vjp", metavar="FUNCTION", help="vjp(ybar, *args), the cotangent of each argument")
    bare.add_argument("--jvp", metavar="FUNCTION", help="jvp(tangents, *args), the tangent of the output")
    bare.add_argument("--jac", metavar="FUNCTION", help="jac(*args), gradient or Jacobian of the first argument")
    bare.add_argument("--at", metavar="ARGUMENTS", help="where: 'np.ones(3), 2.0'")
    check.set_defaults(command=_check)

    list_ = commands.add_parser("list", help="list which functions of a module have rules and sample inputs")
    list_.add_argument(
        "modules",
        nargs="*",
        metavar="MODULE",
        help="or a file, a folder, a class as numpy.ndarray; default: numpy, and with --onnx rulescore.operators too",
    )
    which = list_.add_mutually_exclusive_group()
    which.add_argument(
        "--missing", action="store_true", help="only functions of which nothing is known, or nothing tested"
    )
    which.add_argument(
        "--onnx", action="store_true", help="what functions are called in ONNX and in TensorFlow, where that is known"
    )
    list_.set_defaults(command=_list)

    show = commands.add_parser("show", help="show the rules of a function: signatures, where defined, source")
    show.add_argument(
        "target",
        metavar="TARGET",
        help="a function (np.linalg.inv, my_rules.py:f), or a module, file or folder of rules",
    )
    show.set_defaults(command=_show)
    return parser


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a seed is a whole number, 0 or more")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("give a number of processes, 1 or more")
    return number


# ---------------------------------------------------------------------- check


def _check(options: argparse.Namespace, console: Console) -> int:
    if options.strict and not options.thorough:
        raise TargetError("--strict is about the variants of a thorough check: write --thorough beside it")
    for name, file in (("--json", options.json), ("--html", options.html)):
        _require_place_for(name, file)
    derivatives = {name: getattr(options, name) for name in ("vjp", "jvp", "jac") if getattr(options, name)}
    if derivatives or options.at is not None:
        return _check_at(options, derivatives, console)
    started = time.perf_counter()
    if console.is_terminal:
        console.print("looking for rules ...", end="\r")
    targets = collect_targets(options.targets, options.seed, options.only)
    count = sum(len(target.samples) for target in targets)
    progress = Progress(
        TextColumn("checking {task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("still"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    is_interrupted = False
    with progress:
        task = progress.add_task(counted(len(targets), "function"), total=count)
        tell = (
            _lines_of_progress(len(targets), count) if progress.disable else partial(progress.update, task, advance=1)
        )
        try:
            outcomes = run_targets(
                options.targets,
                targets,
                seed=options.seed,
                jobs=options.jobs or default_jobs(count),
                thorough=options.thorough,
                strict=options.strict,
                only=options.only,
                on_report=lambda target, sample, report: tell(description=target.name),
            )
        except Interrupted as interrupted:
            is_interrupted = True
            outcomes = [outcome for outcome in interrupted.outcomes if outcome.is_complete]
    seconds = time.perf_counter() - started
    if options.json is not None:
        _write_json(options.json, options.seed, [outcome.to_dict() for outcome in outcomes], is_interrupted)
    if options.html is not None:
        options.html.write_text(page_of(outcomes, seed=options.seed, seconds=seconds), encoding="utf-8")
    _print_problems(console, outcomes, options)
    _print_not_claimed(console, outcomes)
    _print_summary(console, outcomes, seconds)
    if is_interrupted:
        verdicts = Counter(outcome.verdict for outcome in outcomes)
        told = "all pass" if set(verdicts) == {"pass"} else ", ".join(f"{n} {v}" for v, n in verdicts.items())
        checked = f"{len(outcomes)} of {counted(len(targets), 'function')} checked{', ' * bool(told)}{told}"
        console.print(f"{checked}; interrupted")
        return INTERRUPTED
    return PASSED if all(outcome.verdict == "pass" for outcome in outcomes) else FAILED


_KNOWN_TO_AT = {"with_tangent": with_tangent, "NoTangent": NoTangent}
"""Beside NumPy and what the function's own module knows, to hold an argument constant."""


def _check_at(options: argparse.Namespace, derivatives: dict[str, str], console: Console) -> int:
    """A function at the arguments that are given: its rules, or a derivative of its own beside it."""
    if len(options.targets) == 1 and options.at is None:
        raise TargetError(_where_is_missing(options.targets[0], derivatives))
    if len(options.targets) != 1:
        raise TargetError(
            "one function at arguments of your own is checked by: check mymodule:f --at 'np.ones(3), 2.0', and a "
            "derivative that is not registered by --vjp mymodule:f_vjp beside that"
        )
    (target,) = options.targets
    refused = {"--only": options.only, "--html": options.html, "--jobs": options.jobs}
    if given := [name for name, value in refused.items() if value]:
        raise TargetError(f"{given[0]} does not go with --{next(iter(derivatives), 'at')}: there is one call to check")
    f = None if names_modules(target) else resolve_in_module(target)
    if f is None or isinstance(f, ModuleType):
        raise TargetError(f"{target}: --at is about one function: write {target}:f")
    functions = {name: resolve_in_module(text) for name, text in derivatives.items()}
    if not functions and (not callable(f) or rules_are_for(f) is not f):
        raise NothingToCheckError(
            f"{target} has no rule: register one with @rrule.register({name_of(f)}), or give a derivative that is not "
            "registered with --vjp, --jvp or --jac"
        )
    names = {**_KNOWN_TO_AT, **getattr(inspect.unwrap(f), "__globals__", {}), "np": np}
    args, keywords = _arguments_in(options.at, names)
    how: dict[str, Any] = {"thorough": options.thorough, "strict": options.strict, "rng": options.seed}
    try:
        if functions:
            report = check_derivative(f, *args, **functions, fkwargs=keywords, **how)
        else:
            report = check_sample(f, Sample(args, keywords), **how)
    except (SampleError, TypeError) as error:
        raise TargetError(str(error)) from error
    if options.json is not None:
        module, file, line = place_of(f)
        where = {"function": report.function_name, "module": module, "file": file, "line": line}
        samples = [{"id": options.at, **report.to_dict()}]
        _write_json(options.json, options.seed, [{**where, "verdict": report.verdict, "samples": samples}])
    console.print(report if console.is_terminal else str(report), soft_wrap=True)
    return PASSED if report.verdict == "pass" else FAILED


def _arguments_in(text: str, names: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as they stand between its parentheses; a tuple alone is the positional ones."""
    try:
        args, keywords = eval(f"_call({text}\n)", {**names, "_call": lambda *args, **keywords: (args, keywords)})
    except Exception as error:
        raise TargetError(f"--at {text!r}: {type(error).__name__}: {error}; write arguments in Python") from error
    is_tuple = len(args) == 1 and type(args[0]) is tuple and not keywords
    return args[0] if is_tuple else args, keywords


def _where_is_missing(target: str, derivatives: dict[str, str]) -> str:
    """What to write where a derivative is given, and no arguments."""
    f = None if names_modules(target) else resolve_in_module(target)
    required = _required_positionals(f) if callable(f) else 1
    words = [word for name, value in derivatives.items() for word in (f"--{name}", value)]
    example = ", ".join(["np.ones(3)", *["2.0"] * (required - 1)])
    return (
        f"--at is missing: at which arguments is {target} to be checked? Write them in Python, as in: rulescore check "
        f"{shlex.join([target, *words, '--at', example])}"
    )


def _required_positionals(f: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # compiled functions have no signature
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def _lines_of_progress(functions: int, samples: int, every: float = 10.0) -> Callable[..., None]:
    """Where no terminal shows a bar: a line at once, and then one every ten seconds, beside the results."""
    started = last = time.perf_counter()
    done = 0
    print(f"checking {counted(functions, 'function')}, {counted(samples, 'sample')}", file=sys.stderr, flush=True)

    def tell(description: str) -> None:
        nonlocal last, done
        done += 1
        now = time.perf_counter()
        if now - last >= every:
            last = now
            left = (now - started) / done * (samples - done)
            line = f"checking {description}: {done} of {samples} samples, still {left:.0f} s"
            print(line, file=sys.stderr, flush=True)

    return tell


def _require_place_for(option: str, file: Path | None) -> None:
    """Before any work is done: can the file be written?"""
    if file is None:
        return
    if not file.resolve().parent.is_dir():
        raise TargetError(f"{option} {file}: there is no folder {file.resolve().parent}; make it, or name another")
    if file.is_dir():
        raise TargetError(f"{option} {file}: this is a folder; name a file in it")


def _write_json(path: Path, seed: int, functions: list[dict[str, Any]], is_interrupted: bool = False) -> None:
    document = {
        "rulescore": rulescore.__version__,
        "seed": seed,
        "interrupted": is_interrupted,
        "verdicts": Counter(function["verdict"] for function in functions),
        "functions": functions,
    }
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")


def _print_problems(console: Console, outcomes: list[Outcome], options: argparse.Namespace) -> None:
    for outcome in outcomes:
        target = outcome.target
        if outcome.verdict == "untested":
            _print_report(console, target.report_without_samples(), "no sample inputs")
        alike: dict[Hashable, list[str]] = {}
        for sample, report in outcome.reports:
            if report.verdict == "pass":
                continue
            asked = options.targets or [target.asked]  # all of them: the samples may be those of another file
            words = ["rulescore", "check", *asked, "--only", f"{target.name}[{sample.id}]"]
            words += ["--seed", str(options.seed)] + ["--thorough"] * options.thorough
            words += ["--strict"] * options.strict
            command, kind = shlex.join(words), _kind_of(report)
            if kind in alike:
                alike[kind].append(command)
            else:
                alike[kind] = []
                _print_report(console, report, f"sample {sample.id}", command)
        commands = [command for further in alike.values() for command in further]
        if commands:
            console.print(f"{counted(len(commands), 'further sample')} of {target.name} with findings like these:")
            for command in commands:
                console.print(f"  {command}", soft_wrap=True, markup=False, highlight=False)
            console.print()


def _kind_of(report: Report) -> Hashable:
    """What reports of one mistake have in common: which checks fail, for which argument, and what it looks like."""
    return report.verdict, frozenset(
        (r.mode, r.name, r.verdict, r.argument, tuple(hint.partition(" (")[0] for hint in r.hints))
        for r in (*report.failures, *report.inconclusive)
    )


def _print_not_claimed(console: Console, outcomes: list[Outcome]) -> None:
    """What rules are wrong for without claiming it: a line for each function and kind."""
    for outcome in outcomes:
        told: dict[str, str] = {}
        for _, report in outcome.reports:
            for result in report.not_claimed:
                told.setdefault(result.name, result.message.splitlines()[0])
        for line in told.values():
            console.print(f"{outcome.target.name} is {line}", style="yellow", markup=False, highlight=False)


def _print_report(console: Console, report: Any, title: str, command: str = "") -> None:
    console.rule(f"{report.function_name}, {title}", align="left", style="dim")
    if console.is_terminal:
        console.print(report)
    else:
        console.print(str(report), soft_wrap=True)
    if command:
        console.print(f"once more: {command}", soft_wrap=True)
    console.print()


def _print_summary(console: Console, outcomes: list[Outcome], seconds: float) -> None:
    table = Table(title="rules checked against finite differences", title_justify="left")
    table.add_column("module")
    for title in ("functions", "samples", "pass", "fail", "inconclusive", "untested"):
        table.add_column(title, justify="right")
    modules = dict.fromkeys(outcome.target.module for outcome in outcomes)
    for module in modules:
        of_module = [outcome for outcome in outcomes if outcome.target.module == module]
        table.add_row(module, *_counts(of_module))
    if len(modules) > 1:
        table.add_section()
        table.add_row("all", *_counts(outcomes))
    console.print(table)
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    worst = next((v for v in ("fail", "untested", "inconclusive") if verdicts[v]), "pass")
    samples = sum(len(outcome.reports) for outcome in outcomes)
    counts = ", ".join(f"{verdicts[v]} {v}" for v in ("pass", "fail", "inconclusive", "untested") if verdicts[v])
    line = f"{counted(len(outcomes), 'function')}, {counted(samples, 'sample input')}: {counts} in {seconds:.1f} s"
    console.print(Text(line, style=COLOURS.get(worst, COLOURS["fail"])))


def _counts(outcomes: list[Outcome]) -> list[str]:
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    samples = sum(len(outcome.reports) for outcome in outcomes)
    return [
        str(n) for n in (len(outcomes), samples, *(verdicts[v] for v in ("pass", "fail", "inconclusive", "untested")))
    ]


# ---------------------------------------------------------------------- list and show


def _list(options: argparse.Namespace, console: Console) -> int:
    named = options.modules or (["rulescore.operators", "numpy"] if options.onnx else ["numpy"])
    for module in chain.from_iterable(map(listed_modules, named)):
        states = states_of_module(module)
        if options.onnx:
            _list_names_elsewhere(module, states, console)
            continue
        shown = [state for state in states if not (options.missing and state.is_complete)]
        console.print(Text(f"{module}: {_coverage(states)}"), soft_wrap=True)
        table = Table()
        for title in ("function", "kind"):
            table.add_column(title)
        for title in ("frule", "rrule", "samples"):
            table.add_column(title, justify="right")
        has_reasons = any(state.reason for state in shown)
        if has_reasons:
            table.add_column("reason")
        for state in shown:
            cells = [state.name, state.kind, state.frule, state.rrule, str(state.samples or "")]
            table.add_row(*cells, *([Text(state.reason)] if has_reasons else []))  # brackets in it are no markup
        if shown:
            console.print(table)
    return PASSED


def _list_names_elsewhere(module: str, states: list[FunctionState], console: Console) -> None:
    shown = [state for state in states if state.onnx or state.tensorflow]
    counts = f"{sum(bool(s.onnx) for s in shown)} in ONNX, {sum(bool(s.tensorflow) for s in shown)} in TensorFlow"
    console.print(Text(f"{module}: {counted(len(states), 'function')}: {counts}"), soft_wrap=True)
    table = Table()
    for title in ("function", "ONNX", "TensorFlow"):
        table.add_column(title)
    for state in shown:
        table.add_row(state.name, state.onnx, state.tensorflow)
    if shown:
        console.print(table)


def _coverage(states: list[FunctionState]) -> str:
    kinds = Counter(state.kind for state in states)
    counts = {
        "with rules": kinds["rules"],
        **{kind: kinds[kind] for kind in ("constant", "looked into", "not numerical")},
    }
    parts = [f"{count} {what}" for what, count in {**counts, "missing": kinds[""]}.items() if count]
    return f"{counted(len(states), 'function')}: {', '.join(parts) or 'none'}"


_WITHOUT_RULE = {
    "looked into": "AD systems differentiate what it does",
    "not numerical": "it computes nothing that could be differentiated",
}


def _show(options: argparse.Namespace, console: Console) -> int:
    name = options.target
    if names_modules(name) or isinstance(resolve_in_module(name), ModuleType):
        statuses = [_show_function(target.function, target.name, console) for target in collect_targets([name])]
        return max(statuses)
    return _show_function(resolve_in_module(name), name, console)


def _show_function(function: Any, name: str, console: Console) -> int:
    tables = [table for table in (frule, rrule) if table.records(function)]
    if not tables:
        console.print(f"{name} has no rule: register one with @rrule.register({name})")
        return FAILED
    canonical = rrule.canonical(function)
    reason = _WITHOUT_RULE.get(kind_of(function))
    if reason is not None:
        (record, *_) = tables[0].records(function)
        console.print(f"{name} has no rule, on purpose: {reason} ({record.file}:{record.line})", soft_wrap=True)
        return FAILED
    if canonical is not function:
        console.print(f"{name} is served by the rules of {name_of(canonical)}")
    for table in tables:
        _show_records(console, table, function)
    console.print(f"sample inputs: {len(samples_of(function)) or 'none'}")
    return PASSED


def _show_records(console: Console, table: RuleTable, function: Any) -> None:
    for record in table.records(function):
        console.print(Text.assemble((table.name, "bold"), f"  {record.signature}"))
        console.print(f"  {record.file}:{record.line}", soft_wrap=True)
        if record.tags:
            console.print(f"  {', '.join(sorted(record.tags))}")
        if record.config:
            console.print(f"  needs {', '.join(config.__name__ for config in record.config)}")
        source = record.source.rstrip()
        if console.is_terminal:
            console.print(Syntax(source, "python", background_color="default"))
        else:
            console.print(source, markup=False, soft_wrap=True)
        console.print()
