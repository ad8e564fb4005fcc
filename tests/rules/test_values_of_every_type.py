"""Constants of every type, also within tuples: rules give the values that functions give, in the same types."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.stats

from rulescore import MissingDerivativeError, rrule, unthunk
from rulescore.ad import NoRuleError, TracerConversionError, UnrelatedOutputError, grad, jvp, primitive
from testutils.samples.random_tangents import rand_tangent

from .test_constants_of_every_type import CONFIG, TARGETS, numbers, plain, plain_output, types_of

REFUSALS = (NoRuleError, TracerConversionError, UnrelatedOutputError, MissingDerivativeError, NotImplementedError)

Place = tuple[Any, ...]
"""The position or name of an argument, and the positions within it."""

MIXED = re.compile(
    r"bilinear_zpk|center_of_mass|chebwin|chirp|coherence|csd|decimate|freqz_\w+|gaussian_gradient_magnitude|gausspulse|"
    r"group_delay|ls[mq]r|_measurements.(mean|variance|standard)|periodogram|sosfreqz|spectrogram|spl(antider|der|int)|stft|"
    r"taylor|tukey|vectorize|welch|zoom_fft|zpk2tf"
)
"""What SciPy computes partly in the precision of a small constant; rules compute it in that of the others."""


def numbers_within(x: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if type(x) in (list, tuple):
        for k, part in enumerate(x):
            yield from numbers_within(part, (*place, k))
    elif isinstance(x, np.ndarray | np.generic | bool | int | float) and np.asarray(x).dtype.kind in "biuf":
        yield place, x


def with_another(every: dict[Any, Any], place: Place, new: Any) -> dict[Any, Any]:
    def within(x: Any, path: Place) -> Any:
        if not path:
            return new
        return type(x)([within(part, path[1:]) if k == path[0] else part for k, part in enumerate(x)])

    return every | {place[0]: within(every[place[0]], place[1:])}


def of_other_types(x: Any) -> Iterator[Any]:
    """About the same numbers, of every type that has them; without axes also as an array, and as truth values."""
    array = np.asarray(x)
    if not np.all(np.isfinite(array)):
        return
    kinds: tuple[Any, ...] = (np.float16, np.float32, np.longdouble) if array.dtype.kind == "f" else (np.int8, np.bool_)
    for kind in kinds:
        changed = array.astype(kind)
        if changed.dtype != array.dtype and np.allclose(changed, array, rtol=1e-2, atol=0):
            yield changed if isinstance(x, np.ndarray) else changed[()]
    if not isinstance(x, np.ndarray):
        yield np.array(array)
        if array.dtype.kind in "iu" and x in (0, 1):
            yield bool(x)


def calls_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Place, Any, Any, Any]]:
    """Each number with another in its place, and the arguments with that."""
    every = dict(enumerate(args)) | kwargs
    for key, value in every.items():
        for place, x in numbers_within(value, (key,)) if key not in ("dtype", "out") else ():
            for new in of_other_types(x):
                changed = with_another(every, place, new)
                yield place, new, tuple([changed[k] for k in range(len(args))]), {k: changed[k] for k in kwargs}


def is_close(a: Any, b: Any, tolerance: float) -> bool:
    a, b = numbers(a), numbers(b)
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        return a.shape == b.shape and bool(np.all(np.isclose(a, b, rtol=0, atol=tolerance * scale, equal_nan=True)))


def floating_types_of(y: Any) -> list[str]:
    return [t for t in types_of(y) if np.dtype(t).kind in "fc"]


def problems(name: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[str]:
    before = plain_output(f, args, kwargs)
    floats = [x for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
    for place, new, *call in calls_of(args, kwargs):
        own = plain_output(f, *call)
        if own is None or not is_close(own, before, 0.05):  # as where whole numbers wrap
            continue
        try:
            found = rrule.call(f, *copy.deepcopy(call), config=CONFIG)
            if found is not None:
                for bar in found[1](rand_tangent(found[0], np.random.default_rng(0))):
                    unthunk(bar)
        except REFUSALS:
            continue
        except Exception as error:
            yield f"{place} as {new!r}: {type(error).__name__}: {error}"
            continue
        if found is None:
            continue
        types = floating_types_of(own)
        tolerance = 1e-6 + 64 * max([np.finfo(t).eps for t in types], default=0.0)
        if np.asarray(new).dtype in (np.float16, np.float32) and MIXED.search(name):
            tolerance = 64 * float(np.finfo(np.asarray(new).dtype).eps)
        if len(floats) > (len(place) == 1 and isinstance(new, np.ndarray)) and floating_types_of(found[0]) != types:
            yield f"{place} as {new!r}: the rule's output is of {floating_types_of(found[0])}, not {types}"
        elif not is_close(found[0], own, tolerance):
            yield f"{place} as {new!r}: the rule's output is {found[0]!r}, not {own!r}"


@pytest.mark.parametrize("name", TARGETS)
def test_values_are_those_of_the_function_whatever_the_types_of_constants(name: str) -> None:
    target = TARGETS[name]
    found: list[str] = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in target.samples[:3]:
            f = target.function if sample.function is None else sample.function
            args, kwargs = tuple(map(plain, sample.args)), dict(sample.fkwargs)
            found += [f"{sample.id}: {text}" for text in problems(name, f, args, kwargs)]
    assert not found, "\n".join(found[:5])


MATRIX = np.random.default_rng(2).uniform(0.5, 2.0, (3, 4))

SETTINGS = {
    "average": (lambda n: lambda x: np.average(x, axis=n), [0, 1]),
    "average of axes": (lambda n: lambda x: np.average(x, axis=(n, 1)), [0]),
    "array_split": (lambda n: lambda x: np.array_split(x, 2, n)[0] ** 2, [0, 1]),
    "diff": (lambda n: lambda x: np.diff(x, n, n) ** 2, [1]),
    "linspace": (lambda n: lambda x: np.linspace(x, 2.0, 3, axis=n) ** 2, [0, 1]),
    "logspace": (lambda n: lambda x: np.logspace(x, 2.0, 3, axis=n), [0, 1]),
    "geomspace": (lambda n: lambda x: np.geomspace(x, 2.0, 3, axis=n), [0, 1]),
    "rfft": (lambda n: lambda x: np.abs(np.fft.rfft(x, n)) ** 2, [1, 3]),
    "rollaxis": (lambda n: lambda x: np.rollaxis(x, n, n) ** 2, [0, 1]),
    "tile": (lambda n: lambda x: np.tile(x, (n, 2)) ** 2, [1, 3]),
    "dct": (lambda n: lambda x: primitive(scipy.fft.dct)(x, n) ** 2, [1, 3]),
    "idstn": (lambda n: lambda x: primitive(scipy.fft.idstn)(x, n) ** 2, [1, 3]),
    "eigvals_banded": (
        lambda n: lambda x: primitive(scipy.linalg.eigvals_banded)(x[:2], select="i", select_range=(n, 2)),
        [0, 1],
    ),
    "eigvalsh_tridiagonal": (
        lambda n: lambda x: primitive(scipy.linalg.eigvalsh_tridiagonal)(x[0], x[1, 1:], "i", (n, n)),
        [0, 1],
    ),
    "order_filter": (lambda n: lambda x: primitive(scipy.signal.order_filter)(x, np.ones((1, 3)), n) ** 2, [0, 1]),
    "fourier_shift": (lambda n: lambda x: np.abs(primitive(scipy.ndimage.fourier_shift)(x, (n, 0.3)) + x) ** 2, [1, 3]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_every_type_are_the_same_settings(name: str) -> None:
    """Where they are counted with, and in what a rule hands on to the rule that differentiates it."""
    made, numbers = SETTINGS[name]

    def derivatives(n: Any) -> Any:
        f = made(n)
        gradient = grad(lambda x: np.sum(f(x)))
        return f(MATRIX), jvp(f, (MATRIX,), (MATRIX,))[1], gradient(MATRIX), jvp(gradient, (MATRIX,), (MATRIX,))[1]

    for n in numbers:
        wanted = derivatives(n)
        others = [np.array(n), np.int8(n), np.uint8(n)] + ([bool(n), np.bool_(n)] if n < 2 else [])
        for other in others:
            try:
                made(other)(MATRIX)
            except (TypeError, ValueError):  # the function itself does not take it
                continue
            for found, known in zip(derivatives(other), wanted, strict=True):
                np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [np.bool_, bool])
def test_a_truth_value_of_numpys_is_a_frequency_and_one_of_pythons_a_count(kind: Any) -> None:
    """As SciPy reads them."""
    b = np.array([1.0, 0.5])
    wanted = scipy.signal.freqz(b, 1.0, kind(True))
    found = jvp(lambda b: primitive(scipy.signal.freqz)(b, 1.0, kind(True)), (b,), (b,))[0]
    for part, known in zip(found, wanted, strict=True):
        np.testing.assert_allclose(part, known)


@pytest.mark.parametrize("kind", [np.float16, np.longdouble])
@pytest.mark.parametrize(
    ("f", "sizes"),
    [
        (scipy.linalg.cholesky, [(3, 3)]),
        (scipy.linalg.polar, [(4, 3)]),
        (scipy.linalg.orthogonal_procrustes, [(4, 2), (4, 2)]),
        (scipy.linalg.solve_continuous_are, [(2, 2), (2, 2), (2, 2), (2, 2)]),
        (scipy.linalg.eigvals, [(3, 3)]),
        (scipy.optimize.nnls, [(4, 2), (4,)]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_lapack_has_not_is_computed_in_what_it_has(f: Any, sizes: Any, kind: Any) -> None:
    """In all modes, as SciPy computes it."""
    rng = np.random.default_rng(3)
    wide = []
    for size in sizes:
        x = rng.uniform(0.5, 1.5, size) + (2 * np.eye(*size) if len(size) == 2 else 0.0)
        is_square = len(size) == 2 and size[0] == size[1]
        wide.append((x @ x.T if is_square else x).astype(np.float16).astype(float))

    def first(*args: Any) -> Any:
        y = primitive(f)(*args)
        return np.sum(np.cos(np.real(y[0] if isinstance(y, tuple) else y) + 0.3))

    def derivatives(args: Any) -> Any:
        every = tuple(range(len(args)))
        gradient = grad(first, every)
        return [*gradient(*args), jvp(first, args, args)[1], *jvp(gradient, args, args)[1]]

    narrow = [wide[0].astype(kind), *wide[1:]]
    for found, known in zip(derivatives(narrow), derivatives(wide), strict=True):
        tolerance = 2e-2 if kind is np.float16 else 1e-9
        np.testing.assert_allclose(found, known, rtol=tolerance, atol=tolerance * (1 + np.max(np.abs(known))))


@pytest.mark.parametrize("name", ["cdf", "sf", "logcdf", "logsf"])
def test_a_scale_of_extended_precision_has_the_slopes_of_one_in_double(name: str) -> None:
    x = np.array([0.3, 1.2])
    for distribution, shapes in ((scipy.stats.norm, ()), (scipy.stats.t, (3.5,)), (scipy.stats.gamma, (2.0,))):
        f = getattr(distribution, name)
        y, pullback = rrule(f, x, *shapes, -0.1, np.longdouble(1.7))
        known = rrule(f, x, *shapes, -0.1, 1.7)[1](np.ones(2))
        np.testing.assert_array_equal(y, f(x, *shapes, -0.1, 1.7))
        for found, wanted in zip(pullback(np.ones(2))[1:], known[1:], strict=True):
            np.testing.assert_allclose(np.asarray(unthunk(found), float), unthunk(wanted), rtol=1e-12)
