"""Functions whose rules are looked up: by a rule table, by a bare dispatcher, and not at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from multipledispatch import Dispatcher

from rulescore import NoTangent, frule, rrule

TABLES = {"rrule": rrule, "frule": frule}


class Contest:
    """The bodies of a function's two rules, which either table reaches; so does a dispatcher."""

    def __init__(self, function, args):
        self.function = function
        self.args = args
        self.bodies = {t: t.lookup(function, *map(type, args)).implementation for t in (rrule, frule)}
        self.leading = {rrule: (), frule: ((NoTangent(), *args),)}

    @classmethod
    def of_arity(cls, arity):
        """With rules that do nothing."""
        names = ", ".join("abcd"[:arity])
        function = eval(f"lambda {names}: None")
        rrule.register(function)(eval(f"lambda {names}: None"))
        frule.register(function)(eval(f"lambda tangents, {names}: None"))
        return cls(function, (np.ones(3),) * arity)

    def calls(self, table):
        """The ways to reach the body of a table's rule, each with its arguments."""
        body, leading = self.bodies[table], self.leading[table]
        dispatcher = Dispatcher("function")
        dispatcher.add((object,) * (len(leading) + len(self.args)), body)
        return {
            "body": (body, (*leading, *self.args)),
            "dispatcher": (dispatcher, (*leading, *self.args)),
            "table": (table, (*leading, self.function, *self.args)),
        }


CONTESTS: dict[str, Callable[[], Contest]] = {
    "arity 1": lambda: Contest.of_arity(1),
    "arity 2": lambda: Contest.of_arity(2),
    "arity 3": lambda: Contest.of_arity(3),
    "sin": lambda: Contest(np.sin, (np.ones(3),)),
}
