"""Differentiations in several threads at once, sharing functions, arrays and caches, the first use included."""

import subprocess
import sys
import threading
import types
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule, scalar_rule
from rulescore.ad.checkpointing import checkpoint
from rulescore.ad.forward import jvp, linearize
from rulescore.ad.messages.unused_rules import RuleNotUsedWarning
from rulescore.ad.primitives import primitive, primitives
from rulescore.ad.reverse import grad, value_and_grad, vjp
from tests.rulescore.at_once import run_at_once

THREADS = 8
X = np.linspace(0.5, 2.0, 6)


pytestmark = pytest.mark.usefixtures("frequent_switches")


def program(x, scale):
    y = np.sin(x) * scale + np.exp(-x) / x
    z = np.stack([y, np.cumsum(y)]) @ x[:, None]
    for i in range(3):
        y = y + np.tanh(z[0]) * x[i]
    y[1:] *= x[:-1]
    part = y[::2]
    part -= np.mean(x)
    return np.sum(y**2) + np.linalg.norm(z) + x[0] ** 3


JOBS = {
    "grad": lambda i: grad(program)(X, i + 1.0),
    "value_and_grad": lambda i: value_and_grad(program, (0, 1))(X, i + 1.0),
    "vjp": lambda i: vjp(program, X, i + 1.0)[1](2.0),
    "jvp": lambda i: jvp(program, (X, i + 1.0), (X, 0.5)),
    "linearize": lambda i: linearize(program, X, i + 1.0)[1](X, 0.5),
    "second order": lambda i: jvp(grad(program), (X, i + 1.0), (X, 0.5)),
    "reverse twice": lambda i: grad(lambda x: np.sum(grad(program)(x, i + 1.0) * X))(X),
    "checkpoint": lambda i: grad(checkpoint(program))(X, i + 1.0),
}


def assert_same(ours, theirs):
    if isinstance(ours, tuple):
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", JOBS)
def test_threads_get_what_one_thread_gets(name):
    expected = [JOBS[name](i) for i in range(THREADS)]
    for _ in range(3):
        for ours, theirs in zip(run_at_once(JOBS[name]), expected, strict=True):
            assert_same(ours, theirs)


def test_threads_with_different_transformations_do_not_disturb_each_other():
    names = list(JOBS)
    expected = [JOBS[name](i) for i, name in enumerate(names)]
    for ours, theirs in zip(run_at_once(lambda i: JOBS[names[i]](i), len(names)), expected, strict=True):
        assert_same(ours, theirs)


def test_a_vjp_that_several_threads_call():
    _, vjp_fn = vjp(lambda x: np.sin(x) * np.cumsum(x), X)
    expected = [vjp_fn(X * (i + 1))[0] for i in range(THREADS)]
    for ours, theirs in zip(run_at_once(lambda i: vjp_fn(X * (i + 1))[0]), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_gradient_function_that_several_threads_call():
    gradient = grad(program)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda i: gradient(X, float(i)), range(4 * THREADS)))
    for i, ours in enumerate(found):
        np.testing.assert_array_equal(ours, gradient(X, float(i)))


def test_the_first_use_of_everything_may_be_in_several_threads():
    code = """
import sys, threading
import numpy as np
sys.setswitchinterval(1e-6)
from rulescore.ad import grad, jvp

X = np.linspace(0.5, 2.0, 6)

def program(x):
    y = np.sin(x) * 2.0 + np.exp(-x) / x
    z = np.stack([y, np.cumsum(y)]) @ x[:, None]
    y[1:] *= x[:-1]
    part = y[::2]
    part -= np.mean(x)
    return np.sum(y**2) + np.sum(np.abs(z * 1j)) + x.astype(np.float32)[0]

jobs = [grad(program), lambda x: jvp(program, (x,), (x,))[1], lambda x: jvp(grad(program), (x,), (x,))[1]]
barrier = threading.Barrier(9)
results, errors = [None] * 9, []

def work(i):
    barrier.wait()
    try:
        results[i] = jobs[i % 3](X)
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=work, args=(i,)) for i in range(9)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not errors, errors
for i in range(9):
    np.testing.assert_array_equal(results[i], jobs[i % 3](X))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_types_that_several_threads_trace_for_the_first_time():
    for k in range(20):
        cls = type(f"Array{k}", (np.ndarray,), {})
        x = X.view(cls)

        def work(i, x=x):
            def f(x):
                y = x.reshape(2, 3)
                return np.sum(np.sin(y) * y.T.reshape(2, 3) + y) * np.sum(x)

            return grad(f)(x) if i % 2 else jvp(f, (x,), (x,))[1]

        results = run_at_once(work)
        for i, result in enumerate(results):
            assert type(result) is type(work(i))
            np.testing.assert_array_equal(result, work(i))


def test_rules_that_come_while_others_differentiate():
    stop = threading.Event()

    def register():
        for k in range(200):

            def f(x):
                return x

            scalar_rule(f, lambda y, x, k=k: k)
            with rrule.override(f, lambda x: (x, lambda ybar: (NoTangent(), ybar))):
                pass
        stop.set()

    expected = grad(program)(X, 2.0)
    thread = threading.Thread(target=register)
    thread.start()

    def work(i):
        while not stop.is_set():
            np.testing.assert_array_equal(grad(program)(X, 2.0), expected)
        return True

    assert run_at_once(work, 3) == [True] * 3
    thread.join()


def test_a_rule_that_is_replaced_is_used_by_every_thread_from_then_on():
    @primitive
    def f(x):
        return float(x)

    for k in range(50):
        rrule.register(f)(lambda x: (float(x), lambda ybar: (NoTangent(), 0.0)))
        stop = threading.Event()

        def use(f=f, stop=stop):
            while not stop.is_set():
                grad(f)(1.0)

        thread = threading.Thread(target=use)
        thread.start()
        rrule.register(f)(lambda x, k=k: (float(x), lambda ybar: (NoTangent(), k + 1.0)))
        stop.set()
        thread.join()
        assert grad(f)(1.0) == k + 1.0


def test_primitives_that_several_threads_make_are_one():
    for _ in range(20):
        module = types.ModuleType("module")
        module.f = lambda x: x

        assert len({id(made) for made in run_at_once(lambda i, m=module: primitives(m))}) == 1
        assert len({id(made) for made in run_at_once(lambda i, m=module: primitives(m).f)}) == 1
        assert len({id(made) for made in run_at_once(lambda i, f=module.f: primitive(f))}) == 1


def test_a_rule_that_is_not_used_is_told_once_by_all_threads(recwarn):
    def f(x):
        return x**2

    frule.register(f)(lambda tangents, x: (x**2, 2 * x * tangents[1]))
    warnings.simplefilter("always")
    run_at_once(lambda i: grad(lambda x: f(x))(2.0))
    assert len([w for w in recwarn if w.category is RuleNotUsedWarning]) == 1


def test_levels_grow_within_every_thread():
    # Perturbations of threads that nest at the same time are not confused either.
    def work(i):
        return grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0), jvp(
            lambda x: x * jvp(lambda y: x * y * (i + 1), (1.0,), (1.0,))[1], (3.0,), (1.0,)
        )[1]

    for i, found in enumerate(run_at_once(work)):
        assert found == (1.0, 6.0 * (i + 1))
