"""prod, cumprod and cumsum: zeros among the factors, axes."""

import numpy as np
from edge_case import case

EXACT = "the product of the other factors"
W = np.array([[1.0, 2.0], [3.0, 4.0]])

TITLE = "prod, cumprod, cumsum"
CASES = [
    case("prod([2,0,3])", np.prod, [2.0, 0.0, 3.0], gradient=[0, 6, 0], why=EXACT),
    case("prod([0,0,3])", np.prod, [0.0, 0.0, 3.0], gradient=[0, 0, 0], why=EXACT),
    case(
        "prod axis=1, zeros",
        lambda x: np.prod(x, axis=1),
        [[2.0, 0.0], [3.0, 4.0]],
        gradient=[[0, 2], [4, 3]],
        tangent=[2, 7],
        why=EXACT,
    ),
    case(
        "prod axis=(0,1)",
        lambda x: np.prod(x, axis=(0, 1)),
        [[2.0, 1.0], [3.0, 4.0]],
        gradient=[[12, 24], [8, 6]],
    ),
    case("cumprod([2,0,3])", np.cumprod, [2.0, 0.0, 3.0], gradient=[1, 8, 0], tangent=[1, 2, 6]),
    case("d2 prod([2,0,3]) (sum of Hessian cols)", np.prod, [2.0, 0.0, 3.0], second=[3, 5, 2], why=EXACT),
    case(
        "cumsum 2-D axis=-1",
        lambda x: np.sum(W * np.cumsum(x, axis=-1)),
        [[1.0, 1.0], [1.0, 1.0]],
        gradient=[[3, 2], [7, 4]],
    ),
    case(
        "cumsum 2-D axis=0 weights",
        lambda x: np.sum(W * np.cumsum(x, axis=0)),
        [[1.0, 1.0], [1.0, 1.0]],
        gradient=[[4, 6], [3, 4]],
    ),
]
