"""PyMC: models with the functions, which PyTensor takes from JAX."""

import warnings

import numpy as np
import pymc as pm
import pytensor.tensor as pt

COUNTS = np.array([3.0, 0.0, 4.0, 1.0, 7.0, 2.0])
X = np.linspace(-1, 1, 6)


def _regression(in_pytensor, counts=COUNTS):
    """Counts by negative binomial regression."""
    with pm.Model() as model:
        a, b = pm.Normal("a"), pm.Normal("b")
        dispersion = pm.LogNormal("dispersion", 0, 0.5)
        log_probability = in_pytensor.negative_binomial(pt.constant(counts), pt.exp(a + b * X), dispersion)
        pm.Potential("counts", log_probability.sum())
    return model


def _sampled(model, step=None, draws=5):
    with model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = step() if step else None
        settings = {
            "progressbar": False,
            "chains": 1,
            "cores": 1,
            "random_seed": 0,
            "compute_convergence_checks": False,
        }
        trace = pm.sample(draws, tune=10, step=step, **settings)
    return {name: values.to_numpy() for name, values in trace.posterior.data_vars.items()}


def gradient(in_pytensor):
    """The gradient of a model's log-probability."""
    model = _regression(in_pytensor)
    return model.compile_dlogp()(model.initial_point())


def integers_among_arguments(in_pytensor):
    """The gradient of a model whose function takes integers."""
    model = _regression(in_pytensor, COUNTS.astype(int))
    return model.compile_dlogp()(model.initial_point())


def no_u_turn_sampler(in_pytensor):
    """`pm.sample` by NUTS, of a likelihood in `pm.Potential`."""
    return _sampled(_regression(in_pytensor))


def maximum(in_pytensor):
    """`find_MAP`."""
    with _regression(in_pytensor):
        return pm.find_MAP(progressbar=False)


def mean_of_data(in_pytensor):
    """The function as the mean of observed data, sampled by NUTS, and predicted."""
    with pm.Model() as model:
        slope = pm.Normal("slope")
        mean = pm.Deterministic("mean", in_pytensor.swish(slope * X))
        pm.Normal("y", mean, 0.3, observed=np.sin(X))
    return _sampled(model)


def own_density(in_pytensor):
    """`CustomDist` with the function in `logp=`."""

    def log_density(value, slope):
        return in_pytensor.log_normal_cdf(value * slope) - value**2 / 2

    with pm.Model() as model:
        slope = pm.Normal("slope")
        pm.CustomDist("y", slope, logp=log_density, observed=np.sin(X))
    return _sampled(model), model.compile_dlogp()(model.initial_point())


def variational_inference(in_pytensor):
    """`pm.fit` by ADVI."""
    with _regression(in_pytensor), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = pm.fit(10, method="advi", progressbar=False, random_seed=0)
    return fit.mean.eval(), fit.std.eval()


def hessian(in_pytensor):
    """The Hessian of a model's log-probability."""
    model = _regression(in_pytensor)
    return model.compile_d2logp()(model.initial_point())
