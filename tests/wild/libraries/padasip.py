"""padasip: adaptive filters."""

import numpy as np
import padasip

RNG = np.random.default_rng(0)
INPUTS = RNG.standard_normal((12, 3))
TARGETS = tuple(INPUTS @ np.array([1.0, -2.0, 0.5]))


def least_mean_squares(d=TARGETS, x=INPUTS):
    """padasip.filters.FilterLMS.run"""
    return padasip.filters.FilterLMS(n=3, mu=0.1, w="zeros").run(d, x)


def recursive_least_squares(d=TARGETS, x=INPUTS):
    """padasip.filters.FilterRLS.run"""
    return padasip.filters.FilterRLS(n=3, mu=0.99, w="zeros").run(d, x)


def normalized(d=TARGETS, mu=0.5):
    """padasip.filters.FilterNLMS.run"""
    return padasip.filters.FilterNLMS(n=3, mu=mu, w="zeros").run(d, INPUTS)


def novelty(errors=TARGETS, w=INPUTS):
    """padasip.detection.learning_entropy"""
    return padasip.detection.ELBND(w, errors, function="sum")


def standardized(x=TARGETS):
    """padasip.preprocess.standardize"""
    return padasip.preprocess.standardize(x)


def components(x=INPUTS):
    """padasip.preprocess.pca"""
    return padasip.preprocess.PCA(x, n=2)
