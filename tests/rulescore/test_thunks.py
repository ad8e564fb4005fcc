"""Thunks: work that is done at most once, and only if somebody looks."""

import copy
import gc
import threading
import weakref

import numpy as np
import pytest

from rulescore import InplaceableThunk, NoTangent, Tangent, Thunk, ZeroTangent, project_to, thunk, unthunk


class Counted:
    """A computation that counts how often it is made."""

    def __init__(self, value):
        self.value = value
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.value


def test_a_thunk_nobody_looks_at_is_never_computed():
    compute = Counted(np.ones(2))
    t = Thunk(compute)
    repr(t), t.conj(), t.T, t.transpose(), project_to(np.ones(2))(t), t + ZeroTangent(), NoTangent() * t, +t
    assert compute.calls == 0


def test_a_thunk_is_computed_once():
    compute = Counted(np.ones(2))
    t = Thunk(compute)
    t + 1, t * 2, np.sin(t), t[0], t.shape, len(t), list(t)
    assert compute.calls == 1


def test_a_forced_thunk_lets_go_of_its_computation():
    big = Counted(1.0)
    alive = weakref.ref(big)
    t = Thunk(big)
    t.force()
    del big
    gc.collect()
    assert alive() is None
    assert t.force() == 1.0


def test_a_thunk_that_fails_raises_each_time_it_is_used():
    t = Thunk(lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            t + 1


def test_unthunk_forces_thunks_of_thunks_and_leaves_the_rest_alone():
    assert unthunk(Thunk(lambda: Thunk(lambda: 3.0))) == 3.0
    x = np.ones(2)
    assert unthunk(x) is x


def test_thunk_is_a_decorator_of_the_computation():
    @thunk
    def xbar():
        return np.arange(2.0)

    np.testing.assert_array_equal(xbar + 1, [1.0, 2.0])


def test_numpy_functions_force_a_thunk():
    t = Thunk(lambda: np.array([0.0, 1.0]))
    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(np.exp(t), np.exp([0.0, 1.0]))
    np.testing.assert_array_equal(np.add(x, t), [2.0, 4.0])
    np.testing.assert_array_equal(np.add.outer(t, x), np.add.outer([0.0, 1.0], x))
    np.testing.assert_array_equal(np.concatenate([t, x]), [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(np.stack((x, t), axis=1), [[2.0, 0.0], [3.0, 1.0]])
    np.testing.assert_array_equal(np.where([True, False], t, x), [0.0, 3.0])
    np.testing.assert_array_equal(np.sum(a=t), 1.0)
    np.testing.assert_array_equal(np.asarray(t), [0.0, 1.0])
    assert np.asarray(t, np.float32).dtype == np.float32


def test_a_thunk_answers_like_its_value():
    t = Thunk(lambda: np.array([[1.0, -2.0]]))
    assert t.shape == (1, 2)
    assert t.dtype == np.float64
    assert t.sum() == -1.0
    np.testing.assert_array_equal(t[0], [1.0, -2.0])
    np.testing.assert_array_equal(abs(t), [[1.0, 2.0]])
    np.testing.assert_array_equal(t == np.array([[1.0, 0.0]]), [[True, False]])
    assert [row.tolist() for row in t] == [[1.0, -2.0]]
    s = Thunk(lambda: 2.5)
    assert float(s) == 2.5
    assert complex(s) == 2.5
    assert bool(s)
    assert not Thunk(lambda: 0.0)
    assert s == 2.5
    assert s == Thunk(lambda: 2.5)


def test_conjugate_and_transpose_stay_lazy():
    t = Thunk(lambda: np.array([[1.0 + 1j, 2.0]]))
    for lazy, value in (
        (t.conj(), [[1.0 - 1j, 2.0]]),
        (t.T, [[1.0 + 1j], [2.0]]),
        (t.transpose(1, 0), [[1 + 1j], [2]]),
    ):
        assert isinstance(lazy, Thunk)
        np.testing.assert_array_equal(unthunk(lazy), value)
    assert unthunk(Thunk(lambda: 1.0).conjugate()) == 1.0


def test_arithmetic_with_thunks_on_both_sides():
    a, b = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[4.0, 3.0], [2.0, 1.0]])
    s, t = Thunk(lambda: a), Thunk(lambda: b)
    for left, right in ((s, t), (a, t), (s, b)):
        np.testing.assert_array_equal(left + right, a + b)
        np.testing.assert_array_equal(left - right, a - b)
        np.testing.assert_array_equal(left * right, a * b)
        np.testing.assert_array_equal(left / right, a / b)
        np.testing.assert_array_equal(left @ right, a @ b)
    np.testing.assert_array_equal([1.0, 2.0] @ s, [1.0, 2.0] @ a)
    np.testing.assert_array_equal(2.0 - s, 2.0 - a)
    np.testing.assert_array_equal(2.0 / s, 2.0 / a)


def test_writing_into_a_thunk_is_an_error_that_names_the_way_out():
    with pytest.raises(TypeError, match="accumulate with"):
        np.add(1.0, 2.0, out=Thunk(lambda: np.zeros(())))


def test_a_thunk_does_not_pretend_to_have_the_protocols_of_its_value():
    assert not hasattr(Thunk(lambda: np.ones(2)), "__array_interface__")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Thunk(lambda: 1.0))


def test_repr_shows_a_value_only_when_there_is_one():
    t = Thunk(lambda: 1.5)
    assert repr(t) == "Thunk(pending)"
    t.force()
    assert repr(t) == "Thunk(1.5)"


def test_an_inplaceable_thunk_has_both_forms():
    def add_to(accumulator):
        accumulator[1] += 5.0
        return accumulator

    t = InplaceableThunk(add_to, thunk(lambda: np.array([0.0, 5.0])))
    np.testing.assert_array_equal(t + 1, [1.0, 6.0])
    np.testing.assert_array_equal(t.add_to(np.ones(2)), [1.0, 6.0])
    np.testing.assert_array_equal(unthunk(InplaceableThunk(add_to, lambda: np.ones(2))), [1.0, 1.0])
    assert repr(InplaceableThunk(add_to, lambda: 1.0)) == "InplaceableThunk(pending)"


def test_the_field_of_a_structural_tangent_is_forced_when_it_is_read():
    compute = Counted(np.ones(2))
    t = Tangent(tuple, Thunk(compute), 1.0)
    assert compute.calls == 0
    np.testing.assert_array_equal(t[0], [1.0, 1.0])
    assert compute.calls == 1


def test_threads_that_force_one_thunk_at_once_all_get_the_value():
    barrier = threading.Barrier(4)
    value = np.ones(2)
    results = []
    t = Thunk(lambda: value)

    def force():
        barrier.wait()
        results.append(t.force())

    threads = [threading.Thread(target=force) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result is value for result in results)


def test_a_thread_that_comes_second_takes_what_the_first_has_stored():
    """Between looking at the value and looking at the computation, another thread may have finished."""
    t = Thunk(lambda: 1.0)

    class Racing(Thunk):
        __slots__ = ()

        @property
        def _compute(self):
            Thunk._value.__set__(self, 2.0)  # the other thread stores its value ...

    racing = Racing.__new__(Racing)
    Thunk._value.__set__(racing, Thunk._value.__get__(t))
    assert racing.force() == 2.0  # ... and has dropped its computation


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("is_forced", [True, False])
def test_a_copy_of_a_thunk_has_its_value(duplicate, is_forced):
    delayed = Thunk(lambda: [1.0, 2.0])
    early = duplicate(delayed)
    if is_forced:
        delayed.force()
    assert early.force() == duplicate(delayed).force() == delayed.force() == [1.0, 2.0]
