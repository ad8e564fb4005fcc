"""Strategies: what they draw, what they never draw, and what they shrink to."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import find, given, settings

from rulescore import NoTangent, Tangent
from testutils import strategies
from testutils.evidence.vectorisation import tangent_to_vector, vector_to_tangent
from testutils.samples.random_tangents import PrimalWithTangent

DTYPES = [np.float64, np.float32, np.complex128, np.complex64]

repeatably = settings(max_examples=60, derandomize=True, database=None, deadline=None)


def drawn_from(strategy: st.SearchStrategy[Any], count: int = 60) -> list[Any]:
    values: list[Any] = []

    @settings(repeatably, max_examples=count)
    @given(strategy)
    def draw(value: Any) -> None:
        values.append(value)

    draw()
    return values


def is_drawn(strategy: st.SearchStrategy[Any], condition: Callable[[Any], Any], count: int = 200) -> bool:
    return any(map(condition, drawn_from(strategy, count)))


def simplest(strategy: st.SearchStrategy[Any], condition: Callable[[Any], Any] = lambda value: True) -> Any:
    return find(strategy, condition, settings=settings(repeatably, max_examples=1000))


def parts(x: Any) -> np.ndarray[Any, Any]:
    """The real numbers in an array, imaginary parts included."""
    return np.concatenate([np.ravel(np.real(x)), np.ravel(np.imag(x))]) if np.iscomplexobj(x) else np.ravel(x)


def smallest_gap(x: np.ndarray[Any, Any]) -> float:
    flat = x.ravel()
    return min((abs(flat[i] - flat[j]) for i in range(flat.size) for j in range(i)), default=math.inf)


# Numbers.


@pytest.mark.parametrize("dtype", [float, np.float64, np.float32])
def test_floats_have_the_class_that_was_asked_for(dtype: Any) -> None:
    assert {type(x) for x in drawn_from(strategies.floats(dtype))} == {dtype}


@pytest.mark.parametrize("dtype", [complex, np.complex128, np.complex64])
def test_complex_numbers_have_the_class_that_was_asked_for(dtype: Any) -> None:
    assert {type(x) for x in drawn_from(strategies.complexes(dtype))} == {dtype}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bounds", [(1e-3, 10.0), (0.5, 2.0), (1e-30, 1e30), (0.0, 1.0)])
def test_magnitudes_stay_between_their_bounds_but_for_0(dtype: Any, bounds: tuple[float, float]) -> None:
    least, most = bounds
    for x in drawn_from(strategies.arrays(dtype, (3, 2), min_magnitude=least, max_magnitude=most)):
        sizes = np.abs(parts(x)).astype(float)
        assert np.all((sizes == 0) | (sizes >= least))
        assert np.all(sizes <= most)
        assert np.all((sizes == 0) | (sizes >= np.finfo(dtype).tiny)), "a subnormal number"


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_keep_away_from_points(dtype: Any) -> None:
    for x in drawn_from(strategies.arrays(dtype, 5, away_from=(0, 1, -2.5), margin=0.25)):
        for point in (0, 1, -2.5):
            assert np.abs(x - point).min() >= 0.25 * (1 - 1e-6)


def test_complex_numbers_keep_away_from_complex_points_and_real_ones_do_not_mind_those() -> None:
    z = np.array(drawn_from(strategies.complexes(away_from=(1j,), margin=2)))
    assert np.abs(z - 1j).min() >= 2
    assert simplest(strategies.floats(away_from=(1j,))) == 0.0


def test_a_range_replaces_the_magnitudes_on_its_side() -> None:
    values = drawn_from(strategies.floats(min_value=-0.5, max_value=200))
    assert min(values) >= -0.5
    assert 10 < max(values) <= 200


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_and_small_numbers_positive_and_negative_and_0_are_all_drawn(dtype: Any) -> None:
    values = np.concatenate([parts(x) for x in drawn_from(strategies.arrays(dtype, 6))])
    for interval in [(-10, -5), (-1, -0.001), (0, 0), (0.001, 1), (5, 10)]:
        assert np.any((values >= interval[0]) & (values <= interval[1])), interval
    assert np.mean(values == 0) < 0.3


def test_numbers_shrink_to_0_or_else_to_a_small_whole_number() -> None:
    assert simplest(strategies.floats()) == 0.0
    assert simplest(strategies.floats(away_from=(0,))) == 1.0
    assert simplest(strategies.floats(away_from=(0, 1))) == 2.0
    assert simplest(strategies.floats(min_value=2.5)) == 3.0
    assert simplest(strategies.floats(max_value=-2.5)) in (-3.0, -2.5)
    assert simplest(strategies.complexes(away_from=(0,))) == 1j


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dtype": int}, TypeError, "dtype=int64.*hypothesis.extra.numpy"),
        ({"dtype": complex}, TypeError, r"write complexes\(complex128\)"),
        ({"max_magnitude": np.inf}, ValueError, "both finite"),
        ({"min_magnitude": 2, "max_magnitude": 1}, ValueError, "min_magnitude <= max_magnitude"),
        ({"min_value": 20}, ValueError, "between 20 and 10.0: no numbers are left"),
        ({"away_from": (0,), "margin": 20}, ValueError, "20 away from 0: no numbers are left"),
        ({"margin": 0}, ValueError, "a positive number"),
    ],
)
def test_floats_that_cannot_be_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        strategies.floats(**options)


def test_complex_numbers_that_cannot_be_are_refused() -> None:
    with pytest.raises(TypeError, match=r"write floats\(float64\)"):
        strategies.complexes(float)
    with pytest.raises(ValueError, match="no numbers are left"):
        strategies.complexes(away_from=(0,), margin=15)
    with pytest.raises(TypeError, match="complex numbers have no order"):
        strategies.arrays(complex, min_value=1)


# Arrays.


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_have_their_dtype_and_finite_entries(dtype: Any) -> None:
    for x in drawn_from(strategies.arrays(dtype)):
        assert type(x) is np.ndarray
        assert x.dtype == dtype
        assert np.isfinite(x).all()


def test_arrays_of_every_number_of_axes_are_drawn_0_among_them() -> None:
    assert {x.ndim for x in drawn_from(strategies.arrays())} == {0, 1, 2, 3}
    assert simplest(strategies.arrays(shape=strategies.shapes(min_side=0)), lambda x: x.size == 0).shape == (0,)


def test_shape_and_dtype_can_be_drawn() -> None:
    drawn = drawn_from(strategies.arrays(st.sampled_from([np.float32, complex]), st.integers(2, 3)))
    assert {(x.dtype.name, x.shape) for x in drawn} == {
        (dtype, (side,)) for dtype in ("float32", "complex128") for side in (2, 3)
    }


LAYOUT_TRAITS: dict[str, Callable[[np.ndarray[Any, Any]], bool]] = {
    "C": lambda x: x.flags.c_contiguous and x.flags.writeable,
    "Fortran": lambda x: x.flags.f_contiguous and not x.flags.c_contiguous,
    "strided": lambda x: x.strides == (64, 16) and not x.flags.c_contiguous and not x.flags.f_contiguous,
    "negative strides": lambda x: x.strides == (-32, -8),
    "read-only": lambda x: not x.flags.writeable,
}


@pytest.mark.parametrize("layout", strategies.LAYOUTS)
def test_an_array_lies_in_memory_as_asked(layout: str) -> None:
    assert all(LAYOUT_TRAITS[layout](x) for x in drawn_from(strategies.arrays(shape=(3, 4), layouts=layout), 10))


def test_every_layout_is_drawn_and_the_simplest_preferred() -> None:
    drawn = drawn_from(strategies.arrays(shape=(3, 4), elements=st.just(1.0)))
    assert all(any(trait(x) for x in drawn) for trait in LAYOUT_TRAITS.values())
    assert LAYOUT_TRAITS["C"](simplest(strategies.arrays(shape=(3, 4))))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,)])
@pytest.mark.parametrize("layout", strategies.LAYOUTS)
def test_arrays_of_at_most_one_entry_come_in_every_layout(layout: str, shape: tuple[int, ...]) -> None:
    for x in drawn_from(strategies.arrays(shape=shape, layouts=layout), 10):
        assert x.shape == shape
        assert x.flags.writeable is (layout != "read-only")


@pytest.mark.parametrize("dtype", DTYPES)
def test_distinct_entries_are_a_margin_apart(dtype: Any) -> None:
    for x in drawn_from(strategies.arrays(dtype, (3, 4), distinct=True, away_from=(1,), margin=0.3)):
        assert smallest_gap(x) >= 0.3 * (1 - 1e-6)
        assert np.abs(x - 1).min() >= 0.3 * (1 - 1e-6)


def test_distinct_entries_of_a_strategy_of_ones_own_are_apart_too() -> None:
    drawn = drawn_from(strategies.arrays(float, 3, strategies.floats(min_value=5), distinct=True), 20)
    assert min(map(smallest_gap, drawn)) >= 0.01
    assert min(x.min() for x in drawn) >= 5


def test_distinct_entries_fill_a_range_up_to_where_they_have_no_room() -> None:
    full = strategies.arrays(float, 9, min_value=0, max_value=2, distinct=True, margin=0.1)
    assert all(smallest_gap(x) >= 0.1 * (1 - 1e-9) for x in drawn_from(full, 20))
    with pytest.raises(ValueError, match=r"10 distinct entries: .* no room for so many that are 0.1 apart"):
        simplest(strategies.arrays(float, 10, min_value=0, max_value=2, distinct=True, margin=0.1))


def test_arrays_shrink_to_few_small_whole_numbers() -> None:
    assert repr(simplest(strategies.arrays())) == "array(0.)"
    assert repr(simplest(strategies.arrays(shape=3), lambda x: x[1] > 2)) == "array([0., 3., 0.])"
    assert simplest(strategies.arrays(), lambda x: x.size > 2).size <= 4
    assert repr(simplest(strategies.arrays(shape=4, distinct=True))) == "array([0., 1., 2., 3.])"


def test_a_large_array_can_be_drawn() -> None:
    assert {x.shape for x in drawn_from(strategies.arrays(shape=(100, 50)), 5)} == {(100, 50)}


def test_arrays_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="layouts='diagonal': 'diagonal' was given; choose among 'C', 'Fortran'"):
        strategies.arrays(layouts="diagonal")
    with pytest.raises(ValueError, match="nothing was given"):
        strategies.arrays(layouts=())
    with pytest.raises(TypeError, match="elements= alone says which numbers"):
        strategies.arrays(elements=strategies.floats(), min_value=1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_broadcastable_arrays_broadcast(count: int) -> None:
    drawn = drawn_from(strategies.broadcastable_arrays(count, st.sampled_from([np.float32, complex])))
    for group in drawn:
        assert len(group) == count
        np.broadcast_shapes(*(x.shape for x in group))
    if count > 1:
        assert any(group[0].shape != group[1].shape for group in drawn)
        assert any(group[0].dtype != group[1].dtype for group in drawn)


def test_broadcastable_arrays_are_distinct_across_arrays() -> None:
    for group in drawn_from(strategies.broadcastable_arrays(2, distinct=True, max_side=3)):
        assert smallest_gap(np.concatenate([x.ravel() for x in group])) >= 0.01 * (1 - 1e-9)


def test_broadcastable_arrays_shrink_to_numbers() -> None:
    assert repr(simplest(strategies.broadcastable_arrays(2))) == "(array(0.), array(0.))"


def test_matmul_takes_its_arrays() -> None:
    for a, b in drawn_from(strategies.matmul_arrays(complex)):
        assert (a @ b).dtype == complex


def test_matmul_arrays_are_vectors_matrices_and_stacks() -> None:
    ones = strategies.matmul_arrays(elements=st.just(1.0), layouts="C", max_side=2)
    dims = {(a.ndim, b.ndim) for a, b in drawn_from(ones, 300)}
    assert dims == {(m, n) for m in (1, 2, 3) for n in (1, 2, 3)}


# Tangents.


@pytest.mark.parametrize(
    "primal",
    [2.0, 1j, np.float32(1), np.ones((2, 3), np.complex64), [1.0, (2.0, "name")], {"w": np.ones(2), "n": 3}],
    ids=repr,
)
def test_tangents_are_in_the_canonical_form(primal: Any) -> None:
    drawn = drawn_from(strategies.tangents(primal), 20)
    for tangent in drawn:
        again = vector_to_tangent(primal, tangent_to_vector(primal, tangent))
        assert type(tangent) is type(again)
        assert repr(tangent) == repr(again)
    assert any(np.all(tangent_to_vector(primal, tangent)) for tangent in drawn)


@pytest.mark.parametrize("primal", [3, "name", None, np.arange(3), (1, 2)], ids=repr)
def test_the_tangent_of_what_has_no_derivative_is_no_tangent(primal: Any) -> None:
    assert simplest(strategies.tangents(primal)) is NoTangent()


def test_entries_of_tangents_can_be_chosen() -> None:
    tangent = simplest(strategies.tangents((1.0, 2.0), st.just(0.5)))
    assert tangent == Tangent(tuple, 0.5, 0.5)


def test_a_strategy_in_the_place_of_a_primal_is_refused() -> None:
    with pytest.raises(TypeError, match=r"write with_tangents\(strategy\)"):
        strategies.tangents(strategies.floats())


def test_with_tangents_draws_primals_that_carry_a_tangent() -> None:
    for drawn in drawn_from(strategies.with_tangents(strategies.arrays(np.complex64))):
        assert isinstance(drawn, PrimalWithTangent)
        assert (drawn.tangent.shape, drawn.tangent.dtype) == (drawn.primal.shape, drawn.primal.dtype)


def test_with_tangents_draws_tangents_of_the_kind_that_is_asked_for() -> None:
    symmetric = strategies.with_tangents(
        strategies.symmetric_matrices(), lambda a: strategies.symmetric_matrices(a.shape[-1])
    )
    assert all(np.array_equal(drawn.tangent, drawn.tangent.T) for drawn in drawn_from(symmetric))


# Matrices.


def adjoint(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a.conj().swapaxes(-1, -2)


MATRICES = [strategies.symmetric_matrices, strategies.positive_definite_matrices, strategies.invertible_matrices]


@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices_have_their_shape_and_dtype(matrices: Any, dtype: Any) -> None:
    for a in drawn_from(matrices(st.integers(2, 3), dtype, batch=st.sampled_from([(), (2,)])), 20):
        assert a.dtype == dtype
        assert a.shape in {(2, 2), (3, 3), (2, 2, 2), (2, 3, 3)}


@pytest.mark.parametrize("matrices", MATRICES)
def test_matrices_have_up_to_4_rows_unless_told(matrices: Any) -> None:
    assert {a.shape for a in drawn_from(matrices(), 100)} == {(n, n) for n in (1, 2, 3, 4)}


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("matrices", MATRICES[:2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_symmetric_and_positive_definite_matrices_are_their_adjoints(matrices: Any, dtype: Any, distinct: bool) -> None:
    for a in drawn_from(matrices(dtype=dtype, distinct=distinct), 30):
        assert np.array_equal(a, adjoint(a))


@pytest.mark.parametrize("dtype", [float, complex])
def test_positive_definite_and_invertible_matrices_are_well_conditioned(dtype: Any) -> None:
    for a in drawn_from(strategies.positive_definite_matrices(dtype=dtype, max_condition=9)):
        assert 1 / 3 - 1e-12 < np.linalg.eigvalsh(a).min() <= np.linalg.eigvalsh(a).max() < 3 + 1e-12
    conditions = [np.linalg.cond(a) for a in drawn_from(strategies.invertible_matrices(3, dtype, max_condition=9))]
    assert 3 < max(conditions) < 9 + 1e-9


@pytest.mark.parametrize("dtype", [float, complex])
def test_distinct_eigenvalues_and_singular_values_are_a_margin_apart(dtype: Any) -> None:
    for a in drawn_from(strategies.symmetric_matrices(3, dtype, distinct=True, margin=0.5)):
        assert np.diff(np.linalg.eigvalsh(a)).min() >= 0.5 - 1e-12
    for a in drawn_from(strategies.invertible_matrices(3, dtype, distinct=True, margin=0.5)):
        assert np.diff(np.linalg.svd(a)[1][::-1]).min() >= 0.5 - 1e-12


def test_invertible_matrices_need_be_neither_triangular_nor_of_positive_determinant() -> None:
    drawn = drawn_from(strategies.invertible_matrices(3))
    assert any(np.all(a != 0) for a in drawn)
    assert {np.sign(np.linalg.det(a)) for a in drawn} == {-1.0, 1.0}


def test_matrices_shrink_to_the_simplest_of_their_kind() -> None:
    assert np.array_equal(simplest(strategies.symmetric_matrices(2)), np.zeros((2, 2)))
    assert np.array_equal(simplest(strategies.positive_definite_matrices(2)), np.eye(2))
    assert np.array_equal(simplest(strategies.invertible_matrices(2)), np.eye(2))


def test_condition_numbers_below_1_are_refused() -> None:
    with pytest.raises(ValueError, match=r"max_condition=0\.5: condition numbers are 1 or larger"):
        strategies.invertible_matrices(max_condition=0.5)


# Axes and indices.


@pytest.mark.parametrize("ndim", [0, 1, 3])
def test_a_reduction_takes_every_axis_that_is_drawn(ndim: int) -> None:
    x = np.ones((2, 3, 4)[:ndim])
    for axis in drawn_from(strategies.axes(ndim)):
        np.sum(x, axis=axis)


@pytest.mark.parametrize(
    "is_kind",
    [
        lambda axis: axis is None,
        lambda axis: isinstance(axis, int) and axis >= 0,
        lambda axis: isinstance(axis, int) and axis < 0,
        lambda axis: axis == (),
        lambda axis: isinstance(axis, tuple) and len(axis) == 3,
        lambda axis: isinstance(axis, tuple) and any(a < 0 for a in axis) and any(a >= 0 for a in axis),
        lambda axis: isinstance(axis, tuple) and [a % 3 for a in axis] == [2, 0],
    ],
    ids=["None", "int", "negative", "empty", "all", "mixed signs", "unsorted"],
)
def test_every_kind_of_axis_is_drawn(is_kind: Callable[[Any], bool]) -> None:
    assert is_drawn(strategies.axes(3), is_kind)


def test_none_and_tuples_can_be_left_out_of_the_axes() -> None:
    drawn = drawn_from(strategies.axes(2, allow_none=False, allow_tuple=False))
    assert set(drawn) == {0, 1, -1, -2}
    with pytest.raises(ValueError, match="a 0-d array has no axis; allow None or tuples"):
        strategies.axes(0, allow_none=False, allow_tuple=False)


@pytest.mark.parametrize("kinds", [*strategies.INDEX_KINDS, strategies.INDEX_KINDS])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3, 4), (2, 0, 3)])
def test_an_index_that_is_drawn_does_not_raise(shape: tuple[int, ...], kinds: Any) -> None:
    x = np.arange(math.prod(shape), dtype=float).reshape(shape)
    for index in drawn_from(strategies.indices(shape, kinds=kinds), 100):
        _ = x[index]


def has(kind: Any) -> Callable[[Any], bool]:
    def found(index: Any) -> bool:
        return any(isinstance(entry, kind) for entry in (index if isinstance(index, tuple) else (index,)))

    return found


def is_boolean(index: Any) -> bool:
    return isinstance(index, np.ndarray) and index.dtype == bool


def has_arrays(index: Any) -> bool:
    return isinstance(index, tuple) and has(np.ndarray)(index)


INDICES: dict[str, Callable[[Any], bool]] = {
    "a whole number": lambda index: type(index) is int,
    "a negative number": lambda index: (
        has(int)(index) and any(type(i) is int and i < 0 for i in np.atleast_1d(index))
        if not isinstance(index, tuple)
        else any(type(i) is int and i < 0 for i in index)
    ),
    "a slice": has(slice),
    "a slice backwards": lambda index: isinstance(index, slice) and (index.step or 1) < 0,
    "an ellipsis": has(type(...)),
    "a new axis": has(type(None)),
    "a list": lambda index: isinstance(index, list),
    "an array": lambda index: isinstance(index, np.ndarray) and index.dtype != bool and index.ndim == 2,
    "a repetition": lambda index: isinstance(index, np.ndarray) and index.size > len(set(index.ravel().tolist())) > 1,
    "several arrays": lambda index: isinstance(index, tuple) and sum(isinstance(i, np.ndarray) for i in index) == 3,
    "a mask of the whole": lambda index: is_boolean(index) and index.ndim == 3,
    "a mask of the first axis": lambda index: is_boolean(index) and index.ndim == 1,
    "an array beside a slice": lambda index: has_arrays(index) and has(slice)(index),
    "an array beside a number": lambda index: has_arrays(index) and has(int)(index),
    "arrays with a slice between": lambda index: (
        isinstance(index, tuple) and [type(i) for i in index if i is not ...] == [np.ndarray, slice, np.ndarray]
    ),
    "an array and a new axis": lambda index: has_arrays(index) and has(type(None))(index),
    "an array and an ellipsis": lambda index: has_arrays(index) and has(type(...))(index),
    "a mask beside a slice": lambda index: has_arrays(index) and any(map(is_boolean, index)) and has(slice)(index),
}


@pytest.fixture(scope="module")
def many_indices() -> list[Any]:
    every_kind = drawn_from(strategies.indices((2, 3, 4)), 500)
    return every_kind + drawn_from(strategies.indices((2, 3, 4), kinds="mixed"), 1000)


@pytest.mark.parametrize("kind", INDICES)
def test_every_kind_of_index_is_drawn(kind: str, many_indices: list[Any]) -> None:
    assert any(map(INDICES[kind], many_indices))


def test_only_the_kinds_asked_for_are_drawn() -> None:
    assert not is_drawn(strategies.indices((2, 3), kinds="basic"), has((np.ndarray, list)))
    with pytest.raises(ValueError, match="kinds='fancy'"):
        strategies.indices((2, 3), kinds="fancy")


# Imports.


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_testutils_does_not_import_hypothesis() -> None:
    assert (
        run_python("import sys, testutils, testutils.runs.pytest_support; print('hypothesis' in sys.modules)")
        == "False"
    )


def test_without_hypothesis_the_error_says_how_to_install_it() -> None:
    code = (
        "import sys\n"
        "sys.modules['hypothesis'] = None\n"
        "try:\n    import testutils.strategies\n"
        "except ImportError as error:\n    print(error)\n"
    )
    assert "pip install 'rulescore[hypothesis]'" in run_python(code)
