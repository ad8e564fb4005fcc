"""Rules that are wrong for complex numbers, half of them as real systems have had them.

Most functions stand in `right.complex_functions`. Where a report is of a system whose gradient is the conjugate of
ours, the mistake is told in our convention.
"""

import functools

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import BOTH, Differentiable, complex_normal, elementwise, elementwise_vjp, normal
from corpora.right.complex_functions import (
    BATCH_NORM,
    BATCHED_PRODUCT,
    COMPLEX_OF,
    COMPLEX_POWER,
    COVARIANCE,
    DYAD,
    ENERGY,
    FFT,
    FILTER,
    FORM,
    GRAM,
    HERMITIAN_PART,
    INTENSITY_LOSS,
    IRFFT,
    LENGTH,
    LOG_MODULUS,
    MOEBIUS,
    PHASE_DIFFERENCE,
    POLYNOMIAL,
    PRODUCT,
    RFFT,
    SENSORS,
    SIGN,
    SOLVE,
    a_complex_batch,
    batch_norm_vjp,
    coefficients_and_points,
    complex_and_real,
    complex_of,
    dot,
    dyad,
    in_the_right_half_plane,
    intensity_gradients,
    length,
    mp_squared_modulus,
    phase_difference_vjp,
    powers,
    products_of_others,
    real_matrix_and_complex_vector,
    shifted_matrix,
    solve,
    squared_modulus,
    standardised_product,
    taps_and_signal,
)
from corpora.right.linear_algebra import adjoint
from corpora.wrong.entry import wrong

of_complex = functools.partial(wrong, kind="complex")

# ------------------------------------------------------------------ as reported

of_complex(
    "complex numbers by their parts, the second of which is drawn the wrong way",
    right=COMPLEX_OF,
    inputs=normal((2, 3), (2, 3)),
    vjp=elementwise_vjp(lambda a, b: 1.0, lambda a, b: -1j),
    mistake="sign",
    argument=1,
    source="https://github.com/EnzymeAD/Reactant.jl/issues/2294",
)


def damped_wave(rate, frequency):
    """The imaginary part of exp((-rate + i frequency))."""
    return np.imag(np.exp(-rate + 1j * frequency))


def wave_of(rate, frequency):
    return np.exp(-rate + 1j * frequency)


DAMPED_WAVE = elementwise(
    damped_wave,
    lambda rate, frequency: -np.imag(wave_of(rate, frequency)),
    lambda rate, frequency: np.real(wave_of(rate, frequency)),
    real=True,
    twin=lambda rate, frequency: mp.imag(mp.exp(-rate + mp.i * frequency)),
)
of_complex(
    "the imaginary part of an exponential, whose cotangent is conjugated once more",
    right=DAMPED_WAVE,
    inputs=normal(4, 4),
    vjp=elementwise_vjp(
        lambda rate, frequency: np.imag(wave_of(rate, frequency)),
        lambda rate, frequency: -np.real(wave_of(rate, frequency)),
    ),
    mistake="sign",
    source="https://github.com/EnzymeAD/Enzyme-JAX/issues/2105",
)
of_complex(
    "a Fourier transform pulled back by itself instead of its inverse",
    right=FFT,
    inputs=complex_normal(6),
    vjp=lambda ybar, z: np.fft.fft(ybar),
    source="https://github.com/HIPS/autograd/issues/185",
)
IMAGE_TRANSFORM = Differentiable(
    lambda z: np.fft.fft2(z),
    jvp=lambda dz, z: np.fft.fft2(dz),
    vjp=lambda ybar, z: np.size(z) * np.fft.ifft2(ybar),
)
of_complex(
    "a Fourier transform of a picture, pulled back by the inverse of the conjugate",
    right=IMAGE_TRANSFORM,
    inputs=complex_normal((3, 4)),
    vjp=lambda ybar, z: np.fft.ifft2(np.conj(ybar)),
    source="https://github.com/locuslab/pytorch_fft/issues/4",
)


def vdot_of_matrices(a, b):
    return np.vdot(a, b)


of_complex(
    "an inner product of matrices, whose first cotangent keeps the cotangent unconjugated",
    right=Differentiable(
        vdot_of_matrices,
        jvp=lambda da, db, a, b: np.vdot(da, b) + np.vdot(a, db),
        vjp=lambda ybar, a, b: (np.conj(ybar) * b, ybar * a),
        twin=lambda a, b: np.sum(np.conj(a) * b),
    ),
    inputs=complex_normal((2, 3), (2, 3)),
    vjp=lambda ybar, a, b: (ybar * b, ybar * a),
    argument=0,
    source="https://github.com/FluxML/Zygote.jl/issues/540",
)
of_complex(
    "a conjugation pushed forward as if it were the identity",
    right=Differentiable(
        lambda z: np.conj(z) + z**2,
        jvp=lambda dz, z: np.conj(dz) + 2 * z * dz,
        vjp=lambda ybar, z: np.conj(ybar) + 2 * np.conj(z) * ybar,
        twin=lambda z: np.conj(z) + z**2,
    ),
    inputs=complex_normal(4),
    jvp=lambda dz, z: dz + 2 * z * dz,
    modes=BOTH,
    source="https://github.com/JuliaDiff/ChainRules.jl/issues/19",
)
ANGLE = Differentiable(
    lambda z: np.angle(z),
    jvp=lambda dz, z: np.imag(dz / z),
    vjp=lambda ybar, z: 1j * ybar / np.conj(z),
    twin=mp.angle,
)
of_complex(
    "an angle pushed forward by its pullback, without conjugates",
    right=ANGLE,
    inputs=complex_normal((2, 2)),
    jvp=lambda dz, z: np.real(1j * z * dz) / squared_modulus(z),
    source="https://github.com/pytorch/pytorch/pull/77267",
)


def modulus_by_parts(z):
    return np.sqrt(np.real(z) ** 2 + np.imag(z) ** 2)


of_complex(
    "a modulus by its parts, of which the imaginary one is drawn the wrong way",
    right=Differentiable(
        modulus_by_parts,
        jvp=lambda dz, z: np.real(np.conj(z) * dz) / modulus_by_parts(z),
        vjp=lambda ybar, z: z / modulus_by_parts(z) * ybar,
        twin=lambda z: mp.sqrt(mp_squared_modulus(z)),
    ),
    inputs=complex_normal(5),
    vjp=lambda ybar, z: (np.real(z) - 1j * np.imag(z)) / modulus_by_parts(z) * ybar,
    mistake="missing conjugate",
    source="https://github.com/jax-ml/jax/issues/979",
)
of_complex(
    "a complex quotient without conjugates",
    right=elementwise(np.divide, lambda a, b: 1 / b, lambda a, b: -a / b**2),
    inputs=in_the_right_half_plane((2, 2), (2, 2)),
    vjp=lambda ybar, a, b: (ybar / b, -ybar * a / b**2),
    source="https://github.com/ml-explore/mlx/pull/2178",
)
SUM_OF_EXPONENTIALS = Differentiable(
    lambda z: np.sum(np.exp(z)),
    jvp=lambda dz, z: np.sum(np.exp(z) * dz),
    vjp=lambda ybar, z: np.conj(np.exp(z)) * ybar,
)
of_complex(
    "a sum of exponentials with the derivative of the sum alone",
    right=SUM_OF_EXPONENTIALS,
    inputs=complex_normal(3),
    vjp=lambda ybar, z: ybar * np.ones_like(z),
    source="https://github.com/FluxML/Zygote.jl/issues/705",
)
of_complex(
    "the length of a complex vector with the conjugate of its gradient",
    right=LENGTH,
    inputs=complex_normal(4),
    vjp=lambda ybar, z: ybar * np.conj(z) / length(z),
    mistake="missing conjugate",
    source="https://github.com/HIPS/autograd/issues/666",
)
of_complex(
    "a complex matrix times a vector, pulled back by the transpose",
    right=Differentiable(
        lambda a, x: a @ x,
        jvp=lambda da, dx, a, x: da @ x + a @ dx,
        vjp=lambda ybar, a, x: (dyad(ybar, x), adjoint(a) @ ybar),
    ),
    inputs=complex_normal((3, 4), 4),
    vjp=lambda ybar, a, x: (dyad(ybar, x), a.T @ ybar),
    argument=1,
    source="https://github.com/tensorflow/tensorflow/issues/4859",
)
of_complex(
    "products of complex matrices by einsum, with the derivatives of real ones",
    right=BATCHED_PRODUCT,
    inputs=complex_normal((2, 2, 3), (2, 3, 2)),
    vjp=lambda ybar, a, b: (np.einsum("nik,njk->nij", ybar, b), np.einsum("nij,nik->njk", a, ybar)),
    source="https://github.com/tensorflow/tensorflow/issues/37307",
)
of_complex(
    "a product of all entries, whose others are not conjugated",
    right=PRODUCT,
    inputs=complex_normal(4),
    vjp=lambda ybar, z: products_of_others(z) * ybar,
    mistake="missing conjugate",
    source="https://github.com/tensorflow/tensorflow/issues/12514",
)


def power_of_parts(x, y):
    """The power of the transform of x + i y, weighted by frequency."""
    return np.sum(np.arange(len(x)) * squared_modulus(np.fft.fft(x + 1j * y)))


def power_of_parts_through(x, y):
    return 2 * len(x) * np.fft.ifft(np.arange(len(x)) * np.fft.fft(x + 1j * y))


of_complex(
    "the power of a transform, whose imaginary parts are drawn the wrong way",
    right=Differentiable(
        power_of_parts,
        jvp=lambda dx, dy, x, y: dot(power_of_parts_through(x, y), dx + 1j * dy),
        vjp=lambda ybar, x, y: (
            ybar * np.real(power_of_parts_through(x, y)),
            ybar * np.imag(power_of_parts_through(x, y)),
        ),
        real=True,
        twin=lambda x, y: np.sum(np.arange(len(x)) * mp_squared_modulus(mp.fft(x + mp.i * y))),
    ),
    inputs=normal(5, 5),
    vjp=lambda ybar, x, y: (
        ybar * np.real(power_of_parts_through(x, y)),
        -ybar * np.imag(power_of_parts_through(x, y)),
    ),
    argument=1,
    mistake="sign",
    source="https://github.com/EnzymeAD/Enzyme-JAX/issues/2071",
)
of_complex(
    "the transform of a real signal, pulled back as if it were unitary up to its length",
    right=RFFT,
    inputs=normal(6),
    vjp=lambda ybar, x: len(x) * np.fft.irfft(ybar, len(x)),
    source="https://github.com/FluxML/Zygote.jl/pull/1633",
)
of_complex(
    "the power of complex numbers, of whose gradient the real part alone is left",
    right=Differentiable(
        lambda z: np.sum(squared_modulus(z)),
        jvp=lambda dz, z: 2 * dot(z, dz),
        vjp=lambda ybar, z: 2 * z * ybar,
        twin=lambda z: np.sum(mp_squared_modulus(z)),
    ),
    inputs=complex_normal(3),
    vjp=lambda ybar, z: 2 * np.real(z) * ybar + 0j,
    source="https://github.com/JuliaDiff/FiniteDifferences.jl/issues/75",
)
of_complex(
    "the sign of complex numbers, pushed forward by what lies across their conjugates",
    right=SIGN,
    inputs=complex_normal(4),
    jvp=lambda dz, z: (dz - np.conj(z) * np.real(dz / np.conj(z))) / np.abs(z),
    source="https://github.com/pytorch/pytorch/issues/80928",
)

# ------------------------------------------------------------------ mutations


def solve_without_conjugates(ybar, a, b):
    bbar = solve(a.T, ybar)
    return -bbar @ solve(a, b).T, bbar


of_complex(
    "complex linear equations, solved back with the transpose",
    right=SOLVE,
    inputs=shifted_matrix((3, 3), (3, 2)),
    vjp=solve_without_conjugates,
)
of_complex(
    "an outer product whose second factor hears of the cotangent unconjugated",
    right=DYAD,
    inputs=complex_normal(3, 4),
    vjp=lambda ybar, z, w: (ybar @ w, ybar.T @ z),
    argument=1,
)
of_complex(
    "a conjugate transpose pushed forward without conjugating",
    right=GRAM,
    inputs=complex_normal((4, 2), (4, 3)),
    jvp=lambda da, db, a, b: da.T @ b + adjoint(a) @ db,
    modes=BOTH,
    argument=0,
)
of_complex(
    "a form whose matrix gets the transpose of its dyad",
    right=FORM,
    inputs=complex_normal(3, (3, 3), 3),
    vjp=lambda ybar, a, m, b: (np.conj(ybar) * (m @ b), ybar * dyad(b, a), ybar * (adjoint(m) @ a)),
    argument=1,
)
of_complex(
    "a quadratic form with twice one half of its gradient",
    right=ENERGY,
    inputs=real_matrix_and_complex_vector,
    vjp=lambda ybar, h, x: (ybar * np.real(dyad(x, x)), 2 * ybar * (h @ x)),
    argument=1,
)
of_complex(
    "a covariance without the half that is conjugated",
    right=COVARIANCE,
    inputs=complex_normal((2, 5)),
    vjp=lambda ybar, z: 2 * ybar @ z / np.shape(z)[1],
)
of_complex(
    "the Hermitian part of a matrix, pulled back to the symmetric one",
    right=HERMITIAN_PART,
    inputs=complex_normal((3, 3)),
    vjp=lambda ybar, a: (ybar + ybar.T) / 2,
)
of_complex(
    "a spectrum whose doubled frequencies count once",
    right=IRFFT,
    inputs=complex_normal(5),
    vjp=lambda ybar, z, n=None: np.fft.rfft(ybar) / len(ybar),
)
of_complex(
    "a filter whose real taps get the real part before they correlate",
    right=FILTER,
    inputs=taps_and_signal,
    vjp=lambda ybar, taps, signal: (
        np.correlate(np.real(ybar), np.real(signal), "valid"),
        np.correlate(ybar, taps, "valid"),
    ),
    argument=0,
)
of_complex(
    "a difference of phases whose second phase is added",
    right=PHASE_DIFFERENCE,
    inputs=in_the_right_half_plane(4, 4),
    vjp=lambda ybar, a, b: (phase_difference_vjp(ybar, a, b)[0], -phase_difference_vjp(ybar, a, b)[1]),
    argument=1,
    mistake="sign",
)
of_complex(
    "levels pulled back by 1/z",
    right=LOG_MODULUS,
    inputs=complex_normal((2, 3)),
    vjp=lambda ybar, z: ybar / z,
    mistake="missing conjugate",
)
of_complex(
    "complex powers whose exponent gets the logarithm unconjugated",
    right=COMPLEX_POWER,
    inputs=in_the_right_half_plane(4, 4),
    vjp=lambda ybar, z, w: (np.conj(w * z ** (w - 1)) * ybar, np.conj(z**w) * np.log(z) * ybar),
    argument=1,
)
of_complex(
    "a Möbius map whose lower coefficients lack their sign",
    right=MOEBIUS,
    inputs=coefficients_and_points,
    vjp=lambda ybar, *args: tuple(
        sign * xbar for sign, xbar in zip((1, 1, -1, -1, 1), MOEBIUS.vjp(ybar, *args), strict=True)
    ),
)
of_complex(
    "a polynomial whose coefficients get powers without conjugates",
    right=POLYNOMIAL,
    inputs=complex_normal(4, 3),
    vjp=lambda ybar, c, z: (powers(c, z).T @ ybar, POLYNOMIAL.vjp(ybar, c, z)[1]),
    argument=0,
)
of_complex(
    "a loss of phase retrieval, back through the transpose of the sensors",
    right=INTENSITY_LOSS,
    inputs=complex_and_real(3, 5),
    vjp=lambda ybar, z, m: (
        ybar * SENSORS.T @ ((squared_modulus(SENSORS @ z) - m) * (SENSORS @ z)),
        ybar * intensity_gradients(z, m)[1],
    ),
    argument=0,
)
of_complex(
    "a batch norm whose spread moves with the product instead of the inner product",
    right=BATCH_NORM,
    inputs=a_complex_batch,
    vjp=lambda ybar, z, scale, shift: (
        np.conj(standardised_product(np.conj(scale * ybar), z)),
        *batch_norm_vjp(ybar, z, scale, shift)[1:],
    ),
    argument=0,
)
of_complex(
    "complex numbers by their parts, pushed forward with the parts exchanged",
    right=COMPLEX_OF,
    inputs=normal(5, 5),
    jvp=lambda da, db, a, b: complex_of(db, da),
)
