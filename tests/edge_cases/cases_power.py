"""Powers: bases of zero, negative bases, exponents that are whole."""

import math

import numpy as np
from edge_case import case

nan, inf = np.nan, np.inf
TABLE = "the table of ChainRules.jl's tests; 0ᵖ jumps at p = 0, so it has no derivative there"
REAL_PART = "the real part of xᵖ log x; strictly, (-2)ᵖ is real at whole p only"

TITLE = "Powers"
CASES = [
    case("x**0 at x=0", lambda x: x**0, 0.0, gradient=0),
    case("x**0. at x=0 (float exp)", lambda x: x**0.0, 0.0, gradient=0, why="x⁰ is 1 for every x"),
    case("x**1 at 0", lambda x: x**1, 0.0, gradient=1),
    case("x**2 at 0", lambda x: x**2, 0.0, gradient=0),
    case("d2 x**2 at 0", lambda x: x**2, 0.0, second=2),
    case("d2 x**1 at 0", lambda x: x**1, 0.0, second=0),
    case("x**2. at x=-1.5", lambda x: x**2.0, -1.5, gradient=-3),
    case("x**3 at -2 (int exp)", lambda x: x**3, -2.0, gradient=12),
    case("0**y at y=2", lambda y: 0.0**y, 2.0, gradient=0),
    case("0**y at y=.5", lambda y: 0.0**y, 0.5, gradient=0),
    case("0**y at y=0", lambda y: 0.0**y, 0.0, gradient=nan, also=(0, -inf), why=TABLE),
    case("0**0 wrt both", np.power, 0.0, 0.0, gradient=(0, nan), also=((0, 0), (0, -inf)), why=TABLE),
    case(
        "(-2)**3. wrt both",
        np.power,
        -2.0,
        3.0,
        gradient=(12, -8 * math.log(2)),
        also=((12, nan),),
        why=REAL_PART,
    ),
    case("0**-1 wrt both", np.power, 0.0, -1.0, gradient=(-inf, nan), also=((-inf, -inf),), why=TABLE),
    case("0**1. wrt both", np.power, 0.0, 1.0, gradient=(1, 0)),
    case("float_power(0,0) wrt both", np.float_power, 0.0, 0.0, gradient=(0, nan), also=((0, 0), (0, -inf)), why=TABLE),
]
