"""Opt-outs of functions that have no rules because there is nothing to say about them: what they do is what counts.

An AD system differentiates what they are made of, or takes them for assignments to the elements of an array. Both
tables answer None, so that no system takes the call for a constant.
"""

import numpy as np
from rulescore import frule, opt_out, rrule

# Writing to an array: assignments by another name.
ASSIGNMENTS = (
    np.copyto,
    np.fill_diagonal,
    np.place,
    np.put,
    np.put_along_axis,
    np.putmask,
    np.ndarray.fill,
    np.ndarray.partition,
    np.ndarray.put,
    np.ndarray.sort,
)

# The same numbers in another container.
CONVERSIONS = (
    np.fromiter,
    np.ndarray.item,
    np.ndarray.to_device,
    np.ndarray.tolist,
    np.ndarray.view,
)

for _function in (*ASSIGNMENTS, *CONVERSIONS):
    opt_out(rrule, _function)
    opt_out(frule, _function)
