"""The exercises of the ChainRules lab: each solution passes the tester, and does what the exercise asks."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rulescore import NoTangent, Thunk, ZeroTangent, frule, rrule, scalar_rule, unthunk
from rulescore.testing import check_rule, check_sample, samples_of, test_rule
from testutils.samples.sampling import Sample

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


f1 = example("f1").f1
mymaximum = example("mymaximum").mymaximum
sums = example("pool_sum")
pool_sum, segments = sums.pool_sum, sums.segments
pooling = example("pooling")
pool, hausdorff = pooling.pool, pooling.hausdorff
rotary = example("rotary").rotary

SAMPLES = [(f, sample) for f in (f1, mymaximum, pool_sum, pool, rotary) for sample in samples_of(f)]


@pytest.mark.parametrize(("f", "sample"), SAMPLES, ids=[f"{f.__name__}-{sample.id}" for f, sample in SAMPLES])
def test_rules_are_right_on_their_sample_inputs(f: Any, sample: Sample) -> None:
    report = check_sample(f, sample)
    assert report.verdict == "pass", report
    assert {result.mode for result in report.results} >= {"frule", "rrule"}


@pytest.mark.parametrize("f", [f1, mymaximum, pool_sum, pool, rotary], ids=lambda f: f.__name__)
def test_sample_inputs_have_several_shapes_and_two_precisions(f: Any) -> None:
    arrays = [arg for sample in samples_of(f) for arg in sample.args if isinstance(arg, np.ndarray)]
    assert len({array.shape for array in arrays}) >= 3
    assert {array.dtype.name for array in arrays} >= {"float32", "float64"}


@pytest.mark.parametrize("name", ["f1", "mymaximum", "pool_sum", "pooling", "rotary"])
def test_rulescore_check_passes_on_the_file(name: str) -> None:
    command = [sys.executable, "-W", "error", "-X", "utf8", "-m", "rulescore", "check", str(EXAMPLES / f"{name}.py")]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf8")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 function," in run.stdout


MISTAKES = [
    ("f1", "f1", "3 * zbar", "-3 * zbar"),
    ("f1", "f1", "2 * np.conj(x)", "2 * x"),
    ("f1", "f1", "unbroadcast(3 * zbar, shape_y)", "unbroadcast(3 * zbar, shape_x)"),
    ("f1", "f1", "zero_tangent(z) + 2 * x * dx", "2 * dx"),
    ("mymaximum", "mymaximum", "return x[k], dx[k]", "return x[k], dx.max()"),
    ("mymaximum", "mymaximum", "  xbar[k] = ybar", "  xbar[...] = ybar"),
    ("mymaximum", "mymaximum", "np.zeros(shape, dtype)", "np.ones(shape, dtype)"),
    ("pool_sum", "pool_sum", "np.repeat(ybar, col_lengths, axis=1)", "np.repeat(ybar, col_lengths[::-1], axis=1)"),
    ("pool_sum", "pool_sum", "block_sums(dx, row_starts, col_starts)", "block_sums(x, row_starts, col_starts)"),
    ("pooling", "pool", "np.add.at(xbar, entries, ybar)", "xbar[entries] += ybar"),
    ("pooling", "pool", "row_numbers[r][row], col_numbers[c][col]", "r.start + row, c.start + col"),
    ("pooling", "pool", "block[there] >= block[back]", "block[there] < block[back]"),
    ("rotary", "rotary", "cos, -sin", "cos, sin"),
    ("rotary", "rotary", "np.sum(positions(y, theta) * torque, axis=0)", "np.sum(torque, axis=0)"),
    ("rotary", "rotary", "- y[:, 1::2] * ybar[:, 0::2]", "+ y[:, 1::2] * ybar[:, 0::2]"),
    ("rotary", "rotary", "-dangles", "dangles"),
]


@pytest.mark.parametrize(("file", "name", "correct", "wrong"), MISTAKES)
def test_sample_inputs_find_a_mistake(file: str, name: str, correct: str, wrong: str) -> None:
    source = (EXAMPLES / f"{file}.py").read_text("utf8")
    assert source.count(correct) == 1
    namespace: dict[str, Any] = {"__name__": f"wrong_{file}"}
    exec(compile(source.replace(correct, wrong), f"<wrong {file}>", "exec"), namespace)
    verdicts = [check_sample(namespace[name], sample).verdict for sample in samples_of(namespace[name])]
    assert "fail" in verdicts


def test_f1_by_hand_is_f1_by_scalar_rule() -> None:
    def f1_again(x: Any, y: Any) -> Any:
        return x**2 + 3 * y

    scalar_rule(f1_again, lambda z, x, y: 2 * x, lambda z, x, y: 3)
    x, y, zbar = np.array([[1.0], [2j]]), np.array([3.0, 4.0, 5.0]), np.arange(6.0).reshape(2, 3) + 1j
    by_hand, by_partials = (list(map(unthunk, rrule(f, x, y)[1](zbar)))[1:] for f in (f1, f1_again))
    for one, other in zip(by_hand, by_partials, strict=True):
        np.testing.assert_allclose(one, other)
        assert one.dtype == other.dtype


class Searched(np.ndarray[Any, Any]):
    """An array that counts the searches for its maximum."""

    searches = 0

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        Searched.searches += 1
        return super().argmax(*args, **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> Any:
        Searched.searches += 1
        return super().max(*args, **kwargs)


def test_mymaximum_is_searched_once() -> None:
    Searched.searches = 0
    y, pullback = rrule(mymaximum, np.array([[1.0, 5.0], [2.0, 3.0]]).view(Searched))
    assert (y, Searched.searches) == (5.0, 1)
    np.testing.assert_array_equal(pullback(2.0)[1], [[0, 2], [0, 0]])
    assert Searched.searches == 1


def test_mymaximum_keeps_no_reference_to_its_argument() -> None:
    x = np.array([1.0, 2.0])
    alive = weakref.ref(x)
    _, pullback = rrule(mymaximum, x)
    del x
    gc.collect()
    assert alive() is None
    np.testing.assert_array_equal(pullback(1.0)[1], [0, 1])


def test_mymaximum_gives_all_to_the_first_at_a_tie() -> None:
    x = np.array([[1.0, 3.0], [3.0, 3.0]])
    np.testing.assert_array_equal(rrule(mymaximum, x)[1](1.0)[1], [[0, 1], [0, 0]])
    assert frule((NoTangent(), np.array([[1.0, 2.0], [4.0, 8.0]])), mymaximum, x) == (3.0, 2.0)
    report = check_rule(mymaximum, x)
    assert report.verdict == "pass"
    assert "a kink" in str(report)


def test_segments_cover_a_length_and_the_last_may_be_short() -> None:
    assert segments(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert segments(6, 3) == [slice(0, 3), slice(3, 6)]
    assert segments(2, 5) == [slice(0, 2)]


@pytest.mark.parametrize(("length", "step"), [(1, 1), (7, 1), (7, 2), (7, 3), (7, 7), (7, 9)])
def test_pool_sum_rules_hold_for_every_way_to_cut(length: int, step: int) -> None:
    x = np.random.default_rng(step).standard_normal((length, 4))
    test_rule(pool_sum, x, segments(length, step), segments(4, 3))
    test_rule(pool_sum, x.T, segments(4, 3), segments(length, step))


@pytest.mark.parametrize(
    "rows",
    [
        [slice(0, 3), slice(2, 4)],
        [slice(0, 1), slice(2, 4)],
        [slice(0, 3)],
        [slice(1, 4)],
        [slice(0, 2), slice(2, 2), slice(2, 4)],
        [slice(2, 4), slice(0, 2)],
        [slice(0, 4, 2)],
        [slice(None)],
        [],
    ],
    ids=str,
)
def test_pool_sum_rules_decline_slices_that_do_not_cover_each_row_once(rows: list[slice]) -> None:
    x = np.arange(12.0).reshape(4, 3)
    cols = segments(3, 2)
    assert rrule(pool_sum, x, rows, cols) is None
    assert rrule(pool_sum, x.T, cols, rows) is None
    assert frule((NoTangent(), x, NoTangent(), NoTangent()), pool_sum, x, rows, cols) is None


def test_pool_sum_of_a_zero_tangent_is_a_zero_tangent() -> None:
    x, rows, cols = np.ones((4, 3)), segments(4, 3), segments(3, 2)
    y, dy = frule((NoTangent(), ZeroTangent(), NoTangent(), NoTangent()), pool_sum, x, rows, cols)
    np.testing.assert_array_equal(y, pool_sum(x, rows, cols))
    assert dy is ZeroTangent()


def test_pool_has_a_rule_for_hausdorff_alone() -> None:
    x, halves = np.random.default_rng(0).random((4, 4)), segments(4, 2)
    assert rrule(pool, x, halves, halves) is None
    assert rrule(pool, x, halves, halves, np.sum) is None
    assert rrule(pool, x, halves, halves, lambda block: hausdorff(block)) is None
    for y, _ in (rrule(pool, x, halves, halves, hausdorff), rrule(pool, x, halves, halves, f=hausdorff)):
        np.testing.assert_array_equal(y, pool(x, halves, halves, hausdorff))


def test_hausdorff_is_the_distance_of_two_point_sets() -> None:
    from scipy.spatial.distance import cdist, directed_hausdorff

    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.random((5, 2)), rng.random((3, 2))
        expected = max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])
        assert hausdorff(cdist(a, b)) == pytest.approx(expected)


def test_hausdorff_pooling_accumulates_where_blocks_share_an_entry() -> None:
    x = np.array([[1.0, 9.0, 9.0], [9.0, 5.0, 9.0], [9.0, 9.0, 1.0]])
    windows = [slice(0, 2), slice(1, 3)]
    y, pullback = rrule(pool, x, windows, windows, hausdorff)
    np.testing.assert_array_equal(y, [[5, 9], [9, 5]])
    _, xbar = pullback(np.array([[1.0, 0.0], [0.0, 10.0]]))
    np.testing.assert_array_equal(xbar, [[0, 0, 0], [0, 11, 0], [0, 0, 0]])


def test_hausdorff_pooling_leaves_zero_what_is_in_no_block() -> None:
    x = np.random.default_rng(0).random((5, 5))
    y, pullback = rrule(pool, x, [slice(1, 3)], [slice(2, 5)], hausdorff)
    _, xbar = pullback(np.array([[3.0]]))
    assert xbar.sum() == 3
    assert x[xbar != 0] == y
    xbar[1:3, 2:5] = 0
    assert not xbar.any()


def test_hausdorff_pooling_searches_in_the_forward_pass_alone() -> None:
    x = np.random.default_rng(0).random((4, 4))
    halves = segments(4, 2)
    _, pullback = rrule(pool, x, halves, halves, hausdorff)
    before = pullback(np.ones((2, 2)))[1]
    x[...] = x[::-1, ::-1].copy()
    np.testing.assert_array_equal(pullback(np.ones((2, 2)))[1], before)


def test_hausdorff_pooling_chooses_one_entry_at_a_tie() -> None:
    _, pullback = rrule(pool, np.ones((3, 3)), [slice(0, 3)], [slice(0, 3)], hausdorff)
    np.testing.assert_array_equal(pullback(np.array([[2.0]]))[1], [[2, 0, 0], [0, 0, 0], [0, 0, 0]])


def test_rotary_turns_pairs_and_counts_positions_from_one() -> None:
    rng = np.random.default_rng(0)
    x, theta = rng.standard_normal((4, 6)), rng.standard_normal(3)
    turned = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * np.arange(1, 5)[:, None] * theta)
    y = rotary(x, theta)
    np.testing.assert_allclose(y[:, 0::2] + 1j * y[:, 1::2], turned)
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), np.linalg.norm(x, axis=1))


def test_rotary_cotangents_are_thunks() -> None:
    _, pullback = rrule(rotary, np.ones((3, 4)), np.ones(2))
    _, xbar, thetabar = pullback(np.ones((3, 4)))
    assert isinstance(xbar, Thunk)
    assert isinstance(thetabar, Thunk)


def test_rotary_frule_leaves_out_what_does_not_move() -> None:
    rng = np.random.default_rng(0)
    x, theta = rng.standard_normal((4, 6)), rng.standard_normal(3)
    dx, dtheta = rng.standard_normal((4, 6)), rng.standard_normal(3)
    _, both = frule((NoTangent(), dx, dtheta), rotary, x, theta)
    _, along_x = frule((NoTangent(), dx, ZeroTangent()), rotary, x, theta)
    _, along_theta = frule((NoTangent(), NoTangent(), dtheta), rotary, x, theta)
    np.testing.assert_allclose(along_x + along_theta, both)


@pytest.mark.parametrize(
    ("x", "theta", "problem", "advice"),
    [
        ((4, 5), (2,), "x of shape (4, 5) cannot be cut into pairs", "(positions, d) with an even d"),
        ((6,), (3,), "x of shape (6,) cannot be cut into pairs", "(positions, d) with an even d"),
        ((4, 6), (6,), "theta of shape (6,) does not fit x of shape (4, 6)", "give theta the shape (3,)"),
        ((4, 6), (1, 3), "theta of shape (1, 3) does not fit x of shape (4, 6)", "give theta the shape (3,)"),
        ((4, 6), (), "theta of shape () does not fit x of shape (4, 6)", "give theta the shape (3,)"),
    ],
)
def test_rotary_says_which_size_is_wrong_and_what_to_give(
    x: tuple[int, ...], theta: tuple[int, ...], problem: str, advice: str
) -> None:
    arrays = np.ones(x), np.ones(theta)
    for call in (rotary, lambda *args: rrule(rotary, *args), lambda *args: frule((NoTangent(), *args), rotary, *args)):
        with pytest.raises(ValueError) as error:
            call(*arrays)
        message = str(error.value)
        assert message.startswith("rotary(x, theta) turns")
        assert problem in message
        assert advice in message


def test_rotary_refuses_complex_numbers() -> None:
    with pytest.raises(TypeError, match=r"got complex ones: .* write"):
        rotary(np.ones((2, 2)), np.ones(1) * 1j)
