"""What the rules of this tree compute beside those of a commit, bit for bit.

``python -m tests.rules.compare COMMIT [NAME ...]`` checks the commit out in a temporary worktree of git, which is
removed at the end, and has every rule answer on every sample input, once in each tree, with that tree's own packages
and samples: the output, the cotangents of a random cotangent and of a zero, the tangents along random tangents, along
zeros, and along each tangent alone. It prints what differs, by how much, and returns 1 if anything does; what differs
between two runs at the commit itself is named, and does not count. A name is a module, a file or a function, as
``rulescore check`` takes them; without one, everything is compared.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]

Answer = list[tuple[str, str, Any]]
"""Of every part of something: where it is, of what type, and its numbers, or a word."""

# ---------------------------------------------------------------- in the process of one tree


def answers(names: list[str]) -> Iterator[tuple[str, Answer]]:
    """What every rule answers on every sample input, by a name for the question."""
    running, tables = _first_of("testutils.runs.running", "testutils.running"), importlib.import_module("rulescore")
    for target in running.collect_targets(names):
        if target.is_looked_into:
            continue
        for sample in target.samples:
            function = target.function if sample.function is None else sample.function
            for mode in ("rrule", "frule"):
                if function in getattr(tables, mode) and mode in (sample.modes or (mode,)):
                    for question, ask in questions(function, sample, mode):
                        yield f"{target.name}[{sample.id}] {question}", answer(ask)


def _first_of(*modules: str) -> Any:
    """A module under the name that it has in the tree, be that of today or of the commit."""
    return importlib.import_module(next(name for name in modules if _exists(name)))


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def questions(function: Any, sample: Any, mode: str) -> Iterator[tuple[str, Any]]:
    """What a rule is asked on a sample, each question on fresh copies of the arguments."""
    from rulescore import AbstractZero, NoTangent, ZeroTangent, unthunk

    cases = _first_of("testutils.cases.case", "testutils.cases")

    def case() -> Any:
        return cases.Case(
            function,
            sample.args,
            fkwargs=sample.fkwargs,
            modes=(mode,),
            output_tangent=sample.output_tangent,
            rng=sample.rng(),
        )

    def pulled(ybar: Any = None) -> Any:
        asked = case()
        cotangent = asked.output_tangent if ybar is None else ybar
        _, (y, pullback) = asked.run_rule("rrule")
        bars = list(map(unthunk, pullback(cotangent)))
        while len(bars) > 1 and bars[-1] is NoTangent():  # where a pullback stops makes no difference
            bars.pop()
        return y, bars

    def pushed(is_along: Any) -> Any:
        asked = case()
        tangents: dict[int, Any] = {}
        for i, argument in enumerate(asked.arguments):
            is_zero = isinstance(argument.tangent, AbstractZero)
            dx = argument.tangent if is_zero or is_along(i) else ZeroTangent()
            if argument.keyword is None or not isinstance(dx, AbstractZero):  # as far as one has a tangent
                tangents[argument.position] = dx
        given = tuple(tangents.get(position, NoTangent()) for position in range(max(tangents) + 1))
        return asked.run_rule("frule", given)[1]

    if mode == "rrule":
        yield "pullback", pulled
        yield "pullback of zero", lambda: pulled(ZeroTangent())
        return
    yield "pushforward", lambda: pushed(lambda i: True)
    yield "pushforward of zero", lambda: pushed(lambda i: False)
    active = [i for i, argument in enumerate(case().arguments) if not isinstance(argument.tangent, AbstractZero)]
    for i in active if len(active) > 1 else ():
        yield f"pushforward of {i} alone", lambda i=i: pushed(lambda j: j == i)


def answer(ask: Any) -> Answer:
    np.random.seed(0)  # noqa: NPY002  # some functions of SciPy's begin with random numbers
    try:
        return list(parts("", ask()))
    except Exception as error:
        return [("", "raised", type(error).__name__)]


def parts(path: str, x: Any) -> Iterator[tuple[str, str, Any]]:
    """The parts of an output, cotangent or tangent, thunks forced."""
    from rulescore import AbstractZero, NotImplementedTangent, Tangent, unthunk

    x = unthunk(x)
    kind = type(x).__name__
    if isinstance(x, (AbstractZero, NotImplementedTangent)):
        yield path, kind, kind
    elif isinstance(x, (np.ndarray, np.generic, float, complex)):
        yield path, f"{kind} {np.asarray(x).dtype} {np.shape(x)}", np.asarray(x)
    elif isinstance(x, Tangent) and issubclass(x.primal_type, (tuple, list)):  # means the same as a tuple
        yield from parts(path, tuple(x.fields.values()))
    elif isinstance(x, Tangent):
        for key, part in x.fields.items():
            yield from parts(f"{path}.{key}", part)
    elif isinstance(x, (tuple, list)):
        yield path, f"{len(x)} items", ""
        for i, part in enumerate(x):
            yield from parts(f"{path}[{i}]", part)
    elif isinstance(x, dict):
        for key, part in x.items():
            yield from parts(f"{path}[{key!r}]", part)
    elif hasattr(x, "tocoo"):
        entries = x.tocoo()
        yield f"{path}.data", f"{kind} {x.dtype} {x.shape}", np.asarray(entries.data)
        for i, indices in enumerate(entries.coords):
            yield f"{path}.coords[{i}]", kind, np.asarray(indices)
    elif isinstance(x, (int, str, bytes, type(None))):
        yield path, kind, repr(x)
    else:
        fields = getattr(x, "__dict__", {})
        yield path, kind, ""
        for key, part in fields.items():
            if not callable(part):
                yield from parts(f"{path}.{key}", part)


def answer_in(tree: str, output: str, names: list[str]) -> None:
    """Write the answers of a tree to a file."""
    sys.path.insert(0, tree)
    # An editable install finds modules that the packages of an old tree do not have.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
    warnings.simplefilter("ignore")
    for package in ("rulescore", "rules", "testutils"):
        (place, *_) = importlib.import_module(package).__path__  # `rules` is a namespace, in no file of its own
        if not Path(place).resolve().is_relative_to(tree):
            raise ImportError(f"{package} was imported from {place}, which is not in {tree}")
    with open(output, "wb") as file, np.errstate(all="ignore"):
        pickle.dump(dict(answers(names)), file)


# ---------------------------------------------------------------- the comparison


def differences(old: dict[str, Answer], new: dict[str, Answer]) -> Iterator[tuple[str, str]]:
    """The questions that two trees do not answer alike, each with what differs."""
    for question in [*old, *[name for name in new if name not in old]]:
        if question not in new or question not in old:
            yield question, "nobody is asked any more" if question not in new else "new"
        elif found := list(_differing_parts(old[question], new[question])):
            yield question, "; ".join(found)


def _differing_parts(old: Answer, new: Answer) -> Iterator[str]:
    before, after = ({path: rest for path, *rest in side} for side in (old, new))
    for path in dict.fromkeys([*before, *after]):
        one, other = before.get(path), after.get(path)
        if one is None or other is None:
            yield f"{path or 'it'} {'appeared' if one is None else 'is missing'}"
        elif one[0] != other[0]:
            yield f"{path or 'it'} was {one[0]}{_shown(one[1])}, is {other[0]}{_shown(other[1])}"
        elif isinstance(one[1], np.ndarray):
            if _bits(one[1]) != _bits(other[1]):
                yield f"{path or 'it'} differs by {_distance(one[1], other[1])}"
        elif one[1] != other[1]:
            yield f"{path or 'it'} was {one[1]}, is {other[1]}"


def _bits(x: np.ndarray[Any, Any]) -> Any:
    if x.dtype == object:
        return repr(x)
    if x.dtype.char in "gG" and np.finfo(x.dtype).nmant == 63:  # ten bytes, and padding
        return np.frombuffer(x.tobytes(), np.uint8).reshape(-1, np.dtype("g").itemsize)[:, :10].tobytes()
    return x.tobytes()


def _shown(x: Any) -> str:
    return f" ({x})" if isinstance(x, str) and x else ""


def _distance(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> str:
    try:
        scale = np.max(np.abs(x), initial=0.0)
        worst = np.nanmax(np.abs(x - y), initial=0.0)
        where = "" if np.array_equal(np.isnan(x), np.isnan(y)) else ", NaN elsewhere"
        return f"{worst:.3g}, of numbers up to {scale:.3g}{where}"
    except (TypeError, ValueError):
        return "what cannot be subtracted"


def collected(tree: Path, names: list[str]) -> dict[str, Answer]:
    """The answers of a tree, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "answers"
        environment = {
            **os.environ,
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
            "PYTHONPATH": os.pathsep.join((str(tree), str(ROOT))),
            "PYTHONHASHSEED": "0",
        }
        subprocess.run(
            [sys.executable, __file__, "--answer", str(tree), str(output), *names],
            env=environment,
            cwd=tree,
            check=True,
        )
        return pickle.loads(output.read_bytes())  # type: ignore[no-any-return]


def main() -> int:
    if sys.argv[1:2] == ["--answer"]:
        answer_in(sys.argv[2], sys.argv[3], sys.argv[4:])
        return 0
    from tests.benchmarks.compare import checked_out, git

    parser = argparse.ArgumentParser(prog="python -m tests.rules.compare", description=__doc__.splitlines()[0])
    parser.add_argument("commit", metavar="COMMIT", help="whose rules are the old ones")
    parser.add_argument("names", metavar="NAME", nargs="*", help="modules, files or functions (default: all)")
    asked = parser.parse_args()
    commit = git("rev-parse", "--verify", "--short", f"{asked.commit}^{{commit}}")
    with checked_out(commit) as old, ThreadPoolExecutor() as pool:
        before, after = pool.map(collected, (old, ROOT), (asked.names, asked.names))
        found = dict(differences(before, after))
        again = collected(old, asked.names) if found else {}
    repeated = {question: again[question] for question in found if question in again and question in before}
    unsteady = [question for question, _ in differences({q: before[q] for q in repeated}, repeated)]
    print("\n".join(f"{question}: {what}" for question, what in found.items() if question not in unsteady))
    print(
        f"\n{len(before)} answers at {commit}, {len(after)} in this tree: {len(found) - len(unsteady) or 'none'} differ"
    )
    if unsteady:
        print(f"Not compared, since at {commit} they differ from one run to the next: {', '.join(unsteady)}")
    return int(len(found) > len(unsteady))


if __name__ == "__main__":
    sys.exit(main())
