"""Before a rule is called wrong: is the function differentiable here at all?"""

from __future__ import annotations

import numpy as np

from testutils.cases import Argument, Case
from testutils.comparison import ERROR_ESTIMATES
from testutils.vectorisation import Vector


def freedom_of(case: Case, argument: Argument) -> Vector:
    """How far a rule may be off in each entry of the output, because no derivative exists there.

    A derivative adds up over directions. At ties the slopes along single directions can be smooth, precise and equal
    from both sides (that of the median of three equal numbers is the median of the velocities), and yet they do not
    add up, and a rule that shares among the ties agrees with none of them. Zero where they do add up.
    """
    if argument.position not in case.freedoms:
        case.freedoms[argument.position] = _freedom(case, argument)
    return case.freedoms[argument.position]


def _freedom(case: Case, argument: Argument) -> Vector:
    directions = case.directions(argument)
    if len(directions) < 2:
        return np.zeros(case.output_cotangent_vector.size)
    one = case.derivative(argument, 0)
    freedom = np.zeros(one.value.size)
    # Several pairs, since one may add up by chance, and of equal weight, so that neither direction dominates the sum.
    own, signs = directions
    signs = signs * (np.linalg.norm(own) / np.linalg.norm(signs))
    for direction in (signs, -signs, np.roll(own, 1), -np.roll(own, 2)):
        other, joint = (case.derivative_along(argument, d) for d in (direction, own + direction))
        with np.errstate(all="ignore"):
            size = np.abs(one.value) + np.abs(other.value) + np.abs(joint.value)
            error = ERROR_ESTIMATES * (one.error + other.error + joint.error)
            adds_up = np.abs(joint.value - one.value - other.value) <= error + case.tolerance.relative * size
        freedom = np.maximum(freedom, np.where(adds_up | ~np.isfinite(size), 0.0, size))
    return freedom
