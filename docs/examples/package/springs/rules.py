"""The rules of this package, which rulescore finds by its entry point."""

from rulescore import frule, pullback_wrt, pushforward, rrule
from springs import energy


@frule.register(energy)
@pushforward
def energy_frule(dstiffness, dx, stiffness, x):
    return energy(stiffness, x), energy(dstiffness, x) + (stiffness * x * dx).sum()


@rrule.register(energy)
def energy_rrule(stiffness, x):
    @pullback_wrt(stiffness, x)
    def energy_pullback(ybar):
        return ybar * x**2 / 2, ybar * stiffness * x

    return energy(stiffness, x), energy_pullback
