"""Complex numbers: the cotangent of z for a real loss L is ∂L/∂Re z + i ∂L/∂Im z.

PyTorch has the same convention. JAX and HIPS autograd have the conjugate, which is as right.
"""

import numpy as np
from edge_case import case

PAIR = "as of a pair of real numbers"
Z = 1 + 2j

TITLE = "Complex numbers"
CASES = [
    case("f: C->R abs(z)**2 at 1+2j", lambda z: np.abs(z) ** 2, Z, gradient=2 + 4j, tangent=2),
    case("real(z) at 1+2j", np.real, Z, gradient=1, tangent=1),
    case("imag(z) at 1+2j", np.imag, Z, gradient=1j, tangent=0),
    case("angle(z) at 1+2j", np.angle, Z, gradient=-0.4 + 0.2j, tangent=-0.4),
    case("real(z*(3+4j)) at 1+2j", lambda z: np.real(z * (3 + 4j)), Z, gradient=3 - 4j, tangent=3),
    case("vjp of z**2 with cotangent 1 at 1+2j", lambda z: z**2, Z, gradient=2 - 4j, tangent=2 + 4j),
    case("vjp of conj(z) cot 1", np.conj, Z, gradient=1, tangent=1),
    case("real x -> x*(1+2j), vjp cot 1", lambda x: x * (1 + 2j), 1.0, gradient=1, tangent=1 + 2j),
    case("real x: real(fft(x)[1])", lambda x: np.real(np.fft.fft(x)[1]), [1.0, 2.0, 3.0], gradient=[1, -0.5, -0.5]),
    case(
        "irfft(z) vjp cot ones, z complex (imag of DC?)",
        np.fft.irfft,
        [1 + 1j, 2 + 1j, 3 + 0j],
        gradient=[1, 0, 0],
        tangent=[1, 0, 0, 0],
        why="`irfft` ignores the imaginary part of z₀",
    ),
    case(
        "rfft odd length 5 real part sum",
        lambda x: np.sum(np.real(np.fft.rfft(x))),
        [1.0, 1.0, 1.0, 1.0, 1.0],
        gradient=[3, 0.5, 0.5, 0.5, 0.5],
        why="1 + cos 2πk/5 + cos 4πk/5",
    ),
]
