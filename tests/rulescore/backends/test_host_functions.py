"""Calls as functions of arrays, and their derivatives of every order."""

import gc
import pickle
from weakref import WeakSet

import numpy as np
import optree
import pytest
from scipy.optimize import OptimizeResult

from rulescore import MissingDerivativeError, NoTangent, Thunk, frule, not_implemented, rrule, scalar_rule
from rulescore.ad import grad, jvp
from rulescore.backends.host import finding
from rulescore.backends.host.calls import HostCall
from rulescore.backends.host_functions import Calls

X, Y = np.array([0.3, 0.7]), np.array([1.5, -0.2])


def product(x, y):
    return np.sin(x) * y


def call_of(f, *args, **kwargs):
    found, arrays = Calls("to_test", f, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten).find(args, kwargs)
    return found, arrays


def test_a_call_is_a_function_of_the_arrays_in_it():
    call, arrays = call_of(
        lambda pair, *, scale, axis: np.sum(pair["a"] * pair["b"] * scale, axis=axis),
        {"a": X, "b": Y},
        scale=2.0,
        axis=0,
    )
    assert [id(x) for x in arrays] == [id(X), id(Y)]
    (y,) = call(arrays)
    assert y == np.sum(2 * X * Y)
    assert optree.tree_unflatten(call.structure, [y]) == y


@pytest.mark.parametrize(("keywords", "total"), [({"axis": None}, 4.0), ({"axis": ()}, 1.0), ({}, 2.0)])
def test_keywords_without_leaves_are_kept(keywords, total):
    def summed(x, axis=0):
        return np.sum(x, axis=axis)

    @rrule.register(summed)
    def summed_rrule(x, axis=0):
        y = np.sum(x, axis=axis)
        return y, lambda ybar: (NoTangent(), np.max(y) * np.ones_like(x))

    call, arrays = call_of(summed, np.ones((2, 2)), **keywords)
    np.testing.assert_array_equal(np.max(call(arrays)[0]), total)
    outputs, pull = call.vjp(arrays, (True,))
    np.testing.assert_array_equal(pull([np.ones_like(outputs[0])])[0], np.full((2, 2), total))


def test_calls_that_differ_in_what_is_fixed_are_other_functions():
    calls = Calls("to_test", np.sum, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten)
    assert calls.find((X,), {"axis": 0})[0] is calls.find((Y,), {"axis": 0})[0]
    assert calls.find((X,), {"axis": 0})[0] is not calls.find((X,), {"axis": 1})[0]
    assert calls.find((X, 1), {})[0] is not calls.find((X, True), {})[0]
    assert calls.find((X,), {})[0] is calls.find((Y,), {})[0]
    assert calls.find((X, 0.0), {})[0] is not calls.find((X, -0.0), {})[0]
    assert calls.find((X, float("nan")), {})[0] is calls.find((X, float("nan")), {})[0]


def test_calls_with_the_same_constants_are_found_at_once_and_right():
    def pick(x, places, scale=1.0):
        return scale * x[list(places)]

    calls = Calls("to_test", pick, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten)
    ends, first = (0, -1), (0,)
    assert calls.find_known((X, ends)) is None
    call, _ = calls.find((X, ends), {})
    found, arrays = calls.find_known((Y, ends))
    assert found is call
    assert arrays == [Y]
    np.testing.assert_array_equal(call([Y])[0], Y[[0, -1]])
    assert calls.find((X, first), {})[0] is not call
    assert calls.find((X, ends), {"scale": 2.0})[0] is not call
    np.testing.assert_array_equal(calls.find((X, ends), {"scale": 2.0})[0]([X])[0], 2 * X)


def test_only_the_very_constants_of_the_last_call_are_known_without_looking_at_them():
    def described(x, *others):
        return np.array([len(others), *(KINDS.index(type(other)) for other in others)])

    KINDS = [int, float, bool, np.ndarray, tuple]
    calls = Calls("to_test", described, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten)
    for others in [(1,), (1.0,), (True,), (1, 1), (), (Y,), (1, Y), (Y, 1), ((1,),), ((1.0,),)] * 3:
        for _ in range(3):
            call, arrays = calls.find((X, *others), {})
            np.testing.assert_array_equal(call(arrays)[0], described(X, *others))


def test_a_list_that_has_changed_is_another_constant():
    def pick(x, places):
        return x[places]

    calls, places = Calls("to_test", pick, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten), [0]
    for place in (0, 1):
        places[0] = place
        for within in (places, (places,)):
            call, _ = calls.find((X, within), {})
            np.testing.assert_array_equal(np.ravel(call([X])[0]), [X[place]])
            assert calls.find_known((X, within)) is None


def test_arrays_given_by_name_are_no_constants():
    calls = Calls("to_test", np.percentile, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten)
    for q in (np.array([20.0]), np.array([70.0])):
        call, arrays = calls.find((X,), {"q": q})
        assert [id(x) for x in arrays] == [id(X), id(q)]
        np.testing.assert_array_equal(call(arrays)[0], np.percentile(X, q))
        assert calls.find_known((X,), {"q": q}) is None


def test_of_many_constants_the_first_are_forgotten():
    calls = Calls("to_test", np.sum, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten)
    marks = [f"{number}" for number in range(finding._MANY + 1)]
    for mark in marks:
        calls.find((X, mark), {})
    assert calls.find_known((X, marks[0])) is None
    assert calls.find_known((X, marks[-1])) is not None


def test_constants_that_differ_in_every_call_are_not_kept_for_ever():
    class Step:
        pass

    calls, alive = (
        Calls("to_test", lambda x, _: x, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten),
        WeakSet(),
    )
    for _ in range(finding._MANY_KNOWN + finding._MANY + 10):
        step = Step()
        alive.add(step)
        call, arrays = calls.find((X, step), {})
        assert call(arrays)[0] is X
    gc.collect()
    assert len(alive) <= finding._MANY_KNOWN + finding._MANY


def test_derivatives_are_one_object_each():
    call, _ = call_of(product, X, Y)
    assert call.pullback((True, False)) is call.pullback((True, False))
    assert call.pullback((True, False)) is not call.pullback((True, True))
    assert call.pushforward((True, True)).transposed() is call.pullback((True, True))
    assert call.pullback((True, True)).transposed() is call.pushforward((True, True))
    with pytest.raises(TypeError, match="not linear"):
        call.transposed()


@pytest.mark.parametrize("with_rule", [True, False])
def test_pullback_and_pushforward_are_functions_of_arrays(with_rule):
    f = np.multiply if with_rule else lambda x, y: x * y
    call, arrays = call_of(f, X, Y)
    seed = np.array([2.0, 3.0])
    xbar, ybar = call.pullback((True, True))([*arrays, seed])
    np.testing.assert_array_equal(xbar, seed * Y)
    np.testing.assert_array_equal(ybar, seed * X)
    (xbar,) = call.pullback((True, False))([*arrays, seed])
    np.testing.assert_array_equal(xbar, seed * Y)
    (dz,) = call.pushforward((False, True))([*arrays, seed])
    np.testing.assert_array_equal(dz, X * seed)


def test_derivatives_have_derivatives():
    call, arrays = call_of(product, X, Y)
    pullback = call.pullback((True, True))
    seed, direction = np.array([2.0, 3.0]), np.array([1.0, -1.0])
    (xbar_bar,) = pullback.pullback((True, False, False))([*arrays, seed, direction, np.zeros(2)])
    np.testing.assert_allclose(xbar_bar, -np.sin(X) * Y * seed * direction)
    moved = call.pushforward((True, False)).pushforward((True, False, False))([*arrays, direction, direction])
    np.testing.assert_allclose(moved[0], -np.sin(X) * Y * direction**2)


def test_batches_are_taken_item_by_item_or_at_once():
    sizes = []

    def total(x):
        sizes.append(x.shape)
        return np.sum(x**2, axis=-1)

    stack = np.arange(6.0).reshape(3, 2)
    call, _ = call_of(total, X)
    (y,) = call.batched()([stack])
    np.testing.assert_array_equal(y, np.sum(stack**2, -1))
    assert sizes == [(2,)] * 3
    (bars,) = call.pullback((True,)).batched()([stack, np.ones(3)])
    np.testing.assert_array_equal(bars, 2 * stack)
    (moved,) = call.pushforward((True,)).batched()([stack, stack])
    np.testing.assert_array_equal(moved, 2 * np.sum(stack**2, -1))
    at_once = Calls("to_test", total, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten, "broadcast_all")
    call, _ = at_once.find((X,), {})
    sizes.clear()
    np.testing.assert_array_equal(call.batched()([stack])[0], np.sum(stack**2, -1))
    assert sizes == [(3, 2)]


def test_results_without_derivative_get_no_cotangent():
    call, arrays = call_of(lambda x: (np.argmax(x), x**2, x > 0), X)
    assert call.results([((2,), X.dtype)]) == (((), np.dtype(int)), ((2,), X.dtype), ((2,), np.dtype(bool)))
    np.testing.assert_array_equal(call.pullback((True,))([*arrays, np.ones(2)])[0], 2 * X)
    assert len(call.pushforward((True,))([*arrays, np.ones(2)])) == 1
    assert call.pushforward((True,)).results([((2,), X.dtype)] * 2) == (((2,), X.dtype),)


def test_cotangents_that_nobody_asks_for_are_not_computed():
    computed = []

    def scaled(x, y):
        return x * y

    @rrule.register(scaled)
    def scaled_rrule(x, y):
        def bar(which, value):
            return Thunk(lambda: computed.append(which) or value)

        return x * y, lambda zbar: (NoTangent(), bar("x", zbar * y), bar("y", zbar * x))

    call, arrays = call_of(scaled, X, Y)
    call.pullback((False, True))([*arrays, np.ones(2)])
    assert computed == ["y"]


def test_the_rule_of_a_plain_function_is_used_at_every_order():
    def cube(x):
        raise AssertionError("the rule computes the primal too")

    @rrule.register(cube)
    def cube_rrule(x):
        return x**3, lambda ybar: (NoTangent(), 300 * ybar * x**2)

    @frule.register(cube)
    def cube_frule(tangents, x):
        return x**3, 300 * x**2 * tangents[1]

    call, arrays = call_of(cube, X)
    one = np.ones(2)
    np.testing.assert_allclose(call.pullback((True,))([*arrays, one])[0], 300 * X**2)
    np.testing.assert_allclose(call.pushforward((True,))([*arrays, one])[0], 300 * X**2)
    np.testing.assert_allclose(call.pullback((True,)).pullback((True, False))([*arrays, one, one])[0], 600 * X)


def test_a_rule_for_one_mode_serves_both():
    def double(x):
        return 2 * x

    frule.register(double)(lambda tangents, x: (2 * x, 200 * tangents[1]))
    call, arrays = call_of(double, X)
    np.testing.assert_array_equal(call.pullback((True,))([*arrays, np.ones(2)])[0], [200, 200])


def test_a_missing_derivative_raises():
    def bessel(order, x):
        return order * x

    scalar_rule(bessel, not_implemented("with respect to the order"), lambda y, order, x: order)
    call, arrays = call_of(bessel, X, Y)
    np.testing.assert_array_equal(call.pullback((False, True))([*arrays, np.ones(2)])[0], X)
    with pytest.raises(MissingDerivativeError, match="with respect to the order"):
        call.pullback((True, False))([*arrays, np.ones(2)])


def test_shapes_are_found_with_numbers_that_the_function_takes():
    call, _ = call_of(np.linalg.inv, np.eye(2))
    assert call.results([((3, 3), np.dtype("float32"))]) == (((3, 3), np.dtype("float32")),)

    def picky(x):
        if x[0] != 7:
            raise ValueError("seven or nothing")
        return x

    call, _ = call_of(picky, X)
    with pytest.raises(ValueError, match=r"could not be found.*seven or nothing.*result_shapes="):
        call.results([((2,), X.dtype)])
    assert call.results([((2,), X.dtype)], [np.full(2, 7.0)]) == (((2,), X.dtype),)


def test_bad_calls_say_what_to_write():
    with pytest.raises(TypeError, match=r"to_test\(float64\[2\]\) got no function"):
        Calls("to_test", X, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten)
    with pytest.raises(ValueError, match="'sequential' or 'broadcast_all'"):
        Calls("to_test", np.sin, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten, "all")
    with pytest.raises(TypeError, match="neither an array nor hashable"):
        call_of(np.sum, X, {1, 2})
    call, arrays = call_of(lambda x: "text", X)
    with pytest.raises(TypeError, match="returned str, which is no array"):
        call(arrays)


def test_it_agrees_with_the_reference_ad():
    call, arrays = call_of(product, X, Y)
    assert isinstance(call, HostCall)
    (xbar,) = call.pullback((True, False))([*arrays, np.ones(2)])
    np.testing.assert_array_equal(xbar, grad(lambda x: np.sum(product(x, Y)))(X))
    (dz,) = call.pushforward((True, False))([*arrays, Y])
    np.testing.assert_array_equal(dz, jvp(lambda x: product(x, Y), (X,), (Y,))[1])


@pytest.mark.parametrize("order", ["value", "pullback", "second order"])
def test_functions_that_refuse_read_only_arrays_get_copies(order: str) -> None:
    signal = pytest.importorskip("scipy.signal")
    sos = signal.butter(2, 0.3, output="sos")
    x = np.sin(np.arange(6.0))
    function, arrays = Calls("here", signal.sosfilt, (np.ndarray,), optree.tree_flatten, optree.tree_unflatten).find(
        (sos, x), {}
    )
    function = {
        "value": lambda: function,
        "pullback": lambda: function.pullback((True, True)),
        "second order": lambda: function.pullback((True, True)).pullback((True, True, True)),
    }[order]()
    given = {"value": (), "pullback": (x,), "second order": (x, sos, x)}[order]
    arrays = [*arrays, *given]
    expected = function([np.array(a) for a in arrays])
    read_only = [np.array(a) for a in arrays]
    for a in read_only:
        a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        signal.sosfilt(*read_only[:2])
    for found, y in zip(function(read_only), expected, strict=True):
        np.testing.assert_array_equal(found, y)


def test_the_numbers_of_an_object_of_scipys_can_be_pickled():
    call, arrays = call_of(lambda x: OptimizeResult(x=x, fun=1.0, message="text", jac=[x, None]), X)
    outputs = call(arrays)
    found = optree.tree_unflatten(call.structure, outputs)
    other = pickle.loads(pickle.dumps(found))
    assert type(other) is type(found)
    assert (other._fields, other.fun, other.jac[1]) == (("x", "fun", "jac"), 1.0, None)
    np.testing.assert_array_equal(other.x, X)
