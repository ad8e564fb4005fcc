"""Interpolants whose objects hold what they are made of, and are functions of the points: their rules, all alike.

`interpolant` defines, for a class of SciPy's, a class of the same name whose objects can be built from and called with
values that are being differentiated, and the rules of building and calling. What is the same for numbers is asked of an
object of SciPy's.
"""

import functools
import inspect

from rules.numpy.array_like import tracer_within
from rules.scipy.interpolate.bsplines import Constant
from rules.scipy.interpolate.piecewise import Constructed
from rules.scipy.linear_maps import composed, reference_ad
from rulescore import AbstractZero, NoTangent, Tangent, frule, instances_of, not_implemented, rrule

NO_TANGENT = NoTangent()


class Held(Constructed):
    """An object that holds what it is made of by name, beside the object of SciPy's for numbers.

    Attributes
    ----------
    names : tuple of str
        What it is made of.
    build, values : callable
        See `interpolant`.
    """

    def __init__(self, *args, **kwargs):
        if tracer_within((*args, *kwargs.values())) is None:
            self.hold(*type(self).build(*args, **kwargs))

    def hold(self, plain, *parts):
        self.__dict__.update({**dict(zip(self.names, parts, strict=True)), "plain": Constant(plain)})
        return self

    def __copy__(self):
        # Some of SciPy's classes say how they are pickled, which knows nothing of what is held.
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def parts(self):
        return [self.__dict__[name] for name in self.names]

    def __getattr__(self, name):
        plain = self.__dict__.get("plain")
        if plain is None:
            raise AttributeError(name)
        return getattr(plain.value, name)

    def __call__(self, *args, **kwargs):
        plain = self.__dict__["plain"].value
        if tracer_within((*args, *kwargs.values(), *self.parts())) is None:
            return plain(*args, **kwargs)
        return type(self).values(plain, *self.parts(), *args, **kwargs)


def interpolant(cls, names, build, values, parts_of):
    """Define the rules of a class of interpolants, and the class that stands in for it.

    Parameters
    ----------
    cls : type
        The class of SciPy's.
    names : tuple of str
        What an object holds that may be differentiated.
    build : callable
        ``build(*args)``, with the signature that the rules serve: the object of SciPy's for numbers, and the parts.
    values : callable
        ``values(plain, *parts, points)``, what a call returns, in functions that can be differentiated.
    parts_of : callable
        ``parts_of(plain)``, the parts of an object of SciPy's.

    Returns
    -------
    type
    """
    namespace = {"names": names, "build": staticmethod(build), "values": staticmethod(values), "__doc__": cls.__doc__}
    ours = type(cls.__name__, (Held, cls), {**namespace, "__module__": "rules.scipy.interpolate"})

    def built(*args, **kwargs):
        return object.__new__(ours).hold(*build(*args, **kwargs))

    built.__wrapped__ = build  # whose signature decides which calls are served
    composed(cls)(built)
    of_scipy = not_implemented(
        f"a {cls.__name__} of SciPy's with respect to the object; build the one of rules.scipy.interpolate where what "
        "it is made of is differentiated"
    )

    def opened(held):
        """The object of SciPy's, and the parts."""
        return (held.__dict__["plain"].value, held.parts()) if isinstance(held, ours) else (held, parts_of(held))

    @frule.register(instances_of(cls))
    @naming_points_as(cls)
    def call_frule(tangents, held, x):
        (dheld, dx, *_), (plain, parts) = tangents, opened(held)
        moves = not isinstance(dheld, AbstractZero)
        moving = [dheld[name] for name in names] if moves and isinstance(held, ours) else [NO_TANGENT] * len(names)
        of_all = reference_ad().frule_via_ad
        y, dy = of_all((NO_TANGENT, *moving, dx), lambda *args: values(plain, *args), *parts, x)
        return y, of_scipy if moves and not isinstance(held, ours) else dy

    @rrule.register(instances_of(cls))
    @naming_points_as(cls)
    def call_rrule(held, x):
        plain, parts = opened(held)
        y, pullback = reference_ad().rrule_via_ad(lambda *args: values(plain, *args), *parts, x)

        def call_pullback(ybar):
            _, *bars = (*pullback(ybar), *[NO_TANGENT] * (len(names) + 1))[: len(names) + 2]
            if not isinstance(held, ours):
                return of_scipy, bars[-1]
            return Tangent(type(held), **dict(zip(names, bars[:-1], strict=True))), bars[-1]

        return y, call_pullback

    return ours


def naming_points_as(cls):
    """A decorator of rules: their last argument, the points, has the name that it has in a call of an object."""
    points = list(inspect.signature(cls.__call__).parameters.values())[1]
    is_unnamed = points.kind is inspect.Parameter.VAR_POSITIONAL

    def decorate(rule):
        *others, own = inspect.signature(rule).parameters.values()

        @functools.wraps(rule)
        def renamed(*args, **kwargs):
            return rule(*args, *kwargs.values())

        if is_unnamed:
            every = [p.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for p in (*others, own)]
        else:
            every = [*others, own.replace(name=points.name)]
        renamed.__signature__ = inspect.Signature(every)
        return renamed

    return decorate
