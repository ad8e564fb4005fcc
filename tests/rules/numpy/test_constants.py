"""The functions without derivative answer NoTangent in both modes, and every keyword is theirs."""

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

DECLARED = [f for f in rrule if any(r.module == "rules.numpy.constants" for r in rrule.records(f))]


def test_there_is_something_to_test():
    assert {np.argmax, np.nonzero, np.shape, np.allclose, np.zeros_like, np.round} <= set(DECLARED)


@pytest.mark.parametrize("f", DECLARED, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    samples = samples_of(f, seed=1)
    assert samples
    for sample in samples:
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("f", DECLARED, ids=lambda f: f.__name__)
def test_both_tables_tag_it_as_constant(f):
    for table in (rrule, frule):
        (record,) = table.records(f)
        assert "non-differentiable" in record.tags


@pytest.mark.parametrize(
    ("f", "args", "kwargs", "wanted"),
    [
        (np.argmax, (np.array([1.0, 3.0, 2.0]),), {}, 1),
        (np.argmin, (np.array([[1.0, 3.0], [2.0, 0.0]]),), {"axis": 0, "keepdims": True}, [[0, 1]]),
        (np.argsort, (np.array([3.0, 1.0, 2.0]),), {"kind": "stable"}, [1, 2, 0]),
        (np.searchsorted, (np.array([1.0, 2.0]), 1.5), {"side": "right"}, 1),
        (np.digitize, (np.array([0.5, 1.5]), np.array([0.0, 1.0])), {"right": True}, [1, 2]),
        (np.isclose, (1.0, np.array([1.0, 2.0])), {"rtol": 0.1}, [True, False]),
        (np.any, (np.array([[0.0, 1.0]]),), {"axis": 0}, [False, True]),
        (np.count_nonzero, (np.array([[0.0, 1.0]]),), {"axis": 1}, [1]),
        (np.zeros_like, (np.ones(2, np.float32),), {"dtype": complex}, [0j, 0j]),
        (np.size, (np.ones((2, 3)), 1), {}, 3),
        (np.round, (np.array([0.16, 2.54]), 1), {}, [0.2, 2.5]),
        (np.fix, (np.array([-1.5, 1.5]),), {}, [-1, 1]),
        (np.linalg.matrix_rank, (np.ones((2, 2)),), {"hermitian": True}, 1),
    ],
)
def test_the_value_is_numpy_s_own_and_the_derivative_absent(f, args, kwargs, wanted):
    y, pullback = rrule(f, *args, **kwargs)
    np.testing.assert_array_equal(y, wanted)
    assert pullback(1.0) == (NoTangent(),)
    y, dy = frule((NoTangent(), *[1.0] * len(args)), f, *args, **kwargs)
    np.testing.assert_array_equal(y, wanted)
    assert dy is NoTangent()


def test_methods_are_declared_too():
    x = np.array([2.0, 1.0])
    for method in (np.ndarray.argmax, np.ndarray.argsort, np.ndarray.any, np.ndarray.nonzero):
        assert rrule(method, x)[1](1.0) == (NoTangent(),)
