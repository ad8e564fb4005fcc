"""lifelines: models of survival whose hazards are computed by the functions; it differentiates them by autograd."""

import autograd.numpy as np
import numpy
import pandas
from lifelines.fitters import ParametricRegressionFitter, ParametricUnivariateFitter

DURATIONS = numpy.array([0.5, 1.2, 2.2, 2.9, 3.1, 3.8, 4.4, 5.3, 6.0, 7.7])
OBSERVED = numpy.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 1])


def _fitter(hazard):
    class Fitter(ParametricUnivariateFitter):
        _fitted_parameter_names = ("alpha_", "beta_")
        _cumulative_hazard = hazard

    return Fitter()


def cumulative_hazard(in_autograd):
    """A `ParametricUnivariateFitter` whose cumulative hazard is the function."""

    def hazard(self, parameters, times):
        alpha, beta = parameters
        return in_autograd.swish(alpha * times) * beta

    fitter = _fitter(hazard).fit(DURATIONS, OBSERVED)
    return fitter.params_.to_numpy(), fitter.variance_matrix_.to_numpy(), fitter.log_likelihood_


def hazard_of_times(in_autograd):
    """The hazard and the survival at times, which derive the cumulative hazard by them."""

    def hazard(self, parameters, times):
        alpha, beta = parameters
        return -in_autograd.log_normal_cdf(-alpha * np.log(times) - beta)

    fitter = _fitter(hazard).fit(DURATIONS, OBSERVED, timeline=[1.0, 2.0, 5.0])
    return fitter.hazard_.to_numpy(), fitter.survival_function_.to_numpy(), fitter.confidence_interval_.to_numpy()


def censored(in_autograd):
    """Data that are censored in intervals."""

    def hazard(self, parameters, times):
        alpha, beta = parameters
        return in_autograd.swish(alpha * times) * beta

    fitter = _fitter(hazard).fit_interval_censoring(DURATIONS, DURATIONS + 1.0)
    return fitter.params_.to_numpy(), fitter.log_likelihood_


def regression(in_autograd):
    """A `ParametricRegressionFitter` with the function, which has a penalty."""

    class Fitter(ParametricRegressionFitter):
        _fitted_parameter_names = ("alpha_", "beta_")

        def _cumulative_hazard(self, parameters, times, design):
            alpha = np.exp(np.dot(design["alpha_"], parameters["alpha_"]))
            return in_autograd.swish(alpha * times) * np.exp(np.dot(design["beta_"], parameters["beta_"]))

    data = pandas.DataFrame({"T": DURATIONS, "E": OBSERVED, "age": numpy.linspace(-1, 1, 10), "one": 1.0})
    fitter = Fitter(penalizer=0.1).fit(data, "T", "E", regressors={"alpha_": "age + 1", "beta_": "1"})
    return fitter.params_.to_numpy(), fitter.standard_errors_.to_numpy()
