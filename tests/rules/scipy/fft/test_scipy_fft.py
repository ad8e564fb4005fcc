"""The rules of scipy.fft: every transform against its matrix, and the adjoint identity ⟨Ax, y⟩ = ⟨x, Aᴴy⟩."""

import itertools

import mpmath
import numpy as np
import pytest
import scipy.fft

from rulescore import NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives

FFTS = [getattr(scipy.fft, inverse + kind) for kind in ("fft", "rfft", "hfft") for inverse in ("", "i")]
SEVERAL = [getattr(scipy.fft, f.__name__ + ending) for f in FFTS for ending in ("2", "n")]
REAL = [getattr(scipy.fft, prefix + kind) for kind in ("dct", "dst") for prefix in ("", "i")]
REAL_SEVERAL = [getattr(scipy.fft, f.__name__ + "n") for f in REAL]
NORMS = (None, "backward", "ortho", "forward")
NAMED = {"ids": lambda f: getattr(f, "__name__", str(f))}


def argument(f, rng, *shape):
    x = rng.standard_normal(shape)
    takes_real = f in REAL + REAL_SEVERAL or f.__name__.startswith(("rfft", "ihfft"))
    return x if takes_real else x + 1j * rng.standard_normal(shape)


def cotangent(f, x, ybar, *args, **keywords):
    _, pullback = rrule(f, x, *args, **keywords)
    return unthunk(pullback(ybar)[1])


def assert_adjoint(f, x, *args, **keywords):
    """Re⟨f(x), ȳ⟩ = Re⟨x, x̄⟩ for a random ȳ, in forward mode too."""
    rng = np.random.default_rng(1)
    y = f(x, *args, **keywords)
    ybar = rng.standard_normal(y.shape) + (1j * rng.standard_normal(y.shape) if np.iscomplexobj(y) else 0)
    xbar = cotangent(f, x, ybar, *args, **keywords)
    assert (xbar.shape, xbar.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(np.real(np.vdot(ybar, y)), np.real(np.vdot(xbar, x)), rtol=1e-12, atol=1e-12)
    tangents = (NoTangent(), x, *[NoTangent()] * len(args))
    np.testing.assert_array_equal(frule(tangents, f, x, *args, **keywords)[1], y)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("f", FFTS, **NAMED)
def test_transforms_of_one_axis_are_adjoint(f, norm):
    rng = np.random.default_rng(0)
    for length, n in itertools.product((2, 3, 4, 5), (None, 1, 2, 3, 6, 7)):
        assert_adjoint(f, argument(f, rng, 2, length), n, norm=norm)


@pytest.mark.parametrize("f", SEVERAL, **NAMED)
def test_transforms_of_several_axes_are_adjoint(f):
    rng = np.random.default_rng(0)
    x = argument(f, rng, 2, 3, 4)
    for norm, form in itertools.product(
        NORMS, ({}, {"axes": 1}, {"axes": (0, 2)}, {"s": 5, "axes": -2}, {"s": (3, 2), "axes": (2, 0)}, {"s": (-1, 3)})
    ):
        if f.__name__.endswith("2") and np.ndim(form.get("axes", (0, 0))) == 0:
            form = {"axes": (0, 1)}
        assert_adjoint(f, x, norm=norm, **form)


@pytest.mark.parametrize("f", [scipy.fft.irfftn, scipy.fft.hfft2, scipy.fft.hfftn, scipy.fft.irfft2], **NAMED)
def test_half_spectra_of_one_frequency(f):
    """SciPy takes them for those of one number, of which the formula for the length makes none."""
    x = np.array([[1.0 + 2j], [0.5 - 1j]])
    assert_adjoint(f, x)
    assert_adjoint(f, x, norm="ortho")


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("f", REAL, **NAMED)
def test_real_transforms_are_the_transposed_matrices(f, type):
    for n, norm, orthogonalize in itertools.product((2, 3, 6), NORMS, (None, False, True)):
        options = {"norm": norm, "orthogonalize": orthogonalize}
        matrix = f(np.eye(n), type, axis=0, **options)
        for length in (2, 4, 6):
            ybar = np.cos(np.arange(n) + 0.5)
            xbar = cotangent(f, np.ones(length), ybar, type, n, **options)
            wanted = np.zeros(length)
            wanted[: min(n, length)] = (matrix.T @ ybar)[:length]
            np.testing.assert_allclose(xbar, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("f", REAL_SEVERAL, **NAMED)
def test_real_transforms_of_several_axes_are_adjoint(f):
    x = np.random.default_rng(0).standard_normal((3, 2, 4))
    for type, norm, orthogonalize in itertools.product((1, 2, 3, 4), NORMS, (None, False, True)):
        assert_adjoint(f, x, type, (5, 3), (-1, 0), norm, orthogonalize=orthogonalize)
        assert_adjoint(f, x, type, norm=norm)


@pytest.mark.parametrize("f", REAL + REAL_SEVERAL, **NAMED)
def test_an_option_that_scipy_ignores_for_complex_numbers_is_declined(f):
    x = np.ones(4) + 1j
    assert rrule(f, x, orthogonalize=True) is None
    assert frule((NoTangent(), x), f, x, norm="ortho", orthogonalize=False) is None
    assert_adjoint(f, x, norm="ortho", orthogonalize=True)


@pytest.mark.parametrize("f", FFTS + SEVERAL + REAL + REAL_SEVERAL, **NAMED)
def test_permission_to_overwrite_is_not_used_and_single_precision_stays(f):
    rng = np.random.default_rng(0)
    x = argument(f, rng, 4, 6)
    x = x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)
    before = x.copy()
    y, pullback = rrule(f, x, overwrite_x=True)
    assert y.dtype in (np.float32, np.complex64)
    assert unthunk(pullback(y)[1]).dtype == x.dtype
    assert frule((NoTangent(), x), f, x, overwrite_x=True)[1].dtype == y.dtype
    np.testing.assert_array_equal(x, before)


def test_integers_have_no_tangent_and_zero_stays_zero():
    assert rrule(scipy.fft.fft, np.arange(4))[1](np.ones(4)) == (NoTangent(),)
    assert rrule(scipy.fft.dct, np.ones(4))[1](ZeroTangent())[1] is ZeroTangent()


# ---------------------------------------------------------------- Hankel transforms


def test_hankel_transforms_are_symmetric():
    for f, bias, offset, n in itertools.product((scipy.fft.fht, scipy.fft.ifht), (0.0, 0.3), (0.0, 0.2), (6, 7)):
        options = {"offset": offset, "bias": bias}
        matrix = np.stack([f(e, 0.1, 0.5, **options) for e in np.eye(n)])
        ybar = np.sin(np.arange(n) + 1.0)
        xbar = cotangent(f, np.ones(n), ybar, 0.1, 0.5, **options)
        np.testing.assert_allclose(xbar, matrix @ ybar, rtol=1e-11)


@pytest.mark.parametrize("dtype", [float, int])
def test_other_arguments_of_the_hankel_transform_are_never_a_silent_zero(dtype):
    _, pullback = rrule(scipy.fft.fht, np.ones(4, dtype), 0.1, 0.5)
    assert all(isinstance(bar, NotImplementedTangent) for bar in pullback(np.ones(4))[2:4])


def test_offset_of_low_ringing_has_the_derivatives_of_its_formula():
    mpmath.mp.dps = 40

    def offset(dln, mu, bias):
        zs = [(mu + 1 + sign * bias) / 2 + 1j * mpmath.pi / (2 * dln) for sign in (1, -1)]
        argument = mpmath.log(2) / dln + sum(mpmath.im(mpmath.loggamma(z)) for z in zs) / mpmath.pi
        return (argument - jump) * dln

    arguments = (0.07, 0.3, 0.4)
    y = scipy.fft.fhtoffset(*arguments[:2], bias=arguments[2])
    jump = 0
    jump = mpmath.nint((offset(*map(mpmath.mpf, arguments)) - y) / arguments[0])
    _, pullback = rrule(scipy.fft.fhtoffset, 0.07, 0.3, 0.0, 0.4)
    bars = [unthunk(bar) for bar in pullback(1.0)[1:]]
    for i, bar in ((0, bars[0]), (1, bars[1]), (2, bars[3])):

        def of_one(value, i=i):
            return offset(*[value if j == i else mpmath.mpf(x) for j, x in enumerate(arguments)])

        np.testing.assert_allclose(float(bar), float(mpmath.diff(of_one, arguments[i])), rtol=1e-9)
    assert bars[2] == 0


def test_the_derivative_reaches_scipys_function_through_primitives():
    fft = primitives(scipy.fft)
    x = np.array([1.0, 2.0, 3.0])
    gradient = grad(lambda x: np.real(fft.fft(x)[1]))(x)
    np.testing.assert_allclose(gradient, [1, -0.5, -0.5], atol=1e-15)
    second = grad(lambda x: np.sum(grad(lambda x: np.sum(fft.dct(x) ** 3))(x) * x))(x)
    matrix = scipy.fft.dct(np.eye(3), axis=0)
    np.testing.assert_allclose(second, matrix.T @ (9 * (matrix @ x) ** 2), rtol=1e-12)
