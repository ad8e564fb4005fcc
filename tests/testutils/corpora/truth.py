"""The derivative of a function found without any rule, and what a rule does when it is looked at from all sides.

The derivative is found by the function's twin in multiprecision arithmetic, or by a complex step, or, of functions that
are holomorphic, by Cauchy's integral. None of them has a step to choose well.
"""

import contextlib
import warnings

import mpmath
import numpy as np

from rulescore import AbstractZero, InplaceableThunk, NoTangent, Tangent, Thunk, ZeroTangent, construct, unthunk
from testutils.evidence.vectorisation import tangent_to_vector, to_vector, vector_to_tangent
from testutils.samples.random_tangents import rand_tangent

DIGITS = 90
RELATIVE_STEP = mpmath.mpf(10) ** -40
COMPLEX_STEP = 1e-30
CAUCHY_RADIUS = 1e-2
CAUCHY_POINTS = 16


# ------------------------------------------------------------------ derivatives without rules


def directional_derivative(entry, args, kwargs, direction):
    """The derivative of the flat real output along a flat real direction of all arguments."""
    if entry.right.twin is not None:
        with mpmath.workdps(DIGITS):
            step = multiprecision_step(args, direction)
            ahead, behind = (entry.right.twin(*moved(args, direction, h), **kwargs) for h in (step, -step))
            derivative = (flat(ahead) - flat(behind)) / (2 * step)
    elif is_real(args):
        y = entry.function(*moved(args, direction, COMPLEX_STEP * 1j), **kwargs)
        derivative = flat(y).imag / COMPLEX_STEP
    else:
        circle = np.exp(2j * np.pi * np.arange(CAUCHY_POINTS) / CAUCHY_POINTS)
        values = [flat(entry.function(*moved(args, direction, CAUCHY_RADIUS * z), **kwargs)) for z in circle]
        derivative = np.mean([value / z for value, z in zip(values, circle, strict=True)], axis=0) / CAUCHY_RADIUS
    return real_vector(derivative, entry.function(*args, **kwargs))


def one_sided_derivative(entry, args, kwargs, direction):
    """The derivative ahead of the point along a direction; None where the domain has ended."""
    with mpmath.workdps(DIGITS):
        step = multiprecision_step(args, direction)
        here, ahead = (entry.right.twin(*moved(args, direction, h), **kwargs) for h in (0 * step, step))
        derivative = (flat(ahead) - flat(here)) / step
    is_complex = np.iscomplexobj(entry.function(*args, **kwargs))
    if not is_complex and any(mpmath.im(value) for value in derivative):
        return None
    return real_vector(derivative, entry.function(*args, **kwargs))


def multiprecision_step(args, direction):
    """A step that is small beside the smallest number that it moves."""
    magnitudes = np.abs(to_vector(args)[0][(direction != 0)])
    smallest = np.min(magnitudes[magnitudes > 0], initial=1.0)
    return RELATIVE_STEP * mpmath.mpf(float(smallest))


def moved(args, direction, step):
    """The arguments, in double precision at least, moved by ``step`` times the flat direction."""
    vector, unravel = to_vector(args)
    args = unravel(vector, promote=True)
    return construct(args, vector_to_tangent(args, direction) * step) if vector.size else args


def flat(y):
    """All numbers of an output, one after another."""
    parts = [np.ravel(np.asarray(part)) for part in (y if isinstance(y, tuple | list) else (y,))]
    return np.concatenate(parts)


def real_vector(numbers, y):
    """Numbers like those of the output ``y``, in the layout of ``to_vector(y)``."""
    numbers = np.array([complex(number) for number in numbers])
    parts, start = [], 0
    for part in y if isinstance(y, tuple | list) else (y,):
        of_part = numbers[start : start + np.size(part)]
        start += np.size(part)
        parts += [of_part.real, of_part.imag] if np.iscomplexobj(part) else [of_part.real]
    return np.concatenate(parts)


def is_real(args):
    vector, unravel = to_vector(args)
    return not any(np.iscomplexobj(x) for x in leaves(unravel(vector)))


def leaves(x):
    if isinstance(x, dict):
        x = tuple(x.values())
    if isinstance(x, tuple | list):
        return [leaf for part in x for leaf in leaves(part)]
    return [x]


# ------------------------------------------------------------------ derivatives from rules


def pushed_forward(frule, args, kwargs, direction):
    """The flat tangent of the output that an frule gives for a flat direction of all arguments."""
    y, dy = frule((NoTangent(), *tangents_of(args, direction)), *args, **kwargs)
    return tangent_to_vector(y, dy).astype(float)


def pulled_back(rrule, args, kwargs, output_direction):
    """The flat cotangent of all arguments that an rrule gives for a flat cotangent of the output."""
    y, pullback = rrule(*args, **kwargs)
    _, *cotangents = pullback(vector_to_tangent(y, output_direction))
    return cotangent_vector(args, cotangents)


def tangents_of(args, direction):
    return vector_to_tangent(args, direction) if direction.size else [NoTangent()] * len(args)


def cotangent_vector(args, cotangents):
    return np.concatenate([tangent_to_vector(x, xbar) for x, xbar in zip(args, cotangents, strict=True)]).astype(float)


# ------------------------------------------------------------------ everything that can be seen of a rule


def observed(mode, rule, draw, seed, lay_out=lambda tangent: tangent):
    """What a rule does, as a dict from the name of an aspect to what was seen of it.

    ``draw()`` makes the arguments, the same ones each time. Two rules of the same function do the same where
    `agree` says so of each aspect. ``lay_out`` puts the tangents that the rule is given into another memory layout.
    """
    watch = watch_pushforward if mode == "frule" else watch_pullback
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return watch(rule, draw, np.random.default_rng(seed), lay_out)


def watch_pullback(rule, draw, rng, lay_out):
    seen = {}
    args, kwargs = draw()
    before = snapshot(args)
    with noting_errors(seen, "error"):
        y, pullback = rule(*args, **kwargs)
        seen |= {"output": snapshot(y), "output type": type_of(y), "aliases": shares_memory(y, args)}
        handed_out = snapshot(y)
        ybar, other = (lay_out(rand_tangent(rng, y)) for _ in range(2))
        ybar_before = snapshot(ybar)
        first = pullback(ybar)
        seen |= {"values": snapshot(first), "types": type_of(first)}
        seen["written"] = [
            is_changed(args, before),
            is_changed(ybar, ybar_before),
            is_changed(y, handed_out),
        ]
        second = pullback(deep_copy(ybar))
        seen["second call"] = agree(snapshot(second), seen["values"])
        pullback(deep_copy(other))
        seen["buffer"] = agree(snapshot(first), seen["values"])
        of_both, of_other = (rule(*draw()[0], **kwargs)[1](c) for c in (combined(ybar, other), deep_copy(other)))
        seen["linear"] = agree(snapshot(of_both), snapshot(combined(first, of_other)))
    for aspect, cotangent in (
        ("zero", lambda y: ZeroTangent()),
        ("thunk", lambda y: Thunk(lambda: rand_tangent(np.random.default_rng(0), y))),
        ("zeros", lambda y: scaled(rand_tangent(rng, y), 0.0)),
    ):
        with noting_errors(seen, aspect):
            args, kwargs = draw()
            y, pullback = rule(*args, **kwargs)
            seen[aspect] = snapshot(pullback(cotangent(y)))
    with noting_errors(seen, "accumulated"):
        args, kwargs = draw()
        y, pullback = rule(*args, **kwargs)
        cotangents = pullback(rand_tangent(rng, y))
        seen["accumulated"] = snapshot(
            [xbar.add_to(1 * unthunk(xbar)) if isinstance(xbar, InplaceableThunk) else 2 * xbar for xbar in cotangents]
        )
    return seen


def watch_pushforward(rule, draw, rng, lay_out):
    seen = {}
    args, kwargs = draw()
    before = snapshot(args)
    with noting_errors(seen, "error"):
        tangents, others = ((NoTangent(), *(lay_out(rand_tangent(rng, x)) for x in args)) for _ in range(2))
        tangents_before = snapshot(tangents)
        y, dy = rule(tangents, *args, **kwargs)
        seen |= {"output": snapshot(y), "output type": type_of(y), "aliases": shares_memory(y, args)}
        seen |= {"values": snapshot(dy), "types": type_of(dy)}
        seen["written"] = [is_changed(args, before), is_changed(tangents, tangents_before)]
        seen["second call"] = agree(snapshot(rule(deep_copy(tangents), *draw()[0], **kwargs)[1]), seen["values"])
        of_other = deep_copy(rule(others, *draw()[0], **kwargs)[1])
        seen["buffer"] = agree(snapshot(dy), seen["values"])
        of_both = rule(combined(tangents, others), *draw()[0], **kwargs)[1]
        seen["linear"] = agree(snapshot(of_both), snapshot(combined(dy, of_other)))
    for still in range(len(args)):
        with noting_errors(seen, f"zero {still}"):
            args, kwargs = draw()
            tangents = [rand_tangent(np.random.default_rng(0), x) for x in args]
            if tangents[still] is not NoTangent():
                tangents[still] = ZeroTangent()
            seen[f"zero {still}"] = snapshot(rule((NoTangent(), *tangents), *args, **kwargs)[1])
    return seen


@contextlib.contextmanager
def noting_errors(seen, aspect):
    """Whatever a rule raises is something seen of it."""
    try:
        yield
    except Exception as error:
        seen[aspect] = type(error).__name__


def snapshot(x):
    """The numbers in an object, copied, in nested lists; zeros of every kind are 0, thunks are forced."""
    x = unthunk(x)
    if isinstance(x, AbstractZero):
        return 0.0
    if isinstance(x, Tangent):
        return [snapshot(value) for value in x]
    if isinstance(x, dict):
        return [snapshot(value) for value in x.values()]
    if isinstance(x, tuple | list):
        return [snapshot(value) for value in x]
    if hasattr(x, "__dataclass_fields__"):
        return [snapshot(getattr(x, name)) for name in x.__dataclass_fields__]
    return np.array(x, copy=True).tolist() if isinstance(x, np.ndarray) else x


def is_changed(x, before):
    """Whether any number is another than in the snapshot; a NaN that stays is not."""
    return repr(snapshot(x)) != repr(before)


def type_of(x):
    """The types, shapes and precisions of what a rule returned, as far as conventions fix them."""
    x = unthunk(x)
    if isinstance(x, AbstractZero):
        return "zero" if x is ZeroTangent() else "none"
    if isinstance(x, Tangent):
        return (x.primal_type, *map(type_of, x))
    if isinstance(x, tuple | list):
        return (type(x), *map(type_of, x))
    if isinstance(x, dict):
        return (dict, *map(type_of, x.values()))
    return np.shape(x), np.asarray(x).dtype


def agree(a, b):
    """Whether two snapshots are of the same numbers, up to the rounding of the larger one's entries."""
    if isinstance(a, list) and isinstance(b, list):
        try:
            left, right = np.asarray(a, complex), np.asarray(b, complex)
        except (ValueError, TypeError):  # nested lists of several lengths
            return len(a) == len(b) and all(map(agree, a, b))
        with np.errstate(invalid="ignore"):
            scale = np.maximum(np.abs(left), np.abs(right)) if left.shape == right.shape else 1
            return left.shape == right.shape and bool(np.all((np.abs(left - right) <= 1e-11 * scale) | (left == right)))
    if isinstance(a, int | float | complex | np.number) and isinstance(b, int | float | complex | np.number):
        return agree([complex(a)], [complex(b)])
    if isinstance(a, list) and isinstance(b, float):
        return agree(a, (0 * np.asarray(a, complex)).tolist()) if b == 0 and is_rectangular(a) else False
    if isinstance(b, list) and isinstance(a, float):
        return agree(b, a)
    return a == b


def is_rectangular(a):
    try:
        np.asarray(a, complex)
    except (ValueError, TypeError):
        return False
    return True


def differing(seen, expected):
    """The aspects in which two observations differ."""
    return {
        aspect
        for aspect in seen.keys() | expected.keys()
        if not agree(seen.get(aspect, "nothing"), expected.get(aspect, "nothing"))
    }


def shares_memory(y, args):
    parts, arrays = ([leaf for leaf in leaves(x) if isinstance(leaf, np.ndarray)] for x in (y, args))
    return any(np.shares_memory(part, array) for part in parts for array in arrays)


def deep_copy(x):
    if isinstance(x, tuple | list):
        return type(x)(map(deep_copy, x))
    return np.array(x, copy=True, order="K") if isinstance(x, np.ndarray) else x


def scaled(x, factor):
    x = unthunk(x)
    if isinstance(x, tuple | list):
        return type(x)(scaled(part, factor) for part in x)
    return x * factor


def combined(x, y):
    """2 x - 3 y, of tangents or of containers of them."""
    x, y = unthunk(x), unthunk(y)
    if isinstance(x, tuple | list):
        return type(x)(combined(a, b) for a, b in zip(x, y, strict=True))
    return 2.0 * x + -3.0 * y
