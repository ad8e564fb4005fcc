"""Functions of complex numbers as they stand in signal processing, optics and networks: holomorphic, real, or mixed.

The cotangent of a complex ``x`` for a real loss L is ∂L/∂Re x + i ∂L/∂Im x, and that of a real argument is real. So
the pullback of a map that is linear over the complex numbers is its conjugate transpose, and a function that conjugates
conjugates the cotangent too.
"""

import functools

import mpmath
import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, complex_normal, elementwise, normal, positive
from corpora.right.entry import right
from corpora.right.linear_algebra import adjoint
from rulescore import unbroadcast

of_complex = functools.partial(right, kind="complex")


def dot(a, b):
    """The real inner product of complex arrays, Re Σ conj(a) b."""
    return np.sum(np.real(np.conj(a) * b))


def squared_modulus(z):
    return np.real(z) ** 2 + np.imag(z) ** 2


def mp_squared_modulus(z):
    return mp.real(z * np.conj(z))


def complex_and_real(*shapes):
    """One complex argument with normal parts, then real ones."""
    return lambda rng: (
        (complex_normal(shapes[0])(rng)[0][0], *(rng.standard_normal(shape) for shape in shapes[1:])),
        {},
    )


def in_the_right_half_plane(*shapes):
    """Numbers away from 0 and from the negative axis."""
    return lambda rng: (
        tuple(rng.uniform(0.5, 2, shape) * np.exp(1j * rng.uniform(-1.2, 1.2, shape)) for shape in shapes),
        {},
    )


# ------------------------------------------------------------------ Fourier transforms


def real_spectrum(x):
    return np.fft.rfft(x)


def real_spectrum_adjoint(ybar, x):
    """Σ_k Re(conj(W_kj) ȳ_k) over the frequencies that rfft keeps."""
    return len(x) * np.real(np.fft.ifft(ybar, len(x)))


def signal_of(z, n=None):
    return np.fft.irfft(z, n)


def signal_adjoint(ybar, z, n=None):
    """All frequencies count twice but 0 and, of even lengths, the highest."""
    n = 2 * (len(z) - 1) if n is None else n
    counts = np.full(n // 2 + 1, 2.0)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return counts / n * np.fft.rfft(ybar)


def mp_signal_of(z, n=None):
    n = 2 * (len(z) - 1) if n is None else n
    below = z[1 : (n + 1) // 2]
    whole = [mp.real(z[:1]), below, *([mp.real(z[n // 2 : n // 2 + 1])] if n % 2 == 0 else []), np.conj(below)[::-1]]
    return mp.real(np.conj(mp.fft(np.conj(np.concatenate(whole)))) / n)


RFFT = Differentiable(
    real_spectrum,
    jvp=lambda dx, x: np.fft.rfft(dx),
    vjp=real_spectrum_adjoint,
    real=True,
    twin=lambda x: mp.fft(x)[: len(x) // 2 + 1],
)
IRFFT = Differentiable(signal_of, jvp=lambda dz, z, n=None: np.fft.irfft(dz, n), vjp=signal_adjoint, twin=mp_signal_of)
FFT = Differentiable(
    lambda z: np.fft.fft(z), jvp=lambda dz, z: np.fft.fft(dz), vjp=lambda ybar, z: len(z) * np.fft.ifft(ybar)
)
of_complex("the Fourier transform of a real signal of even length", RFFT, normal(6))
of_complex("the Fourier transform of a real signal of odd length", RFFT, normal(7))
of_complex("a real signal from its spectrum", IRFFT, complex_normal(4))
of_complex("a real signal of odd length from its spectrum", IRFFT, complex_normal(4, n=7))
of_complex("a Fourier transform", FFT, complex_normal(5))
of_complex(
    "an inverse Fourier transform that keeps lengths",
    Differentiable(
        lambda z: np.fft.ifft(z, norm="ortho"),
        jvp=lambda dz, z: np.fft.ifft(dz, norm="ortho"),
        vjp=lambda ybar, z: np.fft.fft(ybar, norm="ortho"),
    ),
    complex_normal(6),
)
of_complex(
    "a Fourier transform of a picture",
    Differentiable(
        lambda z: np.fft.fft2(z),
        jvp=lambda dz, z: np.fft.fft2(dz),
        vjp=lambda ybar, z: np.size(z) * np.fft.ifft2(ybar),
    ),
    complex_normal((3, 4)),
)


def windowed_power(window, x):
    return squared_modulus(np.fft.rfft(window * x))


def windowed_power_jvp(dwindow, dx, window, x):
    return 2 * np.real(np.conj(np.fft.rfft(window * x)) * np.fft.rfft(dwindow * x + window * dx))


def windowed_power_vjp(ybar, window, x):
    through = real_spectrum_adjoint(2 * np.fft.rfft(window * x) * ybar, x)
    return x * through, window * through


of_complex(
    "the power spectrum of a signal in a window",
    Differentiable(
        windowed_power,
        windowed_power_jvp,
        windowed_power_vjp,
        real=True,
        twin=lambda window, x: mp_squared_modulus(mp.fft(window * x)[: len(x) // 2 + 1]),
    ),
    normal(8, 8),
)


def circular_convolution(a, b):
    return np.fft.ifft(np.fft.fft(a) * np.fft.fft(b))


CIRCULAR_CONVOLUTION = Differentiable(
    circular_convolution,
    jvp=lambda da, db, a, b: circular_convolution(da, b) + circular_convolution(a, db),
    vjp=lambda ybar, a, b: (
        np.fft.ifft(np.conj(np.fft.fft(b)) * np.fft.fft(ybar)),
        np.fft.ifft(np.conj(np.fft.fft(a)) * np.fft.fft(ybar)),
    ),
)
of_complex("a convolution on a ring", CIRCULAR_CONVOLUTION, complex_normal(5, 5))


def filtered(taps, signal):
    """A finite impulse response of real taps."""
    return np.convolve(signal, taps)


FILTER = Differentiable(
    filtered,
    jvp=lambda dtaps, dsignal, taps, signal: np.convolve(signal, dtaps) + np.convolve(dsignal, taps),
    vjp=lambda ybar, taps, signal: (np.correlate(ybar, signal, "valid"), np.correlate(ybar, taps, "valid")),
)


def taps_and_signal(rng):
    return (rng.standard_normal(3), complex_normal(7)(rng)[0][0]), {}


of_complex("a complex signal through a filter of real taps", FILTER, taps_and_signal)

# ------------------------------------------------------------------ products


def gram(a, b):
    return adjoint(a) @ b


GRAM = Differentiable(
    gram,
    jvp=lambda da, db, a, b: gram(da, b) + gram(a, db),
    vjp=lambda ybar, a, b: (b @ adjoint(ybar), a @ ybar),
    twin=lambda a, b: np.conj(a).T @ b,
)
of_complex("a conjugate transpose times a matrix", GRAM, complex_normal((4, 2), (4, 3)))


def dyad(z, w):
    """z wᴴ."""
    return np.outer(z, np.conj(w))


DYAD = Differentiable(
    dyad,
    jvp=lambda dz, dw, z, w: dyad(dz, w) + dyad(z, dw),
    vjp=lambda ybar, z, w: (ybar @ w, adjoint(ybar) @ z),
    twin=lambda z, w: z[:, None] * np.conj(w),
)
of_complex("an outer product that conjugates its second factor", DYAD, complex_normal(3, 4))


def form(a, m, b):
    """aᴴ M b, linear in all but the first."""
    return np.conj(a) @ m @ b


FORM = Differentiable(
    form,
    jvp=lambda da, dm, db, a, m, b: form(da, m, b) + form(a, dm, b) + form(a, m, db),
    vjp=lambda ybar, a, m, b: (np.conj(ybar) * (m @ b), ybar * dyad(a, b), ybar * (adjoint(m) @ a)),
    twin=form,
)
of_complex("a form that is linear in all but its first argument", FORM, complex_normal(3, (3, 4), 4))
of_complex(
    "an inner product that conjugates nothing",
    Differentiable(
        lambda a, b: np.inner(a, b),
        jvp=lambda da, db, a, b: np.inner(da, b) + np.inner(a, db),
        vjp=lambda ybar, a, b: (ybar * np.conj(b), ybar * np.conj(a)),
    ),
    complex_normal(4, 4),
)


def energy(h, x):
    """Re xᴴ H x, of any real matrix H."""
    return np.real(np.conj(x) @ h @ x)


ENERGY = Differentiable(
    energy,
    jvp=lambda dh, dx, h, x: np.real(np.conj(x) @ dh @ x + np.conj(dx) @ h @ x + np.conj(x) @ h @ dx),
    vjp=lambda ybar, h, x: (ybar * dyad(x, x), ybar * ((h + adjoint(h)) @ x)),
    twin=lambda h, x: mpmath.re(np.conj(x) @ h @ x),
)


def real_matrix_and_complex_vector(rng):
    return (rng.standard_normal((3, 3)), complex_normal(3)(rng)[0][0]), {}


of_complex("the real part of a quadratic form of a real matrix", ENERGY, real_matrix_and_complex_vector)


def rayleigh(h, x):
    return energy(h, x) / np.sum(squared_modulus(x))


def rayleigh_gradients(h, x):
    size = np.sum(squared_modulus(x))
    return dyad(x, x) / size, ((h + adjoint(h)) @ x - 2 * rayleigh(h, x) * x) / size


of_complex(
    "a Rayleigh quotient",
    Differentiable(
        rayleigh,
        jvp=lambda dh, dx, h, x: sum(map(dot, rayleigh_gradients(h, x), (dh, dx))),
        vjp=lambda ybar, h, x: tuple(ybar * xbar for xbar in rayleigh_gradients(h, x)),
        twin=lambda h, x: mpmath.re(np.conj(x) @ h @ x) / np.sum(mp_squared_modulus(x)),
    ),
    real_matrix_and_complex_vector,
)


def overlap(a, b):
    """Re tr(A Bᴴ)."""
    return np.real(np.trace(a @ adjoint(b)))


of_complex(
    "the real part of the trace of A Bᴴ",
    Differentiable(
        overlap,
        jvp=lambda da, db, a, b: overlap(da, b) + overlap(a, db),
        vjp=lambda ybar, a, b: (ybar * b, ybar * a),
        twin=lambda a, b: mpmath.re(np.sum(a * np.conj(b))),
    ),
    complex_normal((2, 3), (2, 3)),
)


def covariance(z):
    return z @ adjoint(z) / np.shape(z)[1]


COVARIANCE = Differentiable(
    covariance,
    jvp=lambda dz, z: (dz @ adjoint(z) + z @ adjoint(dz)) / np.shape(z)[1],
    vjp=lambda ybar, z: (ybar + adjoint(ybar)) @ z / np.shape(z)[1],
    twin=lambda z: z @ np.conj(z).T / np.shape(z)[1],
)
of_complex("a covariance of complex samples", COVARIANCE, complex_normal((2, 5)))
HERMITIAN_PART = Differentiable(
    lambda a: (a + adjoint(a)) / 2,
    jvp=lambda da, a: (da + adjoint(da)) / 2,
    vjp=lambda ybar, a: (ybar + adjoint(ybar)) / 2,
    twin=lambda a: (a + np.conj(a).T) / 2,
)
of_complex("the Hermitian part of a matrix", HERMITIAN_PART, complex_normal((3, 3)))


def batched_product(a, b):
    return np.einsum("nij,njk->nik", a, b)


BATCHED_PRODUCT = Differentiable(
    batched_product,
    jvp=lambda da, db, a, b: batched_product(da, b) + batched_product(a, db),
    vjp=lambda ybar, a, b: (
        np.einsum("nik,njk->nij", ybar, np.conj(b)),
        np.einsum("nij,nik->njk", np.conj(a), ybar),
    ),
)
of_complex("products of several complex matrices", BATCHED_PRODUCT, complex_normal((2, 2, 3), (2, 3, 2)))


def contracted(x, tensor):
    """A real vector with the first axis of a complex tensor."""
    return np.tensordot(x, tensor, axes=([0], [0]))


CONTRACTION = Differentiable(
    contracted,
    jvp=lambda dx, dtensor, x, tensor: contracted(dx, tensor) + contracted(x, dtensor),
    vjp=lambda ybar, x, tensor: (np.conj(tensor) @ ybar, np.outer(x, ybar)),
)


def real_vector_and_tensor(rng):
    return (rng.standard_normal(3), complex_normal((3, 4))(rng)[0][0]), {}


of_complex("a real vector contracted with a complex tensor", CONTRACTION, real_vector_and_tensor)


def product_of_all(z):
    return np.prod(z)


def products_of_others(z):
    return np.prod(np.where(np.eye(len(z), dtype=bool), 1, z), axis=1)


PRODUCT = Differentiable(
    product_of_all,
    jvp=lambda dz, z: np.sum(products_of_others(z) * dz),
    vjp=lambda ybar, z: np.conj(products_of_others(z)) * ybar,
)
of_complex("a product of all entries", PRODUCT, complex_normal(4))

# ------------------------------------------------------------------ matrices


def solve(a, b):
    return np.linalg.solve(a, b)


def solve_vjp(ybar, a, b):
    bbar = solve(adjoint(a), ybar)
    return -bbar @ adjoint(solve(a, b)), bbar


SOLVE = Differentiable(solve, jvp=lambda da, db, a, b: solve(a, db - da @ solve(a, b)), vjp=solve_vjp)


def shifted_matrix(*shapes):
    """Complex matrices, of which the first is well conditioned."""

    def inputs(rng):
        first, *others = complex_normal(*shapes)(rng)[0]
        return (first + 4 * np.eye(len(first)), *others), {}

    return inputs


of_complex("solutions of complex linear equations", SOLVE, shifted_matrix((3, 3), (3, 2)))
INVERSE = Differentiable(
    lambda a: np.linalg.inv(a),
    jvp=lambda da, a: -np.linalg.inv(a) @ da @ np.linalg.inv(a),
    vjp=lambda ybar, a: -adjoint(np.linalg.inv(a)) @ ybar @ adjoint(np.linalg.inv(a)),
)
of_complex("the inverse of a complex matrix far from singular ones", INVERSE, shifted_matrix((3, 3)))
of_complex(
    "the determinant of a complex matrix",
    Differentiable(
        lambda a: np.linalg.det(a),
        jvp=lambda da, a: np.linalg.det(a) * np.trace(np.linalg.solve(a, da)),
        vjp=lambda ybar, a: ybar * np.conj(np.linalg.det(a)) * adjoint(np.linalg.inv(a)),
    ),
    shifted_matrix((3, 3)),
)


def log_modulus_of_determinant(a):
    return np.linalg.slogdet(a)[1]


of_complex(
    "the logarithm of the modulus of a determinant",
    Differentiable(
        log_modulus_of_determinant,
        jvp=lambda da, a: np.real(np.trace(np.linalg.solve(a, da))),
        vjp=lambda ybar, a: ybar * adjoint(np.linalg.inv(a)),
        twin=lambda a: mpmath.log(abs(mpmath.det(mpmath.matrix(a.tolist())))),
    ),
    shifted_matrix((2, 2)),
)

# ------------------------------------------------------------------ moduli, angles and parts


def length(z):
    return np.sqrt(np.sum(squared_modulus(z)))


def mp_length(z):
    return mpmath.sqrt(np.sum(mp_squared_modulus(z)))


LENGTH = Differentiable(
    length, jvp=lambda dz, z: dot(z, dz) / length(z), vjp=lambda ybar, z: ybar * z / length(z), twin=mp_length
)
of_complex("the length of a complex vector", LENGTH, complex_normal(4))


def normalised(z):
    return z / length(z)


def normalised_jvp(dz, z):
    """Its matrix over the real numbers is symmetric, so that it is its own pullback."""
    y = normalised(z)
    return (dz - y * dot(y, dz)) / length(z)


of_complex(
    "a complex vector divided by its length",
    Differentiable(lambda z: normalised(z), normalised_jvp, normalised_jvp, twin=lambda z: z / mp_length(z)),
    complex_normal((2, 2)),
)


def sign_jvp(dz, z):
    """The part of dz across z, over the modulus; symmetric over the real numbers."""
    y = z / np.abs(z)
    return 1j * y * np.imag(np.conj(y) * dz) / np.abs(z)


SIGN = Differentiable(lambda z: z / np.abs(z), sign_jvp, sign_jvp, twin=lambda z: z / abs(z))
of_complex("the sign of complex numbers", SIGN, complex_normal(4))

POLAR = elementwise(
    lambda r, t: r * np.exp(1j * t),
    lambda r, t: np.exp(1j * t),
    lambda r, t: 1j * r * np.exp(1j * t),
    twin=lambda r, t: r * mp.exp(mp.i * t),
)
of_complex("complex numbers by radius and angle, of which one broadcasts", POLAR, normal((3, 1), (1, 2)))


def complex_of(a, b):
    return a + 1j * b


COMPLEX_OF = elementwise(complex_of, lambda a, b: 1.0, lambda a, b: 1j, twin=lambda a, b: a + mp.i * b)
of_complex("complex numbers by their parts", COMPLEX_OF, normal((2, 3), (2, 3)))
of_complex(
    "a rotation of complex numbers by real angles",
    elementwise(
        lambda z, t: z * np.exp(1j * t),
        lambda z, t: np.exp(1j * t),
        lambda z, t: 1j * z * np.exp(1j * t),
        twin=lambda z, t: z * mp.exp(mp.i * t),
    ),
    complex_and_real((2, 3), 3),
)


def phase_difference(a, b):
    return np.angle(a * np.conj(b))


def phase_difference_vjp(ybar, a, b):
    return 1j * ybar / np.conj(a), -1j * ybar / np.conj(b)


PHASE_DIFFERENCE = Differentiable(
    phase_difference,
    jvp=lambda da, db, a, b: np.imag(da / a) - np.imag(db / b),
    vjp=phase_difference_vjp,
    twin=lambda a, b: mp.angle(a * np.conj(b)),
)
of_complex("the difference of two phases", PHASE_DIFFERENCE, in_the_right_half_plane(4, 4))
LOG_MODULUS = Differentiable(
    lambda z: np.log(np.abs(z)),
    jvp=lambda dz, z: np.real(dz / z),
    vjp=lambda ybar, z: ybar / np.conj(z),
    twin=lambda z: mp.log(abs(z)),
)
of_complex("levels, which are logarithms of moduli", LOG_MODULUS, complex_normal((2, 3)))


def coherence(a, b):
    return squared_modulus(np.vdot(a, b)) / (np.sum(squared_modulus(a)) * np.sum(squared_modulus(b)))


def coherence_gradients(a, b):
    product, size_a, size_b = np.vdot(a, b), np.sum(squared_modulus(a)), np.sum(squared_modulus(b))
    y = coherence(a, b)
    return (
        2 * np.conj(product) * b / (size_a * size_b) - 2 * y * a / size_a,
        2 * product * a / (size_a * size_b) - 2 * y * b / size_b,
    )


of_complex(
    "the coherence of two signals",
    Differentiable(
        coherence,
        jvp=lambda da, db, a, b: sum(map(dot, coherence_gradients(a, b), (da, db))),
        vjp=lambda ybar, a, b: tuple(ybar * xbar for xbar in coherence_gradients(a, b)),
        twin=lambda a, b: (
            mp_squared_modulus(np.conj(a) @ b) / (np.sum(mp_squared_modulus(a)) * np.sum(mp_squared_modulus(b)))
        ),
    ),
    complex_normal(3, 3),
)

# ------------------------------------------------------------------ holomorphic functions

COMPLEX_POWER = elementwise(
    lambda z, w: z**w, lambda z, w: w * z ** (w - 1), lambda z, w: z**w * np.log(z + 0j), twin=lambda z, w: z**w
)
of_complex("complex powers of complex numbers", COMPLEX_POWER, in_the_right_half_plane(4, 4))
of_complex(
    "complex powers of positive numbers",
    COMPLEX_POWER,
    lambda rng: ((positive(4)(rng)[0][0], complex_normal(4)(rng)[0][0]), {}),
)
of_complex(
    "the Joukowsky map z + 1/z",
    elementwise(lambda z: z + 1 / z, lambda z: 1 - 1 / z**2),
    in_the_right_half_plane((2, 2)),
)
of_complex(
    "z log z away from the cut",
    elementwise(lambda z: z * np.log(z), lambda z: np.log(z) + 1),
    in_the_right_half_plane(5),
)


def moebius(a, b, c, d, z):
    return (a * z + b) / (c * z + d)


MOEBIUS = elementwise(
    moebius,
    lambda a, b, c, d, z: z / (c * z + d),
    lambda a, b, c, d, z: 1 / (c * z + d),
    lambda a, b, c, d, z: -z * (a * z + b) / (c * z + d) ** 2,
    lambda a, b, c, d, z: -(a * z + b) / (c * z + d) ** 2,
    lambda a, b, c, d, z: (a * d - b * c) / (c * z + d) ** 2,
)


def coefficients_and_points(rng):
    a, b, c, z = complex_normal((), (), (), 4)(rng)[0]
    return (a, b, 0.3 * c / abs(c), np.asarray(3 + 1j), z / np.abs(z)), {}


of_complex("a Möbius map", MOEBIUS, coefficients_and_points)


def polynomial(coefficients, z):
    """Horner's scheme, the highest power first."""
    return np.polyval(coefficients, z)


def powers(coefficients, z):
    return z[:, None] ** np.arange(len(coefficients) - 1, -1, -1)


POLYNOMIAL = Differentiable(
    polynomial,
    jvp=lambda dc, dz, c, z: powers(c, z) @ dc + np.polyval(np.polyder(c), z) * dz,
    vjp=lambda ybar, c, z: (adjoint(powers(c, z)) @ ybar, np.conj(np.polyval(np.polyder(c), z)) * ybar),
    twin=lambda c, z: sum(coefficient * z ** (len(c) - 1 - k) for k, coefficient in enumerate(c)),
)
of_complex("a polynomial at complex points", POLYNOMIAL, complex_normal(4, 3))

# ------------------------------------------------------------------ losses and layers


def split_tanh(z):
    return np.tanh(np.real(z)) + 1j * np.tanh(np.imag(z))


def split_tanh_product(dz, z):
    return np.real(dz) / np.cosh(np.real(z)) ** 2 + 1j * np.imag(dz) / np.cosh(np.imag(z)) ** 2


of_complex(
    "an activation of the parts alone",
    Differentiable(
        split_tanh,
        split_tanh_product,
        split_tanh_product,
        twin=lambda z: mp.tanh(mp.real(z)) + mp.i * mp.tanh(mp.imag(z)),
    ),
    complex_normal(4),
)


def cardioid(z):
    """Weakens numbers by how far they point to the left."""
    return 0.5 * (1 + np.cos(np.angle(z))) * z


def cardioid_jvp(dz, z):
    y = z / np.abs(z)
    turn = np.imag(np.conj(y) * dz) / np.abs(z)
    return 0.5 * (1 + np.real(y)) * dz - 0.5 * np.imag(y) * turn * z


def cardioid_vjp(ybar, z):
    y = z / np.abs(z)
    turn_bar = -0.5 * np.imag(y) * np.real(np.conj(z) * ybar)
    return 0.5 * (1 + np.real(y)) * ybar + 1j * y * turn_bar / np.abs(z)


of_complex(
    "an activation by the angle",
    Differentiable(cardioid, cardioid_jvp, cardioid_vjp, twin=lambda z: (1 + mp.real(z) / abs(z)) * z / 2),
    complex_normal((2, 3)),
)
SENSORS = np.random.default_rng(7).standard_normal((5, 3)) + 1j * np.random.default_rng(8).standard_normal((5, 3))


def intensity_loss(z, intensities):
    """Phase retrieval: how far |A z|² is from what was measured."""
    return 0.25 * np.sum((squared_modulus(SENSORS @ z) - intensities) ** 2)


def intensity_gradients(z, intensities):
    field = SENSORS @ z
    residual = squared_modulus(field) - intensities
    return adjoint(SENSORS) @ (residual * field), -0.5 * residual


INTENSITY_LOSS = Differentiable(
    intensity_loss,
    jvp=lambda dz, dm, z, m: sum(map(dot, intensity_gradients(z, m), (dz, dm))),
    vjp=lambda ybar, z, m: tuple(ybar * xbar for xbar in intensity_gradients(z, m)),
    twin=lambda z, m: np.sum((mp_squared_modulus(SENSORS @ z) - m) ** 2) / 4,
)
of_complex("a loss of phase retrieval", INTENSITY_LOSS, complex_and_real(3, 5))


def noise_loss(z, mean, spread):
    """The negative logarithm of a complex Gaussian's density."""
    return np.sum(squared_modulus(z - mean) / spread**2 + 2 * np.log(spread))


def noise_loss_gradients(z, mean, spread):
    scaled = 2 * (z - mean) / spread**2
    return scaled, -scaled, -2 * squared_modulus(z - mean) / spread**3 + 2 / spread


of_complex(
    "a likelihood of complex noise",
    Differentiable(
        noise_loss,
        jvp=lambda dz, dm, ds, *args: sum(map(dot, noise_loss_gradients(*args), (dz, dm, ds))),
        vjp=lambda ybar, *args: tuple(ybar * xbar for xbar in noise_loss_gradients(*args)),
        twin=lambda z, mean, spread: np.sum(mp_squared_modulus(z - mean) / spread**2 + 2 * mp.log(spread)),
    ),
    lambda rng: ((*complex_normal(4, 4)(rng)[0], rng.uniform(0.5, 2, 4)), {}),
)


def standardised(z):
    """Centred along the first axis, with mean square modulus 1."""
    centred = z - np.mean(z, axis=0)
    return centred / np.sqrt(np.mean(squared_modulus(centred), axis=0))


def standardised_product(dz, z):
    """Symmetric over the real numbers, as a projection divided by a number."""
    size = np.sqrt(np.mean(squared_modulus(z - np.mean(z, axis=0)), axis=0))
    y = standardised(z)
    centred = dz - np.mean(dz, axis=0)
    return (centred - y * np.mean(np.real(np.conj(y) * centred), axis=0)) / size


def batch_norm(z, scale, shift):
    return scale * standardised(z) + shift


def batch_norm_vjp(ybar, z, scale, shift):
    return (
        standardised_product(scale * ybar, z),
        np.sum(np.real(np.conj(standardised(z)) * ybar), axis=0),
        unbroadcast(ybar, np.shape(shift)),
    )


def mp_standardised(z):
    centred = z - np.sum(z, axis=0) / len(z)
    return centred / mp.sqrt(np.sum(mp_squared_modulus(centred), axis=0) / len(z))


BATCH_NORM = Differentiable(
    batch_norm,
    jvp=lambda dz, dscale, dshift, z, scale, shift: (
        scale * standardised_product(dz, z) + dscale * standardised(z) + dshift
    ),
    vjp=batch_norm_vjp,
    twin=lambda z, scale, shift: scale * mp_standardised(z) + shift,
)


def a_complex_batch(rng):
    return (complex_normal((4, 2))(rng)[0][0], rng.uniform(1, 2, 2), complex_normal(2)(rng)[0][0]), {}


of_complex("a batch norm with a real scale and a complex shift", BATCH_NORM, a_complex_batch)
