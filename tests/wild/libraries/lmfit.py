"""lmfit: models of curves."""

import lmfit
import numpy as np
from lmfit import lineshapes, models

X = np.linspace(-2.0, 3.0, 9)
PEAK = 3.0 * np.exp(-((X - 0.4) ** 2)) + 0.1 * np.cos(5 * X)


def voigt(amplitude=2.0, center=0.3, sigma=0.8, gamma=0.5):
    """lmfit.lineshapes.voigt"""
    return lineshapes.voigt(X, amplitude, center, sigma, gamma)


def evaluated(amplitude=2.0, center=0.3, sigma=0.8):
    """lmfit.models.GaussianModel.eval"""
    return models.GaussianModel().eval(x=X, amplitude=amplitude, center=center, sigma=sigma)


def composite(amplitude=2.0, center=0.3, slope=0.2):
    """lmfit.CompositeModel.eval"""
    model = models.LorentzianModel() + models.LinearModel()
    return model.eval(x=X, amplitude=amplitude, center=center, sigma=1.0, slope=slope, intercept=0.1)


def skewed(sigma=0.8, gamma=1.5):
    """lmfit.lineshapes.skewed_gaussian"""
    return lineshapes.skewed_gaussian(X, 2.0, 0.3, sigma, gamma)


def pearson(sigma=0.8, expon=1.5):
    """lmfit.lineshapes.pearson7"""
    return lineshapes.pearson7(X, 2.0, 0.3, sigma, expon)


def bounded(value=2.0):
    """lmfit.Parameter.setup_bounds"""
    return lmfit.Parameter("a", value=value, min=0.0, max=5.0).setup_bounds()


def fitted(y=PEAK):
    """lmfit.Model.fit"""
    return list(models.LinearModel().fit(y, x=X, slope=1.0, intercept=0.0).best_values.values())
