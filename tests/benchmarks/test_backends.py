"""What the adapters cost: a rule called by JAX, PyTorch and HIPS autograd beside the rule itself.

All compute the value and the pullback of the same function, whose rule is written once. Beside them stand the system's
own function, and what native mode makes of ours. The system's transformation is a part of each time. Run alone on the
machine, with ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest tests/benchmarks/test_backends.py``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from rulescore import NoTangent, frule, rrule

# What the AD systems deprecate within themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SMALL, LARGE = 3, 1_000_000
ROUNDS = 40
SECONDS = 0.01
"""Of each round, which repeats a contestant as often as fits."""


def sine(x: Any) -> Any:
    """A function whose rule costs what its mathematics costs."""
    return np.sin(x)


@rrule.register(sine)
def sine_rrule(x: Any) -> Any:
    return np.sin(x), lambda ybar: (NoTangent(), ybar * np.cos(x))


@frule.register(sine)
def sine_frule(tangents: Any, x: Any) -> Any:
    return np.sin(x), tangents[1] * np.cos(x)


def by_rule(x: Any, ybar: Any) -> Callable[[], Any]:
    def run() -> Any:
        _, pullback = rrule(sine, x)
        return pullback(ybar)

    return run


def torch_contestants(x: Any, ybar: Any) -> dict[str, Callable[[], Any]]:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from rulescore.backends.torch import to_torch

    torch.set_num_threads(1)
    leaf, plain, seed = torch.tensor(x, requires_grad=True), torch.tensor(x), torch.tensor(ybar)

    def backward(f: Any) -> Callable[[], Any]:
        def run() -> Any:
            leaf.grad = None
            f(leaf).backward(seed)
            return leaf.grad

        return run

    def transformed(f: Any) -> Callable[[], Any]:
        return lambda: torch.func.vjp(f, plain)[1](seed)

    return {
        "PyTorch, backward: adapter": backward(to_torch(sine)),
        "PyTorch, backward: native mode": backward(to_torch(sine, native=True)),
        "PyTorch, backward: torch.sin": backward(torch.sin),
        "torch.func.vjp: adapter": transformed(to_torch(sine)),
        "torch.func.vjp: torch.sin": transformed(torch.sin),
    }


def autograd_contestants(x: Any, ybar: Any) -> dict[str, Callable[[], Any]]:
    pytest.importorskip("autograd", reason="autograd is not installed")
    import autograd.numpy as anp
    from autograd.core import make_vjp

    from rulescore.backends.autograd import to_autograd

    def run_of(f: Any) -> Callable[[], Any]:
        def run() -> Any:
            vjp, _ = make_vjp(f, x)
            return vjp(ybar)

        return run

    return {"HIPS autograd: adapter": run_of(to_autograd(sine)), "HIPS autograd: anp.sin": run_of(anp.sin)}


def jax_contestants(x: Any, ybar: Any) -> dict[str, Callable[[], Any]]:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from rulescore.backends.jax import to_jax

    given, seed = jax.numpy.asarray(x), jax.numpy.asarray(ybar)

    def eager(f: Any) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(jax.vjp(f, given)[1](seed))

    def jitted(f: Any) -> Callable[[], Any]:
        compiled = jax.jit(lambda x, ybar: jax.vjp(f, x)[1](ybar))
        return lambda: jax.block_until_ready(compiled(given, seed))

    return {
        "JAX, jit: adapter": jitted(to_jax(sine)),
        "JAX, jit: native mode": jitted(to_jax(sine, native=True)),
        "JAX, jit: jnp.sin": jitted(jax.numpy.sin),
        "JAX, eager: adapter": eager(to_jax(sine)),
        "JAX, eager: jnp.sin": eager(jax.numpy.sin),
    }


CONTESTANTS = {"torch": torch_contestants, "autograd": autograd_contestants, "jax": jax_contestants}


def seconds_of(run: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Any:
    found = Table(title="Value and pullback of sin: microseconds, and beyond the rule itself", title_justify="left")
    for column in ("", "entries", "median", "beyond the rule", "times the rule"):
        found.add_column(column, justify="right" if column else "left", no_wrap=True)
    yield found
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        Console(file=sys.__stdout__, width=120).print(found)


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("system", CONTESTANTS)
def test_what_an_adapter_costs(benchmark: Any, table: Table, system: str, size: int) -> None:
    """The contestants take turns, so that whatever else the machine does meets all of them."""
    x = np.random.default_rng(0).standard_normal(size)
    ybar = np.ones(size)
    framework = pytest.importorskip(system, reason=f"{system} is not installed")
    if system == "jax":
        framework.config.update("jax_enable_x64", True)
    contestants = {"the rule itself": by_rule(x, ybar), **CONTESTANTS[system](x, ybar)}
    for name, run in contestants.items():
        np.testing.assert_allclose(np.asarray(_gradient(run())), np.cos(x), rtol=1e-6, err_msg=name)
    counts = {name: max(1, int(SECONDS / seconds_of(run, 3))) for name, run in contestants.items()}
    times: dict[str, list[float]] = {name: [] for name in contestants}

    def take_turns() -> None:
        for name, run in contestants.items():
            times[name].append(seconds_of(run, counts[name]))

    benchmark.pedantic(take_turns, rounds=ROUNDS)
    medians = {name: 1e6 * median(found) for name, found in times.items()}
    benchmark.extra_info["microseconds"] = medians
    rule = medians["the rule itself"]
    for name, microseconds in medians.items():
        beyond = "" if name == "the rule itself" else f"{microseconds - rule:.1f}"
        table.add_row(name, str(size), f"{microseconds:.1f}", beyond, f"{microseconds / rule:.2f}")


def _gradient(found: Any) -> Any:
    return found[-1] if isinstance(found, (tuple, list)) else found
