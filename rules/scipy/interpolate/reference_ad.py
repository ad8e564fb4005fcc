"""Derivatives of functions that are made of functions with rules, by the reference AD."""

from rulescore import NoTangent, ZeroTangent

from ..linear_maps import reference_ad


def with_tangent(f, args, dargs):
    """``f(*args)`` and its tangent."""
    return reference_ad().frule_via_ad((NoTangent(), *dargs), f, *args)


def with_cotangents(f, *args):
    """``f(*args)``, and a function that maps the cotangent of that to the cotangents of all arguments."""
    y, pullback = reference_ad().rrule_via_ad(f, *args)

    def cotangents(ybar):
        _, *bars = pullback(ybar)
        return *bars, *[ZeroTangent()] * (len(args) - len(bars))  # of what depends on nothing there are none

    return y, cotangents
