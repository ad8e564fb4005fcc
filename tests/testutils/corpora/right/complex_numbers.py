"""Functions of complex numbers, holomorphic or not."""

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, complex_normal, elementwise, normal
from corpora.right.entry import fixed, right


def squared_modulus(z):
    return z.real**2 + z.imag**2


MODULUS = Differentiable(
    np.abs,
    jvp=lambda dz, z: np.real(np.conj(np.sign(z)) * dz),
    vjp=lambda ybar, z: np.sign(z) * np.real(ybar),
    twin=abs,
)
SQUARED_MODULUS = Differentiable(
    squared_modulus,
    jvp=lambda dz, z: 2 * np.real(np.conj(z) * dz),
    vjp=lambda ybar, z: 2 * z * np.real(ybar),
    twin=lambda z: abs(z) ** 2,
)
ANGLE = Differentiable(
    np.angle,
    jvp=lambda dz, z: np.imag(dz / z),
    vjp=lambda ybar, z: 1j * np.real(ybar) / np.conj(z),
    twin=mp.angle,
)
CONJ = Differentiable(np.conj, jvp=lambda dz, z: np.conj(dz), vjp=lambda ybar, z: np.conj(ybar), twin=np.conj)
REAL_PART = Differentiable(
    np.real,
    jvp=lambda dz, z: np.real(dz),
    vjp=lambda ybar, z: np.real(ybar) + 0 * z,
    twin=mp.real,
)

right("a complex exponential", elementwise(np.exp, np.exp, twin=mp.exp), complex_normal(4))
right("a complex logarithm", elementwise(np.log, lambda z: 1 / z, twin=mp.log), complex_normal(4))
right(
    "a complex root at 1e-6 from its branch cut",
    elementwise(np.sqrt, lambda z: 0.5 / np.sqrt(z), twin=mp.sqrt),
    lambda rng: ((-rng.uniform(1, 2, 4) + 1e-6j * rng.choice([-1, 1], 4),), {}),
)
right("a modulus", MODULUS, complex_normal((2, 2)))
right("a modulus near 0", MODULUS, lambda rng: ((1e-9 * complex_normal(4)(rng)[0][0],), {}))
right("a modulus at 0", MODULUS, fixed(np.array([0j, 1 + 1j])), at_kink=True)
right("a squared modulus", SQUARED_MODULUS, complex_normal(5))
right("an angle", ANGLE, complex_normal(4))
right("a conjugate", CONJ, complex_normal(4))
right("a real part", REAL_PART, complex_normal(4))
right(
    "a complex number in single precision",
    elementwise(np.exp, np.exp, twin=mp.exp),
    lambda rng: ((complex_normal(3)(rng)[0][0].astype(np.complex64),), {}),
    accuracy=1e-5,
)
right(
    "a phase, complex of a real argument",
    elementwise(lambda x: np.exp(1j * x), lambda x: 1j * np.exp(1j * x), twin=lambda x: mp.exp(mp.i * x)),
    normal(4),
)
right(
    "a product of real and complex numbers",
    elementwise(np.multiply, lambda a, b: b, lambda a, b: a, twin=lambda a, b: a * b),
    lambda rng: ((rng.standard_normal(4), complex_normal(4)(rng)[0][0]), {}),
)
