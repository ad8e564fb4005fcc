"""Pyro: models and guides with the functions."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import HMC, MCMC, NUTS, SVI, Predictive, Trace_ELBO, TraceMeanField_ELBO
from pyro.infer.autoguide import AutoLaplaceApproximation, AutoNormal
from pyro.nn import PyroModule, PyroSample

X = torch.linspace(-1, 1, 6)
COUNTS = torch.tensor([3.0, 0.0, 4.0, 1.0, 7.0, 2.0])


def _regression(in_torch):
    """Counts by negative binomial regression."""

    def model():
        a = pyro.sample("a", dist.Normal(0.0, 1.0))
        b = pyro.sample("b", dist.Normal(0.0, 1.0))
        dispersion = pyro.sample("dispersion", dist.LogNormal(0.0, 0.5))
        with pyro.plate("data", 6):
            pyro.factor("counts", in_torch.negative_binomial(COUNTS, torch.exp(a + b * X), dispersion))

    return model


def _start():
    pyro.set_rng_seed(0)
    pyro.clear_param_store()


def _sampled(kernel, steps=5):
    mcmc = MCMC(kernel, num_samples=steps, warmup_steps=5, disable_progbar=True)
    mcmc.run()
    return mcmc.get_samples()


def _optimised(model, guide, elbo, steps=15):
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), elbo)
    return [svi.step() for _ in range(steps)]


def hamiltonian_sampler(in_torch):
    """HMC, of a likelihood in `pyro.factor`."""
    _start()
    return _sampled(HMC(_regression(in_torch), step_size=0.05, num_steps=3, adapt_step_size=False))


def no_u_turn_sampler(in_torch):
    """NUTS with adaptation."""
    _start()
    return _sampled(NUTS(_regression(in_torch), max_tree_depth=3))


def compiled_potential(in_torch):
    """NUTS with `jit_compile=True`, which traces the potential by `torch.jit`."""
    _start()
    return _sampled(NUTS(_regression(in_torch), max_tree_depth=2, jit_compile=True, ignore_jit_warnings=True))


def variational_inference(in_torch):
    """SVI with `AutoNormal`."""
    _start()
    model = _regression(in_torch)
    losses = _optimised(model, AutoNormal(model), Trace_ELBO())
    return losses, dict(pyro.get_param_store().items())


def particles_at_once(in_torch):
    """SVI with `vectorize_particles=True`."""
    _start()

    def model():
        slope = pyro.sample("slope", dist.Normal(0.0, 1.0))
        with pyro.plate("data", 6):
            pyro.sample("y", dist.Normal(in_torch.swish(slope[..., None] * X), 0.3), obs=X.sin())

    elbo = Trace_ELBO(num_particles=3, vectorize_particles=True, max_plate_nesting=1)
    return _optimised(model, AutoNormal(model), elbo)


def amortised_guide(in_torch):
    """A guide of one's own, with the function in a network: `pyro.module`."""
    _start()
    network = torch.nn.Linear(1, 2)

    def model():
        with pyro.plate("data", 6):
            z = pyro.sample("z", dist.Normal(0.0, 1.0))
            pyro.sample("y", dist.Normal(z, 0.5), obs=X.sin())

    def guide():
        pyro.module("network", network)
        with pyro.plate("data", 6):
            location, scale = in_torch.swish(network(X[:, None])).unbind(-1)
            pyro.sample("z", dist.Normal(location, scale.exp()))

    return _optimised(model, guide, TraceMeanField_ELBO()), dict(network.named_parameters())


def laplace_approximation(in_torch):
    """`AutoLaplaceApproximation`, which takes the Hessian."""
    _start()
    model = _regression(in_torch)
    guide = AutoLaplaceApproximation(model)
    _optimised(model, guide, Trace_ELBO())
    return guide.laplace_approximation().scale_tril


def bayesian_network(in_torch):
    """A `PyroModule` with `PyroSample` weights and the function, and `Predictive`."""
    _start()

    class Model(PyroModule):
        def __init__(self):
            super().__init__()
            self.linear = PyroModule[torch.nn.Linear](1, 2)
            self.linear.weight = PyroSample(dist.Normal(0.0, 1.0).expand([2, 1]).to_event(2))

        def forward(self):
            mean = in_torch.swish(self.linear(X[:, None])).sum(-1)
            with pyro.plate("data", 6):
                return pyro.sample("y", dist.Normal(mean, 0.3), obs=X.sin())

    model = Model()
    guide = AutoNormal(model)
    losses = _optimised(model, guide, Trace_ELBO(), 5)
    return losses, Predictive(model, guide=guide, num_samples=2, return_sites=("linear.weight", "_RETURN"))()
