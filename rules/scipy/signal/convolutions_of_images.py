"""Rules of the convolution and correlation of images, `scipy.signal.convolve2d` and `correlate2d`, with boundaries.

y is the part of the convolution of an extended image and the kernel where they overlap completely. How far the image is
extended, on each side, depends on the mode; by what, on the boundary: these are the modes of `numpy.pad`, whose rules
serve here.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.signal
from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unthunk
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of

PADDING = {
    "fill": "constant",
    "pad": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}


def extension(shape, kernel_shape, count, mode, is_correlation):
    """How far an image is extended before and after, along each axis, for an output of this shape."""
    widths = []
    for length, kernel_length, number in zip(shape, kernel_shape, count, strict=True):
        skipped = {"full": 0, "same": (kernel_length - 1 + is_correlation) // 2, "valid": kernel_length - 1}[mode]
        before = kernel_length - 1 - skipped
        widths.append((before, number + kernel_length - 1 - length - before))
    return widths


def is_swapped(shape1, shape2, mode):
    """Whether SciPy takes the second argument for the image, as it has to be the larger one."""
    return mode == "valid" and any(n1 < n2 for n1, n2 in zip(shape1, shape2, strict=True))


def decline(in1, in2, boundary):
    """What NumPy has no padding for, and empty arrays, at which SciPy may end the process."""
    if boundary not in PADDING or 0 in shape_of(in1) + shape_of(in2):
        raise MDNotImplementedError


def cotangents_of_extended(image, kernel, count, mode, boundary, fillvalue, is_correlation):
    """The cotangents of image, kernel and fill value, as functions of ȳ."""
    widths = extension(np.shape(image), np.shape(kernel), count, mode, is_correlation)
    keywords = {"constant_values": fillvalue} if PADDING[boundary] == "constant" else {}
    extended, pad_pullback = rrule(np.pad, image, widths, PADDING[boundary], **keywords)

    def extended_bar(ybar):
        return seen_by_tracers(scipy.signal.convolve2d, ybar, kernel if is_correlation else conj(np.flip(kernel)))

    def within(bar):
        """The transpose of the extension."""
        return unthunk(pad_pullback(bar)[1])

    def image_bar(ybar):
        return within(extended_bar(ybar))

    def kernel_bar(ybar):
        bar = seen_by_tracers(scipy.signal.correlate2d, extended, ybar, "valid")
        return bar if is_correlation else conj(np.flip(bar))

    def fill_bar(ybar):
        everything = extended_bar(ybar)
        return np.sum(everything) - np.sum(within(everything)) if keywords else 0.0 * np.sum(ybar)

    return image_bar, kernel_bar, fill_bar


def register_of_images(f, is_correlation):
    @frule.register(f)
    @pushforward
    def of_images_frule(
        din1: Array,
        din2: Array,
        dfillvalue: Array,
        in1: Array,
        in2: Array,
        mode: Choice = "full",
        boundary: Choice = "fill",
        fillvalue: Array = 0,
    ) -> OutputAndTangent:
        """Linear in the image and the fill value together, and in the kernel."""
        decline(in1, in2, boundary)
        y = seen_by_tracers(f, in1, in2, mode, boundary, fillvalue)

        def along_fill(dfill):
            return dfill * seen_by_tracers(f, np.zeros(shape_of(in1), y.dtype), in2, mode, boundary, 1)

        d1, d2 = as_array_tangent(din1, in1), as_array_tangent(din2, in2)
        of_image = apply_linear(lambda d1: seen_by_tracers(f, d1, in2, mode, boundary), d1)
        of_kernel = apply_linear(lambda d2: seen_by_tracers(f, in1, d2, mode, boundary, fillvalue), d2)
        return y, of_image + apply_linear(along_fill, dfillvalue) + of_kernel

    @rrule.register(f)
    def of_images_rrule(
        in1: Array, in2: Array, mode: Choice = "full", boundary: Choice = "fill", fillvalue: Array = 0
    ) -> OutputAndPullback:
        decline(in1, in2, boundary)
        y = seen_by_tracers(f, in1, in2, mode, boundary, fillvalue)
        swapped, x1, x2 = is_swapped(shape_of(in1), shape_of(in2), mode), as_array(in1), as_array(in2)
        image, kernel = (x2, x1) if swapped else (x1, x2)
        image = image.astype(y.dtype)  # in which SciPy puts the fill value beside it
        shape = np.shape(y)

        @pullback_wrt(in1, in2, ..., ..., fillvalue)
        def of_images_pullback(ybar):
            ybar = np.flip(ybar) if swapped and is_correlation else ybar
            how = shape, mode, boundary, fillvalue, is_correlation
            image_bar, kernel_bar, fill_bar = cotangents_of_extended(image, kernel, *how)
            first, second = (kernel_bar, image_bar) if swapped else (image_bar, kernel_bar)
            return lambda: first(ybar), lambda: second(ybar), lambda: fill_bar(ybar)

        return y, of_images_pullback


register_of_images(scipy.signal.convolve2d, is_correlation=False)
register_of_images(scipy.signal.correlate2d, is_correlation=True)
