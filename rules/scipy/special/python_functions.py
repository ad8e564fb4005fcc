"""What the rules of SciPy's elementwise functions that are no ufuncs share.

Such a function does not know a tracer, and takes keywords; so its rules are written out, its primal goes by
`seen_by_tracers`, and the two functions here make pushforward and pullback of its partial derivatives.
"""

import functools

import numpy as np

from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, project_to, unbroadcast, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()


def pushforward(y, tangents, *partials):
    """ẏ = Σᵢ (∂y/∂xᵢ) ẋᵢ.

    Of every argument there is a function that computes the partial derivative, None where there is none, or what
    `not_implemented` returns.
    """
    dy = ZeroTangent()
    for dx, partial in zip(tangents[1:], partials, strict=False):
        if partial is None or isinstance(dx, AbstractZero):
            continue
        if not callable(partial):
            return y, partial
        dy = dy + partial() * dx
    if isinstance(dy, AbstractZero):
        return y, dy
    return y, project_to(y)(dy if np.shape(dy) == np.shape(y) else np.broadcast_to(dy, np.shape(y)))


def pullback(arguments, *partials):
    """x̄ᵢ = conj(∂y/∂xᵢ) ȳ, summed where xᵢ was broadcast; the partial derivatives as for `pushforward`."""
    projects = [NON_DIFFERENTIABLE if p is None else project_to(x) for x, p in zip(arguments, partials, strict=False)]
    shapes = [np.shape(x) for x in arguments]

    def cotangent(i, ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return projects[i](ybar)
        return projects[i](unbroadcast(np.conj(partials[i]()) * ybar, shapes[i]))

    def elementwise_pullback(ybar):
        bars = [NO_TANGENT] * (1 + len(projects))
        for i, project in enumerate(projects):
            if project is not NON_DIFFERENTIABLE:
                bars[1 + i] = Thunk(functools.partial(cotangent, i, ybar)) if callable(partials[i]) else partials[i]
        return tuple(bars)

    return elementwise_pullback
