"""Rules of the Fourier filters of `scipy.ndimage`, which multiply a transform by a function of the frequency.

The factors of the Gaussian, the box and the ellipsoid are real, so each of these filters is its own transpose; the
transpose of a shift is the shift back. With respect to the width or the shift of the first two and the last, the
derivative is that of the factor.
"""

import numpy as np

from rulescore import apply_linear, frule, not_implemented, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, Axis, Choice, Count, OutputAndPullback, OutputAndTangent, Shape
from scipy import ndimage

from ...numpy.array_like import as_array, as_array_tangent, conj
from ...numpy.reduced_axes import decline_out
from .smoothing import Sigmas, total

OF_SIZE = not_implemented("scipy.ndimage.fourier_uniform and fourier_ellipsoid with respect to the size")


def frequencies(shape, n, axis, i):
    """The frequencies along the i-th axis, in cycles per pixel; along one there may be those of a real transform."""
    if i == int(axis) % len(shape) and n > 0:
        return np.arange(shape[i]) / n
    return np.fft.fftfreq(shape[i]) if shape[i] else np.zeros(0)


def slope_of_gaussian(f, sigma):
    """∂/∂σ of log exp(-2 π² σ² f²)."""
    return -4 * np.pi**2 * sigma * f**2


def slope_of_shift(f, shift):
    """∂/∂s of log exp(-2πi s f)."""
    return -2j * np.pi * f


def slope_wrt(i, y, parameter, n, axis, slope):
    """The derivative of y with respect to the i-th parameter, from that of the logarithm of the factor."""
    ndim = np.ndim(y)
    of_log = slope(frequencies(np.shape(y), n, axis, i), Sigmas(parameter, ndim).values[i])
    return y * np.reshape(of_log, (-1,) + (1,) * (ndim - 1 - i))


def output_and_tangent(function, slope, dx, dparameter, x, parameter, n, axis, output):
    """Of a filter; from ``slope``, the derivative of the logarithm of its factor."""
    decline_out(output)
    y = seen_by_tracers(function, x, parameter, n, axis)
    of_x = apply_linear(lambda dx: seen_by_tracers(function, dx, parameter, n, axis), as_array_tangent(dx, x))
    moving = Sigmas(parameter, np.ndim(y)).tangents(dparameter)
    along = [
        apply_linear(lambda dp, i=i: slope_wrt(i, y, parameter, n, axis, slope) * dp, dp) for i, dp in enumerate(moving)
    ]
    return y, total([of_x, *along])


def output_and_pullback(function, slope, x, parameter, n, axis, output, back=None):
    """x̄ = conj(H) ȳ, which is the filter of the parameter that ``back`` gives."""
    decline_out(output)
    y = seen_by_tracers(function, x, parameter, n, axis)

    def parameter_bar(ybar):
        slopes = [slope_wrt(i, y, parameter, n, axis, slope) for i in range(np.ndim(y))]
        return Sigmas(parameter, np.ndim(y)).cotangent([np.sum(np.real(conj(d) * ybar)) for d in slopes])

    other = parameter if back is None else back(parameter)
    return y, pullback_wrt(x, parameter)(lambda ybar: seen_by_tracers(function, ybar, other, n, axis), parameter_bar)


@frule.register(ndimage.fourier_gaussian)
@pushforward
def fourier_gaussian_frule(
    dinput: Array, dsigma: Array, input: Array, sigma: Array, n: Count = -1, axis: Axis = -1, output: Choice = None
) -> OutputAndTangent:
    args = dinput, dsigma, input, sigma, n, axis, output
    return output_and_tangent(ndimage.fourier_gaussian, slope_of_gaussian, *args)


@rrule.register(ndimage.fourier_gaussian)
def fourier_gaussian_rrule(
    input: Array, sigma: Array, n: Count = -1, axis: Axis = -1, output: Choice = None
) -> OutputAndPullback:
    return output_and_pullback(ndimage.fourier_gaussian, slope_of_gaussian, input, sigma, n, axis, output)


def opposite(shift):
    """The shift back: of a number, or of one for each axis."""
    return type(shift)([-1.0 * s for s in shift]) if isinstance(shift, (list, tuple)) else -as_array(shift)


@frule.register(ndimage.fourier_shift)
@pushforward
def fourier_shift_frule(
    dinput: Array, dshift: Array, input: Array, shift: Array, n: Count = -1, axis: Axis = -1, output: Choice = None
) -> OutputAndTangent:
    args = dinput, dshift, input, shift, n, axis, output
    return output_and_tangent(ndimage.fourier_shift, slope_of_shift, *args)


@rrule.register(ndimage.fourier_shift)
def fourier_shift_rrule(
    input: Array, shift: Array, n: Count = -1, axis: Axis = -1, output: Choice = None
) -> OutputAndPullback:
    return output_and_pullback(ndimage.fourier_shift, slope_of_shift, input, shift, n, axis, output, opposite)


# ---------------------------------------------------------------- of a size, with respect to which nothing is known


def register_of_size(function):
    @frule.register(function)
    @pushforward
    def of_size_frule(
        dinput: Array, dsize: Shape, input: Array, size: Shape, n: Count = -1, axis: Axis = -1, output: Choice = None
    ) -> OutputAndTangent:
        decline_out(output)
        of_input = apply_linear(
            lambda dx: seen_by_tracers(function, dx, size, n, axis), as_array_tangent(dinput, input)
        )
        return seen_by_tracers(function, input, size, n, axis), of_input + apply_linear(lambda dsize: OF_SIZE, dsize)

    @rrule.register(function)
    def of_size_rrule(
        input: Array, size: Shape, n: Count = -1, axis: Axis = -1, output: Choice = None
    ) -> OutputAndPullback:
        """The factor is real: the filter is its own transpose."""
        decline_out(output)
        pullback = pullback_wrt(input, size)(
            lambda ybar: seen_by_tracers(function, ybar, size, n, axis), lambda ybar: OF_SIZE
        )
        return seen_by_tracers(function, input, size, n, axis), pullback


register_of_size(ndimage.fourier_uniform)
register_of_size(ndimage.fourier_ellipsoid)
