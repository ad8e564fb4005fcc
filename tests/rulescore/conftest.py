"""What the tests of both tables share: one way to write a rule and to call it, whichever table it is in."""

import functools
import inspect
import sys

import pytest

from rulescore import NoTangent, frule, rrule


class Serving:
    """A table, with rules that only answer which of them was reached.

    A rule is written with the signature of the function itself, as for `rrule`; for `frule` the tangents are put
    before it.
    """

    def __init__(self, table):
        self.table = table

    def rule(self, f, *argument_types, **options):
        def decorate(answer):
            namespace = inspect.currentframe().f_back.f_locals
            implementation = answer if self.table is rrule else taking_tangents(answer)
            configs = options.pop("config", ())
            configs = configs if isinstance(configs, tuple) else (configs,)
            self.table.add_rule(f, implementation, argument_types, config=configs, namespace=namespace, **options)
            return answer

        return decorate

    def call(self, f, /, *args, config=None, needs=None, **kwargs):
        tangents = None if self.table is rrule else (NoTangent(),) * (1 + len(args))
        if config is not None or needs is not None:
            return self.table.call(f, args, kwargs, tangents=tangents, config=config, needs=needs)
        return rrule(f, *args, **kwargs) if self.table is rrule else frule(tangents, f, *args, **kwargs)


def taking_tangents(answer):
    parameters = list(inspect.signature(answer).parameters.values())
    place = 1 if parameters and parameters[0].name == "config" else 0  # the config comes before the tangents
    before = [p.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for p in parameters[:place]]
    tangents = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)

    @functools.wraps(answer)
    def implementation(*args, **kwargs):
        return answer(*args[:place], *args[place + 1 :], **kwargs)

    implementation.__signature__ = inspect.Signature([*before, tangents, *parameters[place:]])
    return implementation


@pytest.fixture(params=[rrule, frule], ids=["rrule", "frule"])
def serving(request):
    return Serving(request.param)


@pytest.fixture
def frequent_switches():
    """Threads take turns a thousand times more often than usual."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
