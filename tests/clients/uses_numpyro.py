"""NumPyro: models whose likelihoods and transformations are the functions."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import HMC, MCMC, NUTS, SVI, Predictive, Trace_ELBO, autoguide, log_likelihood

KEY = jax.random.key(0)
COUNTS = jnp.array([3, 0, 4, 1, 7, 2])
X = jnp.linspace(-1, 1, 6)


def _regression(in_jax):
    """Counts by negative binomial regression."""

    def model(counts=COUNTS):
        a = numpyro.sample("a", dist.Normal(0, 1))
        b = numpyro.sample("b", dist.Normal(0, 1))
        dispersion = numpyro.sample("dispersion", dist.LogNormal(0, 0.5))
        with numpyro.plate("data", 6):
            numpyro.factor("counts", in_jax.negative_binomial(counts, jnp.exp(a + b * X), dispersion))

    return model


def _sampled(kernel, **settings):
    mcmc = MCMC(kernel, num_warmup=10, num_samples=5, progress_bar=False, **settings)
    mcmc.run(KEY)
    return mcmc.get_samples()


def no_u_turn_sampler(in_jax):
    """NUTS, of a likelihood in `numpyro.factor`."""
    return _sampled(NUTS(_regression(in_jax), max_tree_depth=3))


def chains_at_once(in_jax):
    """HMC, two chains with `chain_method="vectorized"`."""
    kernel = HMC(_regression(in_jax), num_steps=3, step_size=0.05, trajectory_length=None, adapt_step_size=False)
    return _sampled(kernel, num_chains=2, chain_method="vectorized")


def potential(in_jax):
    """NUTS with `potential_fn=`, and no model."""

    def energy(a):
        return -in_jax.log_determinant(a @ a.T + jnp.eye(2)) + 0.5 * (a**2).sum()

    mcmc = MCMC(NUTS(potential_fn=energy, max_tree_depth=3), num_warmup=10, num_samples=5, progress_bar=False)
    mcmc.run(KEY, init_params=jnp.array([[1.0, 0.5], [0.0, 1.0]]))
    return mcmc.get_samples()


def variational_inference(in_jax):
    """SVI with `AutoNormal`."""
    model = _regression(in_jax)
    svi = SVI(model, autoguide.AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
    result = svi.run(KEY, 20, progress_bar=False)
    return result.params, result.losses


def laplace_approximation(in_jax):
    """`AutoLaplaceApproximation`, which takes the Hessian."""
    model = _regression(in_jax)
    guide = autoguide.AutoLaplaceApproximation(model)
    result = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO()).run(KEY, 50, progress_bar=False)
    return guide.get_transform(result.params).scale_tril


def distribution(in_jax):
    """A distribution of one's own with the function in `log_prob`, in NUTS and in `log_likelihood`."""

    class NegativeBinomial(dist.Distribution):
        support = dist.constraints.nonnegative_integer

        def __init__(self, mean, dispersion):
            self.mu, self.dispersion = mean, dispersion
            super().__init__(batch_shape=jnp.shape(mean))

        def log_prob(self, value):
            return in_jax.negative_binomial(value, self.mu, self.dispersion)

        def sample(self, key, sample_shape=()):
            return dist.NegativeBinomial2(self.mu, self.dispersion).sample(key, sample_shape)

    def model():
        a = numpyro.sample("a", dist.Normal(0, 1))
        numpyro.sample("counts", NegativeBinomial(jnp.exp(a + X), jnp.array(2.0)), obs=COUNTS)

    samples = _sampled(NUTS(model, max_tree_depth=3))
    return samples, log_likelihood(model, samples)


def predictions(in_jax):
    """`Predictive` of a model whose means come out of the function, in the posterior."""

    def model(y=None):
        slope = numpyro.sample("slope", dist.Normal(0, 1))
        mean = numpyro.deterministic("mean", in_jax.swish(slope * X))
        numpyro.sample("y", dist.Normal(mean, 0.3), obs=y)

    mcmc = MCMC(NUTS(model, max_tree_depth=3), num_warmup=10, num_samples=5, progress_bar=False)
    mcmc.run(KEY, y=jnp.sin(X))
    return Predictive(model, mcmc.get_samples())(KEY)
