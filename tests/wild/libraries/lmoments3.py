"""lmoments3: distributions of extremes by their L-moments."""

import numpy as np
from lmoments3 import distr, lmom_ratios

DATA = (2.3, 1.9, 12.3, 0.6, 3.2, 5.7, 1.1, 8.2)


def ratios(data=DATA):
    """lmoments3.lmom_ratios"""
    return lmom_ratios(data, nmom=4)


def gumbel(data=DATA):
    """lmoments3.distr.gum.lmom_fit"""
    return list(distr.gum.lmom_fit(data).values())


def extreme_value(data=DATA):
    """lmoments3.distr.gev.lmom_fit"""
    return list(distr.gev.lmom_fit(data).values())


def pareto(c=0.2, loc=1.0, scale=2.0):
    """lmoments3.distr.gpa.lmom"""
    return distr.gpa.lmom(nmom=3, c=c, loc=loc, scale=scale)


def quantiles(c=0.2, loc=1.0, scale=2.0):
    """lmoments3.distr.gev.ppf"""
    return distr.gev.ppf(np.array([0.1, 0.5, 0.9]), c, loc=loc, scale=scale)
