"""Ties: several elements are the largest, or two arguments are equal."""

import numpy as np
from edge_case import case

SHARED = "ties share equally"
nan = np.nan

TITLE = "Ties"
CASES = [
    case(
        "max([1,3,3,2])",
        np.max,
        [1.0, 3.0, 3.0, 2.0],
        gradient=[0, 0.5, 0.5, 0],
        also=([0, 1, 0, 0], [0, 0, 1, 0]),
        why=SHARED,
    ),
    case(
        "torch.max(x) (no dim) for same",
        lambda x: x.max(),
        [1.0, 3.0, 3.0, 2.0],
        gradient=[0, 0.5, 0.5, 0],
        also=([0, 1, 0, 0], [0, 0, 1, 0]),
        why=SHARED,
    ),
    case(
        "torch.max(x,dim=0).values",
        lambda x: np.max(x, axis=0),
        [1.0, 3.0, 3.0, 2.0],
        gradient=[0, 0.5, 0.5, 0],
        also=([0, 1, 0, 0], [0, 0, 1, 0]),
        why=SHARED,
    ),
    case(
        "min([1,1,3])",
        np.min,
        [1.0, 1.0, 3.0],
        gradient=[0.5, 0.5, 0],
        also=([1, 0, 0], [0, 1, 0]),
        why=SHARED,
    ),
    case(
        "max axis=1 ties 2-D",
        lambda x: np.max(x, axis=1),
        [[1.0, 1.0], [1.0, 2.0]],
        gradient=[[0.5, 0.5], [0, 1]],
        tangent=[1, 1],
        also=([[1, 0], [0, 1]], [[0, 1], [0, 1]]),
        why=SHARED,
    ),
    case(
        "max with NaN [1,nan,2]",
        np.max,
        [1.0, nan, 2.0],
        gradient=[0, 1, 0],
        also=([nan, nan, nan],),
        why="the NaN is the result, so the derivative is its",
    ),
    case(
        "maximum(2,2) wrt both",
        np.maximum,
        2.0,
        2.0,
        gradient=(0.5, 0.5),
        also=((1, 0), (0, 1)),
        why="half to each; the two must sum to 1",
    ),
    case(
        "minimum(2,2) wrt both",
        np.minimum,
        2.0,
        2.0,
        gradient=(0.5, 0.5),
        also=((1, 0), (0, 1)),
        why="half to each; the two must sum to 1",
    ),
    case("fmax(2,2) wrt both", np.fmax, 2.0, 2.0, gradient=(0.5, 0.5), also=((1, 0), (0, 1)), why=SHARED),
    case("fmax(nan,2) wrt both", np.fmax, nan, 2.0, gradient=(0, 1)),
    case(
        "maximum(nan,2) wrt both",
        np.maximum,
        nan,
        2.0,
        gradient=(1, 0),
        also=((nan, 0), (0, 0)),
        why="the NaN is the result, so the derivative is its",
    ),
    case("maximum(x,x) at 2", lambda x: np.maximum(x, x), 2.0, gradient=1, why="maximum(x, x) is x"),
    case(
        "sort([2,1,2])·[1,2,3]",
        lambda x: np.sort(x) @ np.array([1.0, 2.0, 3.0]),
        [2.0, 1.0, 2.0],
        gradient=[2.5, 1, 2.5],
        also=([2, 1, 3], [3, 1, 2]),
        why=SHARED,
    ),
    case("median([1,2,3,4])", np.median, [1.0, 2.0, 3.0, 4.0], gradient=[0, 0.5, 0.5, 0]),
    case(
        "torch.median([1,2,3,4]) (lower)",
        lambda x: np.quantile(x, 0.5, method="lower"),
        [1.0, 2.0, 3.0, 4.0],
        gradient=[0, 1, 0, 0],
        also=([0, 0.5, 0.5, 0],),
        why='`quantile(x, 0.5, method="lower")`; JAX has no such median, its cell is of the one in the middle',
    ),
    case(
        "median([1,2,2,2])",
        np.median,
        [1.0, 2.0, 2.0, 2.0],
        gradient=[0, 1 / 3, 1 / 3, 1 / 3],
        also=([0, 0.5, 0.5, 0],),
        why=SHARED,
    ),
    case("quantile([1,2,3],.5)", lambda x: np.quantile(x, 0.5), [1.0, 2.0, 3.0], gradient=[0, 1, 0]),
    case("ptp([1,1,1])", np.ptp, [1.0, 1.0, 1.0], gradient=[0, 0, 0]),
]
