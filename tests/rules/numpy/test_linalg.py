"""What the rule of the inverse answers, against inverses that can be written down."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule
from testutils.sampling import samples_of
from testutils.testers import check_sample


@pytest.mark.parametrize("sample", samples_of(np.linalg.inv, seed=1), ids=lambda sample: sample.id)
def test_inv_agrees_with_finite_differences(sample):
    report = check_sample(np.linalg.inv, sample)
    assert report.verdict == "pass", str(report)


def test_inv_of_a_number_as_a_matrix_has_the_derivative_of_one_over_x():
    y, pullback = rrule(np.linalg.inv, np.array([[2.0]]))
    assert y.tolist() == [[0.5]]
    assert pullback(np.array([[1.0]]))[1].tolist() == [[-0.25]]
    assert frule((NoTangent(), np.array([[1.0]])), np.linalg.inv, np.array([[2.0]]))[1].tolist() == [[-0.25]]


def test_inv_of_a_complex_number_follows_the_convention_for_complex_cotangents():
    _, pullback = rrule(np.linalg.inv, np.array([[2j]]))
    # 1/z has the derivative -1/z² = 1/4, and the cotangent is conj(1/4) times that of the output.
    assert pullback(np.array([[1j]]))[1].tolist() == [[0.25j]]


def test_zeros_stay_zeros():
    _, pullback = rrule(np.linalg.inv, np.eye(2))
    assert pullback(ZeroTangent()) == (NoTangent(), ZeroTangent())
    assert frule((NoTangent(), ZeroTangent()), np.linalg.inv, np.eye(2))[1] is ZeroTangent()


def test_an_integer_matrix_has_no_tangent():
    assert rrule(np.linalg.inv, np.eye(2, dtype=int))[1](np.ones((2, 2))) == (NoTangent(), NoTangent())


def test_a_singular_matrix_raises_what_numpy_raises():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        rrule(np.linalg.inv, np.zeros((2, 2)))
