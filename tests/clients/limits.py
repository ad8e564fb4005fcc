"""Uses that raise an error, and should: what of it is a limit of the library, or one that the documentation names."""

LIMITS = {
    ("pymc", "integers_among_arguments"): "so do functions of JAX: PyTensor derives none that takes integers",
    (
        "pytorch-minimize",
        "newton",
    ): "it takes older batched gradients, of which the documentation says that there are none",
}
"""By library and name of the use."""
