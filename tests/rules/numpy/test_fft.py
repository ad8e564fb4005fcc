"""The rules of numpy.fft, against the sums that define the transforms and against what the peers get wrong."""

import itertools

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

NORMS = (None, "backward", "ortho", "forward")
ONE_AXIS = [getattr(np.fft, name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")]
SEVERAL_AXES = [getattr(np.fft, kind + n) for kind in ("fft", "ifft", "rfft", "irfft") for n in ("2", "n")]
TRANSFORMS = {f.__name__: f for f in (*ONE_AXIS, *SEVERAL_AXES)}
REAL_INPUT = ("rfft", "ihfft", "rfft2", "rfftn")
BY_NAME = pytest.mark.parametrize("f", TRANSFORMS.values(), ids=TRANSFORMS)


def cotangent(f, a, ybar, *args, **keywords):
    _, pullback = rrule(f, a, *args, **keywords)
    return unthunk(pullback(ybar)[1])


def argument(f, rng, *shape):
    x = rng.standard_normal(shape)
    return x if f.__name__ in REAL_INPUT else x + 1j * rng.standard_normal(shape)


def directions(a):
    """A basis of the real vector space that ``a`` is in."""
    for index in np.ndindex(a.shape):
        for unit in (1, 1j) if np.iscomplexobj(a) else (1,):
            e = np.zeros_like(a)
            e[index] = unit
            yield index, unit, e


def adjoint_by_columns(f, a, ybar):
    """x̄ from the matrix of the transform, column by column: ⟨ȳ, f(e)⟩ for every direction e."""
    abar = np.zeros_like(a)
    for index, unit, e in directions(a):
        abar[index] += unit * np.real(np.vdot(ybar, f(e)))
    return abar


@pytest.mark.parametrize("f", [*TRANSFORMS.values(), np.fft.fftshift, np.fft.ifftshift], ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("f", ONE_AXIS, ids=lambda f: f.__name__)
def test_pullback_is_the_transposed_matrix_for_every_length_and_norm(f, norm):
    rng = np.random.default_rng(0)
    for length, n in itertools.product((2, 3, 4, 5), (None, 1, 2, 3, 4, 5, 6, 7, 9)):
        a = argument(f, rng, length)
        y = f(a, n, norm=norm)
        ybar = rng.standard_normal(y.shape) + (1j * rng.standard_normal(y.shape) if np.iscomplexobj(y) else 0)
        wanted = adjoint_by_columns(lambda e, n=n: f(e, n, norm=norm), a, ybar)
        np.testing.assert_allclose(cotangent(f, a, ybar, n, norm=norm), wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("f", SEVERAL_AXES, ids=lambda f: f.__name__)
def test_pullback_is_the_transposed_matrix_for_several_axes(f, norm):
    rng = np.random.default_rng(0)
    a = argument(f, rng, 2, 3, 4)
    forms = [{}, {"axes": (0, 2)}, {"axes": (-1, -3)}, {"s": (3, 2), "axes": (1, 0)}, {"s": (1, 5), "axes": (-2, -1)}]
    forms += [{"s": (-1, 3), "axes": np.array([2, 0])}, {"s": [2], "axes": [1]}]
    for form in forms:
        y = f(a, norm=norm, **form)
        ybar = rng.standard_normal(y.shape) + (1j * rng.standard_normal(y.shape) if np.iscomplexobj(y) else 0)
        wanted = adjoint_by_columns(lambda e, form=form: f(e, norm=norm, **form), a, ybar)
        np.testing.assert_allclose(cotangent(f, a, ybar, norm=norm, **form), wanted, rtol=1e-13, atol=1e-13)


def test_cotangent_of_fft_is_the_defining_sum():
    rng = np.random.default_rng(0)
    a, ybar = (argument(np.fft.fft, rng, 5) for _ in range(2))
    j = np.arange(5)
    matrix = np.exp(-2j * np.pi * np.outer(j, j) / 5)
    np.testing.assert_allclose(cotangent(np.fft.fft, a, ybar), matrix.conj().T @ ybar, rtol=1e-14)


# ---------------------------------------------------------------- what the peers get wrong


def test_one_frequency_of_real_numbers():
    ybar = np.array([0, 1, 0], complex)
    np.testing.assert_allclose(cotangent(np.fft.fft, np.array([1.0, 2.0, 3.0]), ybar), [1, -0.5, -0.5])


def test_rfft_of_odd_length():
    np.testing.assert_allclose(cotangent(np.fft.rfft, np.ones(5), np.ones(3, complex)), [3, 0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(("norm", "factor"), [(None, 1), ("backward", 1), ("ortho", 0.5), ("forward", 0.25)])
def test_rfft_with_every_norm(norm, factor):
    # y₀ = Σ a and y₂ = Σ (-1)ʲ aⱼ, times the factor.
    abar = cotangent(np.fft.rfft, np.ones(4), np.array([1, 0, 1], complex), norm=norm)
    np.testing.assert_allclose(abar, np.array([2, 0, 2, 0]) * factor)


def test_length_by_keyword_and_by_position_agree():
    x, ybar = np.arange(4.0), np.arange(6) + 1j
    by_keyword, by_position = cotangent(np.fft.rfft, x, ybar, n=10), cotangent(np.fft.rfft, x, ybar, 10)
    np.testing.assert_array_equal(by_keyword, by_position)
    np.testing.assert_allclose(by_keyword[0], 15)  # the real parts of ȳ: 0 + 1 + ... + 5


def test_irfft_doubles_the_inner_frequencies():
    # The first output is (Re a₀ + 2 Re a₁ + Re a₂) / 4.
    abar = cotangent(np.fft.irfft, np.ones(3, complex), np.array([4.0, 0, 0, 0]))
    np.testing.assert_allclose(abar, [1, 2, 1])


@pytest.mark.parametrize("f", [np.fft.irfft, np.fft.hfft], ids=lambda f: f.__name__)
def test_imaginary_parts_that_the_output_ignores_get_exactly_zero(f):
    rng = np.random.default_rng(0)
    for length, n in ((4, 6), (4, 7), (4, 4), (1, 1), (1, 2)):
        abar = cotangent(f, argument(f, rng, length), rng.standard_normal(n), n)
        assert abar.imag[0] == 0
        assert not abar.imag[n // 2 :].any() or n % 2


def test_constant_cotangent_of_irfft_reaches_only_the_mean():
    abar = cotangent(np.fft.irfft, np.array([2 + 1j, -1, 1j]), np.ones(4))
    np.testing.assert_array_equal(abar, [1, 0, 0])


def test_what_is_cut_off_gets_exactly_zero():
    np.testing.assert_array_equal(cotangent(np.fft.fft, np.ones(5), np.ones(3, complex), 3), [3, 0, 0, 0, 0])


# ---------------------------------------------------------------- types and keywords


@BY_NAME
def test_single_precision_stays_single_precision(f):
    rng = np.random.default_rng(0)
    a = argument(f, rng, 4, 6)
    a = a.astype(np.complex64 if np.iscomplexobj(a) else np.float32)
    for norm in NORMS:
        y, dy = frule((NoTangent(), a), f, a, norm=norm)
        assert dy.dtype == y.dtype == f(a, norm=norm).dtype
        assert y.dtype in (np.float32, np.complex64)
        abar = cotangent(f, a, y, norm=norm)
        assert (abar.dtype, abar.shape) == (a.dtype, a.shape)


@BY_NAME
def test_only_out_of_none_has_a_rule(f):
    a = np.ones((2, 4))
    out = np.zeros_like(f(a))
    for arguments, keywords in (((), {"out": out}), ((None, -1, None, out), {}), ((), {"overwrite": True})):
        assert rrule(f, a, *arguments, **keywords) is None
        assert frule((NoTangent(), a, *[NoTangent()] * len(arguments)), f, a, *arguments, **keywords) is None
    assert not out.any()
    assert rrule(f, a, out=None) is not None


@BY_NAME
def test_integers_have_no_tangent(f):
    _, pullback = rrule(f, np.arange(8).reshape(2, 4))
    assert pullback(f(np.ones((2, 4)))) == (NoTangent(),)


def test_shifts_are_undone():
    x, ybar = np.zeros((2, 5)), np.arange(10.0).reshape(2, 5)
    np.testing.assert_array_equal(cotangent(np.fft.fftshift, x, ybar, axes=1)[0], [2, 3, 4, 0, 1])
    np.testing.assert_array_equal(cotangent(np.fft.ifftshift, x, ybar, axes=1)[0], [3, 4, 0, 1, 2])
    assert rrule(np.fft.fftshift, x, unknown=1) is None


# ---------------------------------------------------------------- frequencies


@pytest.mark.parametrize("f", [np.fft.fftfreq, np.fft.rfftfreq], ids=lambda f: f.__name__)
def test_frequencies_are_inverse_to_the_spacing(f):
    """y = k / (n d), so that dy/dd = -y / d; NumPy's own code is differentiated to the same."""
    for n, d in ((6, 0.5), (5, -0.25), (1, 2.0)):
        y = f(n, d)
        ybar = np.arange(1.0, len(y) + 1)
        wanted = -np.sum(y * ybar) / d
        np.testing.assert_allclose(cotangent_of_spacing(f, n, d, ybar), wanted)
        np.testing.assert_allclose(grad(lambda d, n=n, ybar=ybar: np.sum(f(n, d) * ybar))(d), wanted)
        np.testing.assert_allclose(frule((NoTangent(), NoTangent(), 2.0), f, n, d)[1], -2 * y / d)


def cotangent_of_spacing(f, n, d, ybar):
    return unthunk(rrule(f, n, d)[1](ybar)[2])


def test_the_default_spacing_and_integers_have_no_derivative():
    assert rrule(np.fft.fftfreq, 4)[1](np.ones(4)) == (NoTangent(),)
    assert cotangent_of_spacing(np.fft.fftfreq, 4, 2, np.ones(4)) is NoTangent()
    assert cotangent_of_spacing(np.fft.fftfreq, 4, 2.0, ZeroTangent()) is ZeroTangent()
