"""Rules of the Fourier filters of `scipy.ndimage`, which multiply a transform by a function of the frequency.

The factors of the Gaussian, the box and the ellipsoid are real, so each of these filters is its own transpose; the
transpose of a shift is the shift back. With respect to the width or the shift of the first two and the last, the
derivative is that of the factor.
"""

import numpy as np
from scipy import ndimage

from rules.numpy.array_like import as_array, as_array_tangent, conj, seen_by_tracers
from rules.numpy.reduced_axes import decline_out
from rules.scipy.ndimage.smoothing import Sigmas
from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, frule, not_implemented, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
OF_SIZE = not_implemented("scipy.ndimage.fourier_uniform and fourier_ellipsoid with respect to the size")


def frequencies(shape, n, axis):
    """The frequencies along each axis, in cycles per pixel; along one there may be those of a real transform."""
    axis = int(axis) % len(shape)
    return [
        np.arange(length) / n if i == axis and n > 0 else np.fft.fftfreq(length) if length else np.zeros(0)
        for i, length in enumerate(shape)
    ]


def slope_of_gaussian(f, sigma):
    """∂/∂σ of log exp(-2 π² σ² f²)."""
    return -4 * np.pi**2 * sigma * f**2


def slope_of_shift(f, shift):
    """∂/∂s of log exp(-2πi s f)."""
    return -2j * np.pi * f


def slopes(y, parameter, n, axis, slope):
    """For each axis, the derivative of y with respect to its parameter, from that of the logarithm of the factor."""
    values = Sigmas(parameter, np.ndim(y)).values
    return [
        y * np.reshape(slope(f, values[i]), (-1,) + (1,) * (np.ndim(y) - 1 - i))
        for i, f in enumerate(frequencies(np.shape(y), n, axis))
    ]


def fourier_frule(function, tangents, x, parameter, n, axis, output, slope=None):
    decline_out(output)
    _, dx, dparameter, *_ = tangents
    y, terms = seen_by_tracers(function, x, parameter, n, axis), []
    if not isinstance(dx, AbstractZero):
        terms.append(seen_by_tracers(function, as_array_tangent(dx, x), parameter, n, axis))
    if not isinstance(dparameter, AbstractZero):
        if slope is None:
            return y, OF_SIZE
        moving = Sigmas(parameter, np.ndim(y)).tangents(dparameter)
        terms += [d * m for d, m in zip(slopes(y, parameter, n, axis, slope), moving, strict=True)]
    return y, project_to(y)(sum(terms[1:], terms[0])) if terms else ZeroTangent()


def fourier_rrule(function, x, parameter, n, axis, output, slope=None, back=None):
    """x̄ = conj(H) ȳ, which is the filter of the parameter that ``back`` gives."""
    decline_out(output)
    y, projects = seen_by_tracers(function, x, parameter, n, axis), (project_to(x), project_to(parameter))

    def fourier_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, projects[0](ybar), projects[1](ybar)

        def parameter_bar():
            bars = [np.sum(np.real(conj(d) * ybar)) for d in slopes(y, parameter, n, axis, slope)]
            return Sigmas(parameter, np.ndim(y)).cotangent([lambda bar=bar: bar for bar in bars])

        other = parameter if back is None else back(parameter)
        xbar = Thunk(lambda: seen_by_tracers(function, ybar, other, n, axis))
        of_parameter = OF_SIZE if slope is None else Thunk(parameter_bar)
        return (
            NO_TANGENT,
            NO_TANGENT if projects[0] is NON_DIFFERENTIABLE else projects[0](xbar),
            NO_TANGENT if projects[1] is NON_DIFFERENTIABLE else projects[1](of_parameter),
        )

    return y, fourier_pullback


@frule.register(ndimage.fourier_gaussian)
def fourier_gaussian_frule(tangents, input, sigma, n=-1, axis=-1, output=None):
    return fourier_frule(ndimage.fourier_gaussian, tangents, input, sigma, n, axis, output, slope_of_gaussian)


@rrule.register(ndimage.fourier_gaussian)
def fourier_gaussian_rrule(input, sigma, n=-1, axis=-1, output=None):
    return fourier_rrule(ndimage.fourier_gaussian, input, sigma, n, axis, output, slope_of_gaussian)


@frule.register(ndimage.fourier_uniform)
def fourier_uniform_frule(tangents, input, size, n=-1, axis=-1, output=None):
    return fourier_frule(ndimage.fourier_uniform, tangents, input, size, n, axis, output)


@rrule.register(ndimage.fourier_uniform)
def fourier_uniform_rrule(input, size, n=-1, axis=-1, output=None):
    return fourier_rrule(ndimage.fourier_uniform, input, size, n, axis, output)


@frule.register(ndimage.fourier_ellipsoid)
def fourier_ellipsoid_frule(tangents, input, size, n=-1, axis=-1, output=None):
    return fourier_frule(ndimage.fourier_ellipsoid, tangents, input, size, n, axis, output)


@rrule.register(ndimage.fourier_ellipsoid)
def fourier_ellipsoid_rrule(input, size, n=-1, axis=-1, output=None):
    return fourier_rrule(ndimage.fourier_ellipsoid, input, size, n, axis, output)


def opposite(shift):
    """The shift back: of a number, or of one for each axis."""
    return type(shift)([-s for s in shift]) if isinstance(shift, (list, tuple)) else -as_array(shift)


@frule.register(ndimage.fourier_shift)
def fourier_shift_frule(tangents, input, shift, n=-1, axis=-1, output=None):
    return fourier_frule(ndimage.fourier_shift, tangents, input, shift, n, axis, output, slope_of_shift)


@rrule.register(ndimage.fourier_shift)
def fourier_shift_rrule(input, shift, n=-1, axis=-1, output=None):
    return fourier_rrule(ndimage.fourier_shift, input, shift, n, axis, output, slope_of_shift, opposite)
