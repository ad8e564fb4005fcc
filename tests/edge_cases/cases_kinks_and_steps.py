"""Kinks and steps: the derivative jumps, or the function does."""

import numpy as np
from edge_case import case

OUTSIDE = "a clip gives 0 at the edge, and the bound has the derivative"
ANY_SLOPE = "0 of [-1, 1]"

TITLE = "Kinks and steps"
CASES = [
    case("abs(0)", np.abs, 0.0, gradient=0, also=(1, -1), why=ANY_SLOPE),
    case("abs(-0.0)", np.abs, -0.0, gradient=0, also=(1, -1), why=ANY_SLOPE),
    case("fabs(0)", np.fabs, 0.0, gradient=0, also=(1, -1), why=ANY_SLOPE),
    case("abs(0+0j)", np.abs, 0j, gradient=0, tangent=0),
    case(
        "relu: maximum(x,0) at 0",
        lambda x: np.maximum(x, 0),
        0.0,
        gradient=0.5,
        also=(0, 1),
        why="half to each",
    ),
    case(
        "torch.relu / clamp(min=0) / mygrad relu at 0",
        lambda x: np.clip(x, 0, None),
        0.0,
        gradient=0,
        also=(0.5, 1),
        why=OUTSIDE,
    ),
    case("jax.nn.relu at 0", lambda x: x * (x > 0), 0.0, gradient=0, also=(1,), why="`x * (x > 0)`"),
    case("where(x>0,x,0) at 0", lambda x: np.where(x > 0, x, 0), 0.0, gradient=0),
    case("clip(x,0,1) at x=0", lambda x: np.clip(x, 0, 1), 0.0, gradient=0, also=(0.5, 1), why=OUTSIDE),
    case("clip(x,0,1) at x=1", lambda x: np.clip(x, 0, 1), 1.0, gradient=0, also=(0.5, 1), why=OUTSIDE),
    case("clip(x,a_min=None,1) at 0.5", lambda x: np.clip(x, None, 1), 0.5, gradient=1),
    case("clip wrt (x,lo,hi) at x<lo", np.clip, -1.0, 0.0, 1.0, gradient=(0, 1, 0)),
    case(
        "clip wrt (x,lo,hi) tie lo",
        np.clip,
        0.0,
        0.0,
        1.0,
        gradient=(0, 1, 0),
        also=((0.5, 0.5, 0), (1, 0, 0)),
        why=f"{OUTSIDE}; the three must sum to 1",
    ),
    case("clip lo=hi=x", lambda x: np.clip(x, 1, 1), 1.0, gradient=0, why="clip(x, 1, 1) is 1 for every x"),
    case("sign(0)", np.sign, 0.0, gradient=0),
    case("floor(1.0)", np.floor, 1.0, gradient=0),
    case("round(2.5)", np.round, 2.5, gradient=0),
    case("mod(4,2) wrt both", np.mod, 4.0, 2.0, gradient=(1, -2)),
    case("mod(-3.5,2) wrt both", np.mod, -3.5, 2.0, gradient=(1, 2)),
    case("fmod(-3.5,2) wrt both", np.fmod, -3.5, 2.0, gradient=(1, 1)),
    case(
        "copysign(0,-1) wrt both",
        np.copysign,
        0.0,
        -1.0,
        gradient=(0, 0),
        also=((-1, 0), (1, 0)),
        why="-|x|, so 0 as for `abs`",
    ),
    case("copysign(2,-1) wrt both", np.copysign, 2.0, -1.0, gradient=(-1, 0)),
    case("heaviside(0,.5) wrt both", np.heaviside, 0.0, 0.5, gradient=(0, 1)),
    case("d2 abs at 0", np.abs, 0.0, second=0),
    case("d2 maximum(x,0) at 0", lambda x: np.maximum(x, 0), 0.0, second=0),
]
