"""Every function at points that its samples do not have: all its numbers larger or zero, or each in another's place.

Most rules that are wrong somewhere are wrong where something degenerates, and that is rarely drawn. Each program is one
call, in few modes, so that there can be one for every sample and change.
"""

from __future__ import annotations

import collections
import copy
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from .calls import functions, is_differentiable, numbers_in, sampled
from .examination import examine
from .program import Program
from .programs import LARGEST, argument_text, is_sound, is_symmetric, numbers_in_keywords, parts_of, quiet
from .seeds import Kind, are_known, function_of, kind_of

MOST_ENTRIES, MOST_PARTS = 200, 3
"""How many entries an output has at most that is looked at, and how many of a call."""

_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "negated": np.negative,
    "small": lambda x: x * 1e-3,
    "large": lambda x: x * 30,
    "without sign": np.abs,
    "zero": lambda x: x * 0,
    "one": lambda x: x * 0 + 1,
    "whole": np.round,
    "between 0 and 1": lambda x: np.abs(np.sin(x)),
    "of all sizes": lambda x: x * 10.0 ** np.random.default_rng(np.size(x)).uniform(-3, 3, np.shape(x)),
    "some zero": lambda x: x * (np.random.default_rng(np.size(x)).random(np.shape(x)) < 0.5),
    "ties": lambda x: np.resize(np.reshape(x, -1)[: (np.size(x) + 1) // 2], np.shape(x)),
    "sorted": lambda x: np.sort(x, axis=None).reshape(np.shape(x)),
    "backwards": lambda x: np.flip(np.asarray(x)),
}

_OTHER_SHAPES: dict[str, Callable[[Any], Any]] = {
    "transposed": np.transpose,
    "first": lambda x: x[:1] if np.ndim(x) else x,
    "last axis of one": lambda x: x[..., -1:] if np.ndim(x) else x,
    "empty": lambda x: x[:0] if np.ndim(x) else x,
    "one after the other": lambda x: np.concatenate([x, -x]) if np.ndim(x) else x,
    "stacked": lambda x: np.stack([x, x * 1.25]) if np.ndim(x) else x,
    "longer": lambda x: np.concatenate([x, x * 0.75], axis=-1) if np.ndim(x) else x,
}
"""Not of what rules call themselves, and with arrays that fit."""

_CHANGES_OF_ONE = _NUMBERS | _OTHER_SHAPES

CHANGES = (*_CHANGES_OF_ONE, "single precision", "exchanged", "the same twice")


class PointProgram(Program):
    """One call of a function, at another point than its sample."""

    has_few_modes: ClassVar[bool] = True


def run_points(seed: int, count: int, known: Collection[Kind] = ()) -> dict[str, Any]:
    """What became of so many calls of a function, the seed's, at changed points; the first problem is told."""
    found: dict[str, Any] = {"seed": seed, "first": function_of(seed), "programs": 0}
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for program in _programs(seed, count):
        found["programs"] += 1
        with quiet():
            examination = examine(program)
        for mode, outcome in examination.outcomes.items():
            outcomes[mode][outcome] += 1
        if not examination.problems:
            continue
        if "problem" in found or are_known(program, examination.problems, known):
            found["again"] = found.get("again", 0) + 1
        else:
            kinds = sorted({kind_of(problem, program) for problem in examination.problems})
            found |= {"problem": str(examination), "test": program.as_test(), "kinds": kinds}
    return found | {"outcomes": outcomes, "called": {found["first"]: found["programs"]}}


def draw_points(seed: int, count: int) -> None:
    """Make the programs of one seed, for which their functions are called, and do not differentiate them."""
    collections.deque(_programs(seed, count), maxlen=0)


def _programs(seed: int, count: int) -> Iterator[Program]:
    name = function_of(seed)
    changes = [c for c in CHANGES if c not in _OTHER_SHAPES or not name.startswith("rules.")]
    choices = [(position, change) for position in range(len(functions()[name][1])) for change in changes]
    for position, change in random.Random(seed).sample(choices, min(count, len(choices))):
        with quiet():
            yield from _at_changed_point(name, position, change)


def _at_changed_point(name: str, position: int, change: str) -> Iterator[Program]:
    """For each part of the output a program that returns it; none where the function does not serve the point."""
    _, args, kwargs = sampled(name, position)
    numbers = list(numbers_in(list(args), "f0_args"))
    places = [(path, x) for path, x in [*numbers, *numbers_in_keywords(kwargs, "f0_kwargs")] if is_differentiable(x)]
    values = [np.asarray(x)[()] if isinstance(x, float | complex) else x for _, x in places]
    changed = _changed(values, change, sum(is_differentiable(x) for _, x in numbers))
    if changed is None:
        return
    program = PointProgram(calls={"f0": (name, position)})
    expressions: dict[str, str] = {}
    for (path, _), before, value in zip(places, values, changed, strict=True):
        if isinstance(value, str):
            expressions[path] = value
            continue
        x = f"x{len(program.inputs)}"
        program.inputs[x] = copy.copy(value)
        expressions[path] = f"0.5 * ({x} + np.conj(np.swapaxes({x}, -1, -2)))" if is_symmetric(before) else x
    texts = [argument_text(value, f"f0_args[{k}]", expressions) for k, value in enumerate(args)]
    texts += [f"{key}={argument_text(x, f'f0_kwargs[{key!r}]', expressions)}" for key, x in kwargs.items()]
    program.lines = [f"v1 = f0({', '.join(texts)})"]
    scope = program.namespace() | program.inputs
    try:
        exec(program.lines[0], scope)
        parts = [(part, eval(part, scope)) for part in parts_of(scope["v1"], "v1")]
    except Exception:  # whatever the function has against it
        return
    parts = [(part, value) for part, value in parts if is_sound(value) and 0 < np.size(value) <= MOST_ENTRIES]
    for part, value in parts[:MOST_PARTS]:
        lines = [*program.lines, f"v2 = np.multiply({part}, np.float64(1.0))"]  # Python's numbers are NumPy's
        largest = float(np.max(np.abs(value)))
        if largest > LARGEST:
            lines.append(f"v2 = v2 / {10.0 ** np.ceil(np.log10(largest))!r}")
        result = "np.real(v2) + 0.5 * np.imag(v2)" if np.iscomplexobj(value) else "v2"
        yield PointProgram(dict(program.inputs), {}, dict(program.calls), lines, result)


def _changed(values: Sequence[Any], change: str, count: int) -> list[Any] | None:
    """The numbers of a call, of which the first ``count`` stand for no settings, or the name of an input; or None."""
    if not values:
        return None
    if change in _CHANGES_OF_ONE:
        return [_like(x, _CHANGES_OF_ONE[change](x)) for x in values[:count]] + list(values[count:])
    if change == "single precision":
        return [_like(x, x, np.complex64 if np.iscomplexobj(x) else np.float32) for x in values]
    found = list(values)
    for k in range(count):
        alike = [j for j in range(count if change == "exchanged" else k) if j != k and _are_alike(values[j], values[k])]
        if alike:
            found[k] = values[alike[0]] if change == "exchanged" else f"x{_inputs_before(found, alike[0])}"
    return None if all(x is y for x, y in zip(found, values, strict=True)) else found


def _inputs_before(found: Sequence[Any], place: int) -> int:
    return sum(not isinstance(x, str) for x in found[:place])


def _are_alike(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype


def _like(x: Any, new: Any, dtype: Any = None) -> Any:
    """A number or an array, as another one is."""
    new = np.asarray(new).astype(np.asarray(x).dtype if dtype is None else dtype)
    return new if isinstance(x, np.ndarray) else new[()]
