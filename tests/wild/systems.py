"""The systems, each of which differentiates an entry and has its numbers checked.

A system gets what is true of an entry. It raises `WrongError` where its numbers are others, and what it raises itself
where it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.wild.truth import Truth

System = Callable[[Truth], None]


def rulescore_as_it_is(truth: Truth) -> None:
    """Our own, forward and reverse."""
    _by_rulescore(truth, truth.function)


def rulescore_traceable(truth: Truth) -> None:
    """Our own, which follows the source."""
    from rulescore.ad import traceable

    _by_rulescore(truth, traceable(truth.function))


def _by_rulescore(truth: Truth, function: Callable[..., Any]) -> None:
    from rulescore.ad import jvp, vjp

    numbers = truth.outputs(function)
    for position, dx in enumerate(truth.directions):
        value, tangents = jvp(numbers, truth.primals, _alone(truth, position, dx))
        truth.check_value(value)
        truth.check_pushed(position, tangents)
    value, pullback = vjp(numbers, *truth.primals)
    truth.check_value(value)
    truth.check_pulled(pullback(tuple(truth.cotangents)))


def _alone(truth: Truth, position: int, dx: Any) -> tuple[Any, ...]:
    """A direction in which one argument moves."""
    return tuple([dx if i == position else np.zeros_like(x)[()] for i, x in enumerate(truth.primals)])


def jax_arrays(truth: Truth) -> None:
    """JAX, forward and reverse; its cotangents of complex numbers are the conjugates of ours."""
    import jax

    numbers = truth.outputs(truth.function)
    for position, dx in enumerate(truth.directions):
        value, tangents = jax.jvp(numbers, truth.primals, _alone(truth, position, dx))
        truth.check_value(value)
        truth.check_pushed(position, tangents)
    value, pullback = jax.vjp(numbers, *truth.primals)
    truth.check_value(value)
    truth.check_pulled(pullback(tuple([np.conj(ybar) for ybar in truth.cotangents])))


def hips_autograd(truth: Truth) -> None:
    """HIPS autograd, reverse, once `replace_imports` has been called."""
    import autograd
    import autograd.numpy as anp

    numbers = truth.outputs(truth.function)

    def loss(*primals: Any) -> Any:
        found = zip(numbers(*primals), truth.cotangents, strict=True)
        return sum([anp.sum(anp.real(np.conj(ybar) * y)) for y, ybar in found])

    pullback, value = autograd.make_vjp(loss, tuple(range(len(truth.primals))))(*truth.primals)
    truth.check_sum(value)
    truth.check_pulled(pullback(1.0))


SYSTEMS: dict[str, System] = {
    "rulescore.ad": rulescore_as_it_is,
    "traceable": rulescore_traceable,
    "autograd": hips_autograd,
    "jax": jax_arrays,
}
"""By the name of its column."""
