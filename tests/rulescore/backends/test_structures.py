"""Programs that go through rules of objects, and functions of objects, in the other AD systems."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rulescore import ad
from tests.rulescore.backends.systems import systems
from tests.rulescore.structures import KINDS, NESTED, PROGRAMS, Plain
from testutils import vjp_fd

X = np.array([0.7, -0.4, 1.1])
V = np.array([0.3, 0.8, -0.5])


def programs_of(kind):
    return lambda x: np.stack([program(kind, x) for program in PROGRAMS])


EVERY = {
    **{name: programs_of(kind) for name, kind in KINDS.items()},
    "nested": lambda x: np.stack([program(x) for program in NESTED]),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("system", systems().values(), ids=systems())
def test_programs_with_objects_within(system, name):
    pytest.importorskip(system.framework)
    program = EVERY[name]
    y, pull = ad.vjp(program, X)
    ybar = np.linspace(-1, 1, len(y)) + 0.3
    with system.active():
        convert = system.convert(program)

        def f(x):
            return [convert(x)]

        (xbar,) = system.vjp(f, [system.array(X)], [system.array(ybar)])
        np.testing.assert_allclose(np.asarray(xbar), pull(ybar)[0], rtol=1e-10, atol=1e-12)
        if "forward" in system.modes:
            (dy,) = system.jvp(f, [system.array(X)], [system.array(V)])
            np.testing.assert_allclose(np.asarray(dy), ad.jvp(program, (X,), (V,))[1], rtol=1e-10, atol=1e-12)


MEAN, SCALE = np.array([0.4, -0.9, 0.2]), 0.7
TREES = {
    "JAX": ["as_dict", "as_ordered_dict", "as_tuple", "as_list", "Pair", "Plain"],
    "PyTorch": ["as_dict", "as_ordered_dict", "as_tuple", "as_list", "Pair"],
    "PyTorch, backward": ["as_dict", "as_ordered_dict", "as_tuple", "as_list", "Pair"],
    "HIPS autograd": ["as_dict", "as_tuple", "as_list"],
}


@functools.cache
def register(framework):
    framework.tree_util.register_dataclass(Plain, ["mean", "scale"], [])


@pytest.mark.parametrize(("system", "name"), [(system, name) for system, names in TREES.items() for name in names])
def test_functions_of_objects(system, name):
    system = systems()[system]
    framework = pytest.importorskip(system.framework)
    if name == "Plain":
        register(framework)
    kind = KINDS[name]
    with system.active():
        moved, between = map(system.convert, kind.functions[1:3])

        def f(mean, scale, x):
            s = kind.make(mean, scale)
            return [between(s, moved(s, x))]

        args = [MEAN, np.array(SCALE), X]
        _, pull = ad.vjp(
            lambda mean, scale, x: kind.between(kind.make(mean, scale), kind.moved(kind.make(mean, scale), x)), *args
        )
        bars = system.vjp(f, [system.array(x) for x in args], [system.array(np.array(1.0))])
        for bar, wanted in zip(bars, pull(1.0), strict=True):
            np.testing.assert_allclose(np.asarray(bar), wanted, rtol=1e-10, atol=1e-12)


SPAN, TIMES = (0.0, 1.0), [0.0, 0.5, 1.0]


def decay(y0, rate):
    return ad.primitive(solve_ivp)(lambda t, y, rate: -rate * y, SPAN, y0, args=(rate,), t_eval=TIMES, rtol=1e-9)


WAYS = [
    *[pytest.param(system, False, id=name) for name, system in systems().items()],
    *[
        pytest.param(system, True, id=f"{name}, compiled")
        for name, system in systems().items()
        if system.compiled_modes
    ],
]


@pytest.mark.parametrize(("system", "is_compiled"), WAYS)
def test_the_numbers_in_an_object_of_scipys_have_their_names(system, is_compiled):
    pytest.importorskip(system.framework)
    args = np.array([1.0, -2.0]), np.array(0.7)
    with system.active():
        given = list(map(system.array, args))
        f = system.compiled(system.convert(decay)) if is_compiled else system.convert(decay)
        found = f(*given)
        assert type(found).__name__ == "OdeResult"
        assert found.sol is None
        assert not hasattr(found, "message")
        assert found.success
        np.testing.assert_array_equal(np.asarray(copy.deepcopy(found).t), np.asarray(found.t))
        np.testing.assert_allclose(np.asarray(found.t), TIMES)
        ybar = np.cos(np.asarray(found.y))
        bars = system.vjp(lambda *args: [f(*args).y], given, [system.array(ybar)])
    wanted = vjp_fd(lambda y0, rate: np.outer(y0, np.exp(-rate * np.array(TIMES))), ybar, args).value
    for bar, expected in zip(bars, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(bar), expected, rtol=1e-6)
