"""How the tables of the chapters become sample inputs: where each argument of a function is taken from.

All numbers keep their distance from poles, steps and branch cuts, so that finite differences can decide; what the rules
answer at those is in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...sampling import Sample, sample, sample_inputs

Rng = np.random.Generator
Domain = Callable[[Rng, tuple[int, ...]], Any]
"""Makes random numbers of a shape where a function is smooth."""


def between(low: float, high: float) -> Domain:
    return lambda rng, shape: rng.uniform(low, high, shape)


def whole(low: int, high: int) -> Domain:
    """Whole numbers, which have no derivative, from ``low`` to ``high``."""
    return lambda rng, shape: rng.integers(low, high + 1, shape)


def of_either_sign(low: float, high: float) -> Domain:
    return lambda rng, shape: rng.choice([-1.0, 1.0], shape) * rng.uniform(low, high, shape)


def in_the_plane(low: float = 0.4, high: float = 2.0) -> Domain:
    """Complex numbers off both axes, where the branch cuts are."""
    part = of_either_sign(low, high)
    return lambda rng, shape: part(rng, shape) + 1j * part(rng, shape)


ANY = between(-2.0, 2.0)
POSITIVE = between(0.4, 3.0)
PROBABILITY = between(0.1, 0.9)
SHAPES: tuple[tuple[int, ...], ...] = ((3, 1), (4,), (2, 1, 1), (1,), (3, 1))


def number(x: Any) -> Any:
    """A Python number."""
    return np.asarray(x).item()


def in_single_precision(x: Any) -> Any:
    kind = np.asarray(x).dtype.kind
    return x if kind == "i" else x.astype(np.complex64 if kind == "c" else np.float32)


def register(
    f: Any, *domains: Domain, plane: Domain | None = None, single: bool | Mapping[str, str] = True, **options: Any
) -> None:
    """Register samples of an elementwise function: its arguments by their domains; the last one complex, by ``plane``.

    Parameters
    ----------
    f : callable
        The function.
    *domains : callable
        One per argument.
    plane : callable, optional
        Where the last argument is complex; without it the function is real.
    single : bool or mapping
        Whether float32 is sampled too; or the variants that have too few digits in it, with the reasons.
    **options
        Of every sample (``_rtol``).
    """

    @sample_inputs(f)
    def _(rng: Rng) -> Iterator[Sample]:
        yield sample(*[domain(rng, (3,)) for domain in domains], **options)
        if len(domains) > 1:
            shapes = SHAPES[: len(domains)]
            arguments = [domain(rng, shape) for domain, shape in zip(domains, shapes, strict=True)]
            yield sample(*arguments, _name="broadcast", **options)
        yield sample(*[number(domain(rng, ())) for domain in domains], _name="numbers", **options)
        yield sample(*[np.array(domain(rng, ())) for domain in domains], _name="0-d", **options)
        yield sample(*[domain(rng, (0, 2)) for domain in domains], _name="empty", **options)
        if single:
            skip = {**options.get("_skip", {}), **(single if isinstance(single, Mapping) else {})}
            parts = [in_single_precision(domain(rng, (3,))) for domain in domains]
            yield sample(*parts, _name="float32", **{**options, "_skip": skip or None})
        if plane is not None:
            first = domains[:-1]
            yield sample(*[domain(rng, (3,)) for domain in first], plane(rng, (3,)), _name="complex", **options)
            numbers = [number(domain(rng, ())) for domain in (*first, plane)]
            yield sample(*numbers, _name="complex number", **options)
            parts = [in_single_precision(domain(rng, (3,))) for domain in (*first, plane)]
            yield sample(*parts, _name="complex64", **options)


def register_all(functions: Iterable[Any], *domains: Domain, plane: Domain | None = None, **options: Any) -> None:
    """The same samples for several functions."""
    for f in functions:
        register(f, *domains, plane=plane, **options)
