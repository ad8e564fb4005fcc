"""Sample inputs for the methods of distributions of one variable, made of one line for each distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import stats

from rulescore import NoTangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

SHAPES: dict[str, tuple[float, ...]] = {
    "beta": (2.3, 1.4),
    "betaprime": (2.3, 3.1),
    "burr": (2.5, 1.3),
    "burr12": (2.5, 1.3),
    "cauchy": (),
    "chi": (3.2,),
    "chi2": (3.2,),
    "expon": (),
    "exponnorm": (1.3,),
    "f": (4.5, 6.2),
    "fisk": (2.2,),
    "foldnorm": (0.8,),
    "gamma": (2.4,),
    "genextreme": (0.3,),
    "gengamma": (1.7, 2.1),
    "genlogistic": (1.6,),
    "gennorm": (1.8,),
    "genpareto": (0.4,),
    "gompertz": (0.9,),
    "gumbel_l": (),
    "gumbel_r": (),
    "halfcauchy": (),
    "halfnorm": (),
    "invgamma": (2.6,),
    "invgauss": (0.7,),
    "johnsonsb": (0.6, 1.2),
    "johnsonsu": (0.6, 1.2),
    "laplace": (),
    "levy": (),
    "logistic": (),
    "loglaplace": (2.7,),
    "lognorm": (0.8,),
    "loguniform": (0.5, 3.0),
    "lomax": (2.1,),
    "maxwell": (),
    "moyal": (),
    "nakagami": (1.9,),
    "ncf": (4.2, 7.3, 1.1),
    "nct": (5.2, 0.9),
    "ncx2": (3.4, 1.7),
    "norm": (),
    "pareto": (2.2,),
    "powerlaw": (1.7,),
    "rayleigh": (),
    "reciprocal": (0.5, 3.0),
    "rice": (0.9,),
    "skewnorm": (1.5,),
    "t": (4.3,),
    "triang": (0.45,),
    "truncnorm": (-0.8, 1.6),
    "uniform": (),
    "vonmises": (1.4,),
    "weibull_max": (1.8,),
    "weibull_min": (1.8,),
    "wrapcauchy": (0.4,),
}
"""The continuous distributions, each with values of its shape parameters."""

OF_POINTS, OF_PROBABILITIES = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), ("ppf", "isf")

UNKNOWN = {
    **dict.fromkeys(("ncf", "nct", "ncx2"), (*OF_POINTS, *OF_PROBABILITIES)),
    "vonmises": (*OF_POINTS[2:], *OF_PROBABILITIES),
}
"""Methods that have no derivative with respect to the first shape parameter of their distribution, or F's first two."""

FAR_LEFT = "far to the left of the bulk SciPy's cdf is 0 or has a few digits, where the density has all"
NO_QUANTILE = {"smaller": "for df that small SciPy gives the same number for every probability"}
INSIDE = {"thousandfold": "for shapes that large SciPy takes |x|^beta for 0, and the cdf for 1/2"}
SQUARED = {"thousandfold": "SciPy squares what is as large as 1e217"}
LOST = {"larger": "in the left tail SciPy's cdf is 0, while the density is not"}
ROUGH = {"larger": "in the left tail SciPy's cdf is 0, or has three or four digits"}
SKIP = {
    "betaprime.isf": NO_QUANTILE,
    "f.isf": NO_QUANTILE,
    "foldnorm.cdf": LOST,
    "foldnorm.logsf": LOST,
    **{f"gennorm.{method}": INSIDE for method in ("cdf", "logcdf", "sf", "logsf", "ppf", "isf")},
    "johnsonsu.isf": SQUARED,
    "johnsonsu.ppf": SQUARED,
    "nct.isf": {"thousandfold": "for nc that large SciPy's density is 0 where it should not be"},
    "rice.cdf": ROUGH,
    "rice.logcdf": ROUGH,
    "rice.logsf": ROUGH,
    "skewnorm.cdf": ROUGH,
    "skewnorm.logcdf": ROUGH,
    "skewnorm.logsf": ROUGH,
    "skewnorm.sf": {"larger, negated": "in the right tail, for negative shapes, SciPy's sf has two digits, or none"},
    "t.isf": NO_QUANTILE,
    "t.ppf": NO_QUANTILE,
}
"""Variants that are left out of the samples of a method."""

NEAR_THE_ROOT = ("rice.ppf", "rice.isf") if SCIPY < "1.17.0" else ()
"""Quantiles for which SciPy's search stops that far from the root."""


def left_out(name: str, method: str) -> dict[str, str] | None:
    return SKIP.get(f"{name}.{method}")


PROBABILITIES = np.array([0.12, 0.35, 0.6, 0.87])
LOC, SCALE = 0.31, 1.73


def methods_of(name: str, *methods: str) -> list[Any]:
    return [getattr(getattr(stats, name), method) for method in methods]


def made_by(generate: Callable[[np.random.Generator], Iterable[Sample]], *functions: Any) -> None:
    """Register a generator that a loop has made, one of several from one line."""

    class Generator:
        """Not a function, which would replace the one registered before from the same line."""

        def __call__(self, rng: np.random.Generator) -> Iterable[Sample]:
            return generate(rng)

    for function in functions:
        sample_inputs(function)(Generator())


def register_continuous(name: str, shapes: tuple[float, ...]) -> None:
    """Points at quantiles between the bulk and the tails, and the distribution moved and stretched."""
    distribution = getattr(stats, name)
    points = distribution.ppf(PROBABILITIES, *shapes, loc=LOC, scale=SCALE)

    def given(method: str, values: Iterable[Any]) -> list[Any]:
        values, count = [*values, LOC, SCALE], 2 if name == "ncf" else 1
        held = count if method in UNKNOWN.get(name, ()) else 0
        return [with_tangent(x, NoTangent()) if i < held else x for i, x in enumerate(values)]

    def register(method: str, x: Any) -> None:
        skip, rtol = left_out(name, method), 1e-7 if f"{name}.{method}" in NEAR_THE_ROOT else None
        made_by(lambda rng: [sample(x, *given(method, shapes), _skip=skip, _rtol=rtol)], *methods_of(name, method))

    for method in OF_POINTS:
        register(method, points)
    for method in OF_PROBABILITIES:
        register(method, PROBABILITIES)

    def broadcast(method: str) -> None:
        grown = [np.array([[x], [1.02 * x]]) for x in shapes]
        values = given(method, grown)[: len(shapes)]
        x, skip = distribution.ppf(PROBABILITIES, *shapes), left_out(name, method)
        made_by(lambda rng: [sample(x, *values, _skip=skip, _name="standard, broadcast")], *methods_of(name, method))

    if shapes:
        broadcast("logpdf")
        broadcast("cdf")


for _name, _shapes in SHAPES.items():
    register_continuous(_name, _shapes)

NORMAL = methods_of("norm", "pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")


@sample_inputs(*NORMAL)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.5, loc=np.array([0.3, 0.4]), scale=1.7, _name="keywords")
    yield sample(rng.standard_normal(3).astype(np.float32), np.float32(0.5), np.float32(1.5), _name="float32")
    yield sample(1.5, _name="number")
    yield sample(np.array([-1, 0, 2]), 0.5, 1.25, _name="integers")
    yield sample(rng.standard_normal((3, 0)), _name="empty")
    yield sample(np.array([-30.0, -9.0, 9.0, 30.0]), _name="tails")


@sample_inputs(*methods_of("norm", "ppf", "isf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(PROBABILITIES[:, None], scale=np.array([1.7, 2.0]), _name="keywords")
    yield sample(np.array([1e-12, 1e-3]), _name="tails")


@sample_inputs(*methods_of("gamma", "pdf", "cdf", "sf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([-2.0, -0.5, 4.0]), a=2.5, loc=0.5, _name="outside")


WITH_MOMENTS = ("norm", "uniform", "expon", "gamma", "beta", "t")
MOMENTS = ("mean", "var", "std", "entropy")


def register_moments(name: str, shapes: tuple[float, ...]) -> None:
    """Parameters alone: by position, as arrays that broadcast, and loc and scale by keyword."""
    grown = [np.array([[x], [1.3 * x]]) for x in shapes]

    def samples(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(*grown, rng.standard_normal((2, 1)), rng.uniform(0.5, 2.0, 3), _name="broadcast")
        yield sample(*shapes, loc=LOC, scale=SCALE, _name="keywords")

    made_by(samples, *methods_of(name, *MOMENTS))


for _name in WITH_MOMENTS:
    register_moments(_name, SHAPES[_name])


DISCRETE: dict[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "bernoulli": ((0.3,), (0, 1)),
    "betabinom": ((7, 2.1, 1.3), (0, 3, 6)),
    "binom": ((7, 0.3), (0, 3, 6)),
    "geom": ((0.3,), (1, 2, 5)),
    "hypergeom": ((20, 7, 12), (1, 3, 5)),
    "nbinom": ((3.4, 0.4), (0, 2, 6)),
    "poisson": ((2.6,), (0, 2, 6)),
    "skellam": ((2.1, 1.4), (-2, 0, 3)),
    "zipf": ((2.3,), (1, 2, 5)),
}
"""The discrete distributions, with values of their shape parameters and numbers that they are of."""

WITH_CDF = ("bernoulli", "binom", "geom", "hypergeom", "nbinom", "poisson", "skellam")


def register_discrete(name: str, shapes: tuple[float, ...], numbers: tuple[int, ...]) -> None:
    def at_numbers(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(np.array(numbers), *shapes)
        yield sample(np.array(numbers) + 2, *shapes, loc=2, _name="moved")
        grown = [np.array([[x], [1.02 * x]]) if isinstance(x, float) else x for x in shapes]
        yield sample(np.array(numbers), *grown, _name="broadcast")

    def below_the_last(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(np.array(numbers[:-1]), *shapes)
        yield sample(np.array(numbers[:-1]) + 2, *shapes, loc=2, _name="moved")

    # Half way between two steps.
    distribution = getattr(stats, name)
    below = distribution.cdf(numbers[1:2], *shapes) - distribution.pmf(numbers[1:2], *shapes) / 2

    def at_probabilities(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(below, *shapes, _skip=left_out(name, "ppf"))

    def at_probabilities_above(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(1 - below, *shapes, _skip=left_out(name, "isf"))

    made_by(at_numbers, *methods_of(name, "pmf", "logpmf"))
    if name in WITH_CDF:
        made_by(below_the_last, *methods_of(name, "cdf", "logcdf", "sf", "logsf"))
    made_by(at_probabilities, *methods_of(name, "ppf"))
    made_by(at_probabilities_above, *methods_of(name, "isf"))


for _name, (_parameters, _numbers) in DISCRETE.items():
    register_discrete(_name, _parameters, _numbers)
