"""Interpolants that are built and called in one: `evaluated`, a function of our own."""

from multipledispatch import MDNotImplementedError

from rulescore import is_traced, seen_by_tracers

from ..linear_maps import composed


def evaluated(build, data, points, nu=0, options=None):
    """Build an interpolant and call it.

    Parameters
    ----------
    build : callable
        A class of `scipy.interpolate`, such as ``CubicSpline``, or a function that returns an object of one.
    data : tuple
        What it is built from.
    points : array_like
        Where it is called.
    nu : int, optional
        The order of the derivative that is taken there.
    options : dict, optional
        The keyword arguments that it is built with.

    Returns
    -------
    y : array
        ``build(*data, **options)(points)``, which may be differentiated with respect to data and points, whether
        they are or not.

    Examples
    --------
    >>> from scipy.interpolate import CubicSpline
    >>> float(evaluated(CubicSpline, ([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]), 1.5))
    2.25
    """
    options = {} if options is None else options
    try:
        interpolant = seen_by_tracers(build, *data, **options)
    except TypeError as error:  # where the rule of what is built declines, so does this one
        if type(error).__name__ == "NoRuleError":
            raise MDNotImplementedError from error
        raise
    order = () if nu == 0 else (nu,)
    if not is_traced(*data, *options.values()):
        return seen_by_tracers(interpolant, points, *order)
    return interpolant(points, *order)


composed(evaluated)(evaluated)
