"""How a right rule is entered into the corpus, and random inputs at special points."""

import numpy as np

from corpora.corpus import RightRule

RIGHT: dict[str, RightRule] = {}


def right(name, derivative, inputs, **facts):
    """Enter a right rule."""
    if name in RIGHT:
        raise ValueError(f"two right rules are called {name!r}")
    RIGHT[name] = RightRule(name, derivative, inputs, **facts)


# ------------------------------------------------------------------ random inputs


def around(centre, distance, *shape):
    """Entries whose distance from ``centre`` is ``distance`` times a number between 1/2 and 2, on both sides."""

    def inputs(rng):
        return (centre + distance * rng.choice([-1, 1], shape) * 2 ** rng.uniform(-1, 1, shape),), {}

    return inputs


def above(centre, distance, *shape):
    return lambda rng: ((centre + distance * 2 ** rng.uniform(-1, 1, shape),), {})


def below(centre, distance, *shape):
    return above(centre, -distance, *shape)


def fixed(*args, **fkwargs):
    """The same arguments for every seed: a point that no random number hits."""
    return lambda rng: (tuple(np.array(x, copy=True) if isinstance(x, np.ndarray) else x for x in args), fkwargs)
