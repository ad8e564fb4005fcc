"""How a wrong rule is entered into the corpus."""

from corpora.corpus import WrongRule, elementwise_jvp, elementwise_vjp, forward_rule, reverse_rule
from rulescore import project_to

WRONG: dict[str, WrongRule] = {}


def wrong(
    name, kind, right, inputs, *, jvp=None, vjp=None, frule=None, rrule=None, modes=None, project=project_to, **facts
):
    """Enter a wrong rule, given as mathematics (``jvp``, ``vjp``) or written out (``frule``, ``rrule``).

    The mode that is not given is not tested, or is right where ``modes`` says so.
    """
    if jvp is not None:
        frule = forward_rule(right.function, jvp, real=right.real, project=project)
    if vjp is not None:
        rrule = reverse_rule(right.function, vjp, real=right.real, project=project)
    if modes is None:
        modes = tuple(mode for mode, rule in (("frule", frule), ("rrule", rrule)) if rule is not None)
    if frule is None and "frule" in modes:
        frule = right.frule
    if rrule is None and "rrule" in modes:
        rrule = right.rrule
    if name in WRONG:
        raise ValueError(f"two wrong rules are called {name!r}")
    WRONG[name] = WrongRule(name, kind, right, frule, rrule, modes, inputs, **facts)


def wrong_slopes(name, kind, right, inputs, partials, modes, **facts):
    """Enter a wrong rule of a function of broadcast numbers, given by partial derivatives, in these modes."""
    jvp = elementwise_jvp(*partials) if "frule" in modes else None
    vjp = elementwise_vjp(*partials) if "rrule" in modes else None
    wrong(name, kind, right, inputs, jvp=jvp, vjp=vjp, **facts)
