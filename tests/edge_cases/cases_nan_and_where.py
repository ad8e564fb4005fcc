"""NaN and infinity, and what keeps them out."""

import numpy as np
from edge_case import case

nan, inf = np.nan, np.inf
NOT_TAKEN = "what the branch not taken makes of x stays out"

TITLE = "NaN and where"
CASES = [
    case("where(x>0,log(x),0) at x=0", lambda x: np.where(x > 0, np.log(x), 0), 0.0, gradient=0, why=NOT_TAKEN),
    case("where(x>0,sqrt(x),0) at x=0", lambda x: np.where(x > 0, np.sqrt(x), 0), 0.0, gradient=0, why=NOT_TAKEN),
    case("where(x>0,log(x),0) at x=-1", lambda x: np.where(x > 0, np.log(x), 0), -1.0, gradient=0),
    case("nansum([1,nan])", np.nansum, [1.0, nan], gradient=[1, 0]),
    case("nanmax([1,nan,3])", np.nanmax, [1.0, nan, 3.0], gradient=[0, 0, 1]),
    case("nan_to_num([nan,inf,1])", np.nan_to_num, [nan, inf, 1.0], gradient=[0, 0, 1], tangent=[0, 0, 1]),
    case(
        "0*inf: x*exp(1000) at 0",
        lambda x: x * np.exp(x + 1000),
        0.0,
        gradient=nan,
        why="exp overflows, and the value itself is NaN",
    ),
]
