"""tinygp: kernels and mean functions that are the functions."""

import jax
import jax.numpy as jnp
import tinygp

X = jnp.linspace(-1, 1, 6)
Y = jnp.sin(3 * X)
P = jnp.array([0.7, 0.4])


def _custom(in_jax):
    return lambda p: tinygp.kernels.Custom(
        lambda x, y: jnp.exp(-0.5 * ((in_jax.swish(p[0] * x) - in_jax.swish(p[0] * y)) / p[1]) ** 2)
    )


def likelihood(in_jax):
    """A kernel with the function by `kernels.Custom`: the likelihood and its gradient."""

    def loss(p):
        return -tinygp.GaussianProcess(_custom(in_jax)(p), X, diag=0.1).log_probability(Y)

    return jax.jit(jax.value_and_grad(loss))(P)


def mean_function(in_jax):
    """The function as `mean=`: the likelihood and its Hessian."""

    def loss(p):
        mean = lambda x: p[0] * in_jax.log_normal_cdf(p[1] * x)  # noqa: E731
        return -tinygp.GaussianProcess(tinygp.kernels.Matern32(0.8), X, diag=0.1, mean=mean).log_probability(Y)

    return loss(P), jax.hessian(loss)(P)


def predictions(in_jax):
    """Predictions, and their derivatives by the parameters of the kernel."""

    def prediction(p):
        process = tinygp.GaussianProcess(_custom(in_jax)(p), X, diag=0.1)
        return process.predict(Y, jnp.array([0.1, 0.2]), return_var=True)

    return prediction(P), jax.jacfwd(prediction)(P)


def transformed_inputs(in_jax):
    """Inputs through a layer, by `transforms.Transform`: the gradient by the layer's parameters."""
    x = jnp.stack([X, X**2], axis=1)

    def loss(p):
        kernel = tinygp.transforms.Transform(lambda x: in_jax.layer(p, x), tinygp.kernels.ExpSquared())
        return -tinygp.GaussianProcess(kernel, x, diag=0.1).log_probability(Y)

    return jax.grad(loss)({"W": jnp.array([[0.5], [0.2]]), "b": jnp.zeros(1)})
