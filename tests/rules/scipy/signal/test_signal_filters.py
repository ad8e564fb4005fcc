"""The rules of linear filters against the matrices of the filters, and against complex steps through the recursion."""

import numpy as np
import pytest
import scipy.signal

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives

signal = primitives(scipy.signal)


def recursion(b, a, x, zi=None):
    """What `scipy.signal.lfilter` does with one signal, in numbers of any type: (y, z_f)."""
    order = max(len(a), len(b)) - 1
    b = [*b, *[0] * (order + 1 - len(b))]
    a = [*a, *[0] * (order + 1 - len(a))]
    z, y = [0] * order if zi is None else list(zi), []
    for sample in x:
        y.append(b[0] / a[0] * sample + (z[0] if order else 0))
        z = [
            b[k + 1] / a[0] * sample - a[k + 1] / a[0] * y[-1] + (z[k + 1] if k + 1 < order else 0)
            for k in range(order)
        ]
    return np.array(y), np.array(z)


def complex_step(f, values, which):
    """The gradient of a real f with respect to one of several lists of numbers, to rounding error."""
    gradient = []
    for i in range(len(values[which])):
        moved = [np.array(v, complex) for v in values]
        moved[which][i] += 1e-30j
        gradient.append(np.imag(f(*moved)) / 1e-30)
    return gradient


@pytest.mark.parametrize("length_b", [1, 2, 4])
@pytest.mark.parametrize("length_a", [1, 2, 3])
@pytest.mark.parametrize("length_x", [1, 2, 7])
def test_all_cotangents_of_a_filter_with_states(length_b, length_a, length_x):
    """Coefficients, signal and initial state, from the cotangents of output and final state."""
    rng = np.random.default_rng(0)
    b, x = rng.standard_normal(length_b), rng.standard_normal(length_x)
    a = np.concatenate([[1.7], rng.uniform(-0.4, 0.4, length_a - 1)])
    zi = rng.standard_normal(max(length_a, length_b) - 1)
    ybar, zf_bar = rng.standard_normal(length_x), rng.standard_normal(len(zi))

    def loss(b, a, x, zi):
        y, zf = recursion(b, a, x, zi)
        return y @ ybar + zf @ zf_bar

    (y, zf), pullback = rrule(scipy.signal.lfilter, b, a, x, -1, zi)
    np.testing.assert_allclose(y, recursion(b, a, x, zi)[0], rtol=1e-13)
    np.testing.assert_allclose(zf, recursion(b, a, x, zi)[1], rtol=1e-12, atol=1e-13)
    bars = [unthunk(bar) for bar in pullback((ybar, zf_bar))]
    for place, which in ((1, 0), (2, 1), (3, 2), (5, 3)):
        wanted = complex_step(loss, (b, a, x, zi), which)
        np.testing.assert_allclose(bars[place], wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("length_b", "length_a"), [(m, n) for m in (1, 3, 70) for n in (1, 3)])
def test_all_cotangents_of_a_filter_without_states(length_b, length_a):
    rng = np.random.default_rng(0)
    b, x, ybar = rng.standard_normal(length_b), rng.standard_normal(9), rng.standard_normal(9)
    a = np.concatenate([[1.7], rng.uniform(-0.4, 0.4, length_a - 1)])
    _, pullback = rrule(scipy.signal.lfilter, b, a, x)
    for place, bar in enumerate(pullback(ybar)[1:]):
        wanted = complex_step(lambda b, a, x: recursion(b, a, x)[0] @ ybar, (b, a, x), place)
        np.testing.assert_allclose(unthunk(bar), wanted, rtol=1e-11, atol=1e-12)


def test_a_filter_of_complex_numbers_is_adjoint():
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)

    b, a, x, dx, ybar = normal(3), np.array([1.2 + 0.1j, 0.3j, -0.2]), normal(2, 6), normal(2, 6), normal(2, 6)
    xbar = unthunk(rrule(scipy.signal.lfilter, b, a, x)[1](ybar)[3])
    np.testing.assert_allclose(np.vdot(ybar, scipy.signal.lfilter(b, a, dx)), np.vdot(xbar, dx), rtol=1e-12)


def test_only_the_final_state_may_have_a_cotangent():
    b, a, x, zi = np.array([1.0, 0.5]), np.array([2.0, -0.5]), np.array([1.0, 2.0]), np.array([0.25])
    _, pullback = rrule(scipy.signal.lfilter, b, a, x, -1, zi)
    bars = [unthunk(bar) for bar in pullback((ZeroTangent(), np.array([1.0])))]
    for place, which in ((1, 0), (2, 1), (3, 2), (5, 3)):
        wanted = complex_step(lambda *v: recursion(*v)[1][0], (b, a, x, zi), which)
        np.testing.assert_allclose(bars[place], wanted, rtol=1e-13)
    assert pullback(ZeroTangent())[3] is ZeroTangent()


def test_the_first_denominator_of_a_section_is_a_constant():
    """SciPy wants it to be 1, and takes it for that, so the output does not depend on it."""
    sos = scipy.signal.butter(4, 0.3, output="sos")
    x = np.cos(np.arange(9.0) ** 2)
    sos_bar = unthunk(rrule(scipy.signal.sosfilt, sos, x)[1](np.ones(9))[1])
    assert not sos_bar[:, 3].any()
    assert np.all(sos_bar[:, [0, 1, 2, 4, 5]] != 0)


def test_sections_are_adjoint_along_every_axis():
    rng = np.random.default_rng(0)
    sos = scipy.signal.butter(5, 0.3, output="sos")
    for axis in (0, 1, -1):
        x, ybar = rng.standard_normal((4, 5, 6)), rng.standard_normal((4, 5, 6))
        xbar = unthunk(rrule(scipy.signal.sosfilt, sos, x, axis)[1](ybar)[2])
        np.testing.assert_allclose(np.vdot(ybar, scipy.signal.sosfilt(sos, x, axis)), np.vdot(xbar, x), rtol=1e-11)


@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_filters_in_both_directions_give_scipys_output_and_are_adjoint(padtype):
    rng = np.random.default_rng(0)
    b, a = scipy.signal.butter(3, 0.3)
    sos = scipy.signal.butter(3, 0.3, output="sos")
    x, ybar = rng.standard_normal((2, 40)), rng.standard_normal((2, 40))
    for f, filters in ((scipy.signal.filtfilt, (b, a)), (scipy.signal.sosfiltfilt, (sos,))):
        y, pullback = rrule(f, *filters, x, padtype=padtype)
        np.testing.assert_allclose(y, f(*filters, x, padtype=padtype), rtol=1e-9, atol=1e-12)
        xbar = unthunk(pullback(ybar)[1 + len(filters)])
        np.testing.assert_allclose(np.vdot(ybar, y), np.vdot(xbar, x), rtol=1e-9)


def test_gustafssons_method_has_no_rule():
    b, a = scipy.signal.butter(2, 0.3)
    assert rrule(scipy.signal.filtfilt, b, a, np.ones(20), method="gust") is None
    assert frule((NoTangent(), b, a, np.ones(20)), scipy.signal.filtfilt, b, a, np.ones(20), method="gust") is None


def test_the_identification_of_a_filter_has_the_right_gradient_and_hessian():
    rng = np.random.default_rng(0)
    x, b, a1 = rng.standard_normal(20), np.array([0.5, 0.2]), 0.4
    y = scipy.signal.lfilter([0.4, 0.3], [1, -0.5], x)

    def error(a1):
        return np.sum((signal.lfilter(b, np.stack([1.0, a1]), x) - y) ** 2)

    def error_of_recursion(a1):
        return np.sum((recursion(b, [1.0, a1], x)[0] - y) ** 2)

    slope = np.imag(error_of_recursion(a1 + 1e-30j)) / 1e-30
    np.testing.assert_allclose(grad(error)(a1), slope, rtol=1e-12)
    h = 1e-4
    slopes = [np.imag(error_of_recursion(a1 + e + 1e-30j)) / 1e-30 for e in (h, -h, 2 * h, -2 * h)]
    curvature = (8 * (slopes[0] - slopes[1]) - (slopes[2] - slopes[3])) / (12 * h)
    np.testing.assert_allclose(grad(grad(error))(a1), curvature, rtol=1e-9)


# ---------------------------------------------------------------- types


def assert_same_types(f, *args, **keywords):
    y, _ = rrule(f, *args, **keywords)
    for one, other in zip(y, f(*args, **keywords), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int64])
def test_frequency_responses_have_scipys_types(dtype):
    b, a, w = np.array([4, 2, 3], dtype), np.array([3, 2], dtype), np.array([0.1, 0.7])
    for grid in (4, w, w.astype(np.float32)):
        assert_same_types(scipy.signal.freqz, b, a, grid, fs=3.0)
        assert_same_types(scipy.signal.freqz, b, 1, grid)
        assert_same_types(scipy.signal.freqz, b, a[:1], grid, True)
        assert_same_types(scipy.signal.freqz_zpk, b, a, 0.5, grid, fs=3.0)


def test_representations_have_scipys_types():
    z, p = np.array([0.5, -0.5]), np.array([0.1, 0.3, -0.2])
    for type_of_z, type_of_p in ((np.float32, np.float32), (np.float64, np.complex64), (np.int64, np.float32)):
        assert_same_types(scipy.signal.zpk2tf, z.astype(type_of_z), p.astype(type_of_p), 1.5)
        assert_same_types(scipy.signal.bilinear_zpk, z.astype(type_of_z), p.astype(type_of_p), 1.5, 2.0)


def test_state_after_outputs_alone_has_the_type_of_all_coefficients():
    b, a, y = np.array([1 + 1j, 0.5]), np.array([1.0, 0.3]), np.array([0.7])
    zi, pullback = rrule(scipy.signal.lfiltic, b, a, y)
    np.testing.assert_array_equal(zi, scipy.signal.lfiltic(b, a, y))
    assert zi.dtype == complex
    assert unthunk(pullback(np.ones(1))[3]) == -0.3


@pytest.mark.parametrize("length_b", [2, 4])
@pytest.mark.parametrize(("type_of_b", "type_of_a"), [(float, np.float32), (np.float32, float), (int, np.float32)])
def test_initial_states_of_coefficients_of_two_types(length_b, type_of_b, type_of_a):
    b, a = np.array([3, 1, -2, 4][:length_b], type_of_b), np.array([1.5, -0.25], type_of_a)
    zi = scipy.signal.lfilter_zi(b, a)
    for which, x in enumerate((b, a)):
        if x.dtype.kind == "i":
            continue
        steps = complex_step(scipy.signal.lfilter_zi, (b, a), which)
        y, pullback = rrule(scipy.signal.lfilter_zi, b, a)
        cotangent = np.arange(1.0, len(zi) + 1).astype(zi.dtype)
        assert y.dtype == zi.dtype
        np.testing.assert_allclose(unthunk(pullback(cotangent)[1 + which]), np.array(steps) @ cotangent, rtol=1e-5)
