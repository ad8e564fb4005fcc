"""opfunu: test functions of optimisation."""

import opfunu
from opfunu.cec_based import F12014, F52017

X = (0.3, -0.7, 1.2, 0.5, -1.1, 0.9, 0.2, -0.4, 0.8, 1.5)


def ackley(x=X[:2]):
    """opfunu.name_based.Ackley02"""
    return opfunu.name_based.Ackley02().evaluate(x)


def griewank(x=X):
    """opfunu.name_based.Griewank"""
    return opfunu.name_based.Griewank(ndim=10).evaluate(x)


def hartmann(x=(0.2, 0.15, 0.47, 0.27, 0.31, 0.65)):
    """opfunu.name_based.Hartmann6"""
    return opfunu.name_based.Hartmann6().evaluate(x)


def kowalik(x=(0.19, 0.19, 0.12, 0.13)):
    """opfunu.name_based.Kowalik"""
    return opfunu.name_based.Kowalik().evaluate(x)


def rotated(x=X):
    """opfunu.cec_based.F12014"""
    return F12014(ndim=10).evaluate(x)


def shifted(x=X):
    """opfunu.cec_based.F52017"""
    return F52017(ndim=10).evaluate(x)


def watson(x=X[:6]):
    """opfunu.name_based.Watson"""
    return opfunu.name_based.Watson().evaluate(x)
