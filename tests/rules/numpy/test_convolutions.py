"""What the rules of convolutions answer: the defining sums, in every mode, and what they cost."""

import numpy as np
import pytest

from rules.numpy.convolutions import convolve_rrule
from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk

FUNCTIONS = pytest.mark.parametrize("f", [np.convolve, np.correlate], ids=["convolve", "correlate"])


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def complex_numbers(rng, n):
    return rng.standard_normal(n) + 1j * rng.standard_normal(n)


def matrix_of(linear, n, m):
    """The matrix of a linear map of n numbers to m, column by column."""
    return np.stack([linear(e) for e in np.eye(n)], axis=1).reshape(m, n)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@FUNCTIONS
def test_cotangents_are_the_adjoint_matrices_for_all_lengths(f, mode):
    rng = np.random.default_rng(0)
    for n in range(1, 7):
        for m in range(1, 7):
            a, v = complex_numbers(rng, n), complex_numbers(rng, m)
            y = f(a, v, mode)
            ybar = complex_numbers(rng, len(y))
            abar, vbar = cotangents(f, a, v, mode=mode, ybar=ybar)
            of_a = matrix_of(lambda e, v=v: f(e, v, mode), n, len(y))
            # A correlation conjugates its second argument; of real unit vectors it is linear.
            of_v = matrix_of(lambda e, a=a: f(a, e, mode), m, len(y))
            np.testing.assert_allclose(abar, of_a.conj().T @ ybar, atol=1e-13)
            wanted = of_v.conj().T @ ybar
            np.testing.assert_allclose(vbar, wanted if f is np.convolve else wanted.conj(), atol=1e-13)


def test_the_cotangent_of_a_filtered_signal_is_filtered_with_the_filter_turned_around():
    kernel = np.array([1.0, 2.0, 4.0])
    abar, kernel_bar = cotangents(np.convolve, np.array([1.0, 10.0]), kernel, ybar=np.array([0, 1.0, 0, 0]))
    assert abar.tolist() == [2, 1]
    assert kernel_bar.tolist() == [10, 1, 0]


def test_correlation_conjugates_its_second_argument():
    abar, vbar = cotangents(np.correlate, np.array([1 + 2j]), np.array([3 - 1j]), ybar=np.array([1j]))
    # y = a conj(v): ā = ȳ v, v̄ = conj(ȳ) a
    assert abar.tolist() == [1j * (3 - 1j)]
    assert vbar.tolist() == [-1j * (1 + 2j)]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@FUNCTIONS
def test_pushforward_and_pullback_are_transposes(f, mode):
    rng = np.random.default_rng(1)
    for n, m in ((5, 3), (3, 4), (4, 4), (7, 2)):
        a, v, da, dv = (complex_numbers(rng, k) for k in (n, m, n, m))
        y, dy = frule((NoTangent(), da, dv, NoTangent()), f, a, v, mode)
        ybar = complex_numbers(rng, len(y))
        abar, vbar = cotangents(f, a, v, mode=mode, ybar=ybar)
        np.testing.assert_allclose(np.vdot(ybar, dy).real, (np.vdot(abar, da) + np.vdot(vbar, dv)).real)


@FUNCTIONS
def test_a_real_factor_gets_a_real_cotangent_and_an_integer_one_none(f):
    abar, vbar = cotangents(f, np.ones(3), np.arange(2), mode="full", ybar=np.ones(4))
    assert abar.dtype == float
    assert vbar is NoTangent()
    abar, _ = cotangents(f, np.ones(3), np.ones(2) + 1j, mode="full", ybar=np.ones(4) + 0j)
    assert abar.dtype == float


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.longdouble])
@FUNCTIONS
def test_precision_is_kept_both_ways(f, dtype):
    a, v = np.ones(4, dtype), np.ones(3, dtype)
    y, dy = frule((NoTangent(), a, v, NoTangent()), f, a, v, "same")
    assert y.dtype == dy.dtype == dtype
    assert [bar.dtype for bar in cotangents(f, a, v, mode="same", ybar=y)] == [dtype, dtype]


@FUNCTIONS
def test_zero_cotangents_stay_zero(f):
    assert cotangents(f, np.ones(3), np.ones(2), ybar=ZeroTangent()) == [ZeroTangent()] * 2
    dy = frule((NoTangent(), ZeroTangent(), NoTangent()), f, np.ones(3), np.arange(2))[1]
    assert dy is ZeroTangent() or dy is NoTangent()


@FUNCTIONS
def test_empty_arguments_are_numpys_error(f):
    for args in ((np.ones(0), np.ones(2)), (np.ones(2), np.ones(0))):
        with pytest.raises(ValueError, match="empty"):
            rrule(f, *args)


def test_the_cotangents_of_a_valid_convolution_cost_no_more_products_than_it_has(monkeypatch):
    """Of two long factors of nearly one length it is cheap, and a full convolution is not."""
    lengths = []
    for name in ("convolve", "correlate"):
        plain = getattr(np, name)

        def counted(a, v, *mode, plain=plain):
            y = plain(a, v, *mode)
            lengths.append(min(len(a), len(v)) * len(y))
            return y

        monkeypatch.setattr(np, name, counted)
    n = 2000
    y, pullback = convolve_rrule(np.ones(n), np.ones(n - 3), "valid")
    (of_primal,) = lengths
    for bar in pullback(y)[1:]:
        unthunk(bar)
    assert max(lengths) <= 2 * of_primal
