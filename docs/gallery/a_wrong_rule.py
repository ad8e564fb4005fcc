"""
A rule that is wrong, and the report that finds it
==================================================

A rule with a mistake gives numbers that look like a gradient; an optimiser even gets somewhere with them. The tester
says that the rule is wrong, in which argument and which entries, and what kind of mistake it looks like. Its pictures
show why it may be believed.
"""

# %%
# A function, and its rule
# ------------------------
# The logarithm of a sum of exponentials, shifted so that nothing overflows, plus a penalty on the weights. The author
# of the rule forgot that the softmax has to be divided by its sum.

import matplotlib.pyplot as plt
import numpy as np

from rulescore import pullback_wrt, rrule
from rulescore.testing import check_rule


def penalised(x, weights):
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest))) + np.sum(weights**2)


@rrule.register(penalised)
def penalised_rrule(x, weights):
    @pullback_wrt(x, weights)
    def penalised_pullback(ybar):
        return ybar * np.exp(x - np.max(x)), 2 * ybar * weights

    return penalised(x, weights), penalised_pullback


x, weights = np.array([0.2, 1.0, 0.5]), np.array([1.0, -2.0])

# %%
# The report
# ----------
# The second argument is right, the first is not.

report = check_rule(penalised, x, weights, modes=("rrule",))
print(report)
assert report.verdict == "fail"

# %%
# The pictures
# ------------
# To the left, how far finite differences are from the best of them, against their step. The line is how far the rule
# is: that of a right one would lie in the band at the bottom. To the right, what is left of the function when its value
# and its slope are taken away. With a right slope that shrinks with the square of the step, with a wrong one only as
# fast as the step itself.

_, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
report.plot(axes)

# %%
# The rule, mended
# ----------------


def mended_rrule(x, weights):
    @pullback_wrt(x, weights)
    def mended_pullback(ybar):
        softmax = np.exp(x - np.max(x))
        return ybar * softmax / np.sum(softmax), 2 * ybar * weights

    return penalised(x, weights), mended_pullback


with rrule.override(penalised, mended_rrule):
    mended = check_rule(penalised, x, weights, modes=("rrule",))
print(mended)
assert mended.verdict == "pass"
