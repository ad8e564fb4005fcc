"""Inputs an ulp or two away, which tell the rounding noise of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..evidence.vectorisation import Vector, entries_of, layout_of, unit_roundoff
from .call import Call

NEARBY, NEARBY_OF_MANY = 6, 2
"""How many there are; and of arguments with very many entries, each of which is a sample of its own."""


def inputs_nearby(call: Call) -> Iterator[tuple[Callable[[Any, Vector], Vector], Any]]:
    """What shakes the entries of any value in its last digits, and function, arguments and keywords shaken so."""
    generator = np.random.default_rng(1)

    def shaken(x: Any, entries: Vector) -> Vector:
        """Entries in the layout of ``x``, moved by one or two units in the last place of its precision."""
        units = generator.choice((-2, -1, 1, 2), entries.size) * call.coarseness
        return np.asarray(entries * (1.0 + units * unit_roundoff(layout_of(x))))

    for _ in range(NEARBY_OF_MANY if call.is_large else NEARBY):
        function, args, kwargs = call.copies()
        moved = list(args)
        for argument in call.arguments[1:]:
            layout = layout_of(argument.value)
            near = layout.rebuild(shaken(argument.value, entries_of(layout)), False)
            if argument.keyword is not None:
                kwargs[argument.keyword] = near
            elif argument.differentiable:
                moved[argument.position - 1] = near
        yield shaken, (function, tuple(moved), kwargs)
