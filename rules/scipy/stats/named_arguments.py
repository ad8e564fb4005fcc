"""The arguments of a function by name, for rules made from a table that says how each of them is differentiated."""

import functools
import inspect

from rulescore import pullback_wrt, pushforward, seen_by_tracers


class Arguments:
    """The arguments of a function by name, for rules that take whatever it is called with.

    Parameters
    ----------
    f : callable
        The function.
    constant : set of str
        The arguments without a derivative.
    moving : set of str
        Those that have one, however they are given: rules have a place for them.
    """

    def __init__(self, f, constant=frozenset(), moving=frozenset()):
        parameters = [p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(f).parameters.values()]
        names = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        self.f, self.count = f, len(names)
        if not moving <= {*names}:
            parameters = [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in parameters]
            names = [p.name for p in parameters]
        self.signature, self.names, self.constant = inspect.Signature(parameters), names, constant

    def called(self, args, kwargs):
        """The function's value, which takes some arguments by name alone."""
        named = dict(zip(self.names[self.count :], args[self.count :], strict=False))
        return seen_by_tracers(self.f, *args[: self.count], **named, **kwargs)

    def values(self, args, kwargs):
        """The arguments of a call, with the defaults of those that are left out."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def pushforward(self, rule):
        """`pushforward` of a rule that gets a dictionary of tangents: ``rule(tangents, *args, **kwargs)``."""
        count = len(self.names)

        @functools.wraps(rule)
        def rule_by_position(*values, **kwargs):
            return rule(dict(zip(self.names, values[:count], strict=True)), *values[count:], **kwargs)

        prefixes = ["_d" if name in self.constant else "d" for name in self.names]
        tangents = [
            inspect.Parameter(prefix + name, inspect.Parameter.POSITIONAL_ONLY)
            for prefix, name in zip(prefixes, self.names, strict=True)
        ]
        rule_by_position.__signature__ = inspect.Signature([*tangents, *self.signature.parameters.values()])
        return pushforward(rule_by_position)

    def pullback(self, cotangent, args, kwargs):
        """The pullback by ``cotangent(name, ybar)``, of the arguments up to the last one that has a position."""
        count = max([len(args), *(1 + self.names.index(name) for name in kwargs if name in self.names)])
        values, given = self.values(args, kwargs), self.names[:count]
        primals = [... if name in self.constant else values[name] for name in given]
        return pullback_wrt(*primals)(
            *[functools.partial(cotangent, name) for name in given if name not in self.constant]
        )
