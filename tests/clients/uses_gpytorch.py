"""GPyTorch: kernels, means and likelihoods that are the functions."""

import gpytorch
import torch

X = torch.linspace(-1, 1, 8, dtype=torch.float64)
Y = torch.sin(3 * X)


class WarpedKernel(gpytorch.kernels.RBFKernel):
    """A kernel of inputs through a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.register_parameter("scale", torch.nn.Parameter(torch.tensor(0.5)))

    def forward(self, x1, x2, **settings):
        return super().forward(self.function(self.scale * x1), self.function(self.scale * x2), **settings)


class FunctionMean(gpytorch.means.Mean):
    """A function with a factor as mean."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.register_parameter("scale", torch.nn.Parameter(torch.tensor(0.5)))

    def forward(self, x):
        return self.function(self.scale * x.squeeze(-1))


class Process(gpytorch.models.ExactGP):
    """An exact process."""

    def __init__(self, mean, kernel, likelihood):
        super().__init__(X, Y, likelihood)
        self.mean, self.kernel = mean, gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


def _process(mean, kernel):
    return Process(mean, kernel, gpytorch.likelihoods.GaussianLikelihood()).double()


def _trained(process, steps=5):
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(process.likelihood, process)
    optimiser = torch.optim.SGD(process.parameters(), lr=0.1)
    process.train()
    for _ in range(steps):
        optimiser.zero_grad()
        loss = -objective(process(X), Y)
        loss.backward()
        optimiser.step()
    return loss, dict(process.named_parameters())


def kernel(in_torch):
    """A kernel with the function, trained by the marginal likelihood."""
    return _trained(_process(gpytorch.means.ConstantMean(), WarpedKernel(in_torch.swish)))


def mean_function(in_torch):
    """A mean with the function, trained by the marginal likelihood."""
    return _trained(_process(FunctionMean(in_torch.log_normal_cdf), gpytorch.kernels.RBFKernel()))


def predictions(in_torch):
    """Predictions, and their gradients by the inputs."""
    process = _process(FunctionMean(in_torch.swish), WarpedKernel(in_torch.swish)).eval()
    x = torch.tensor([0.1, 0.4], dtype=torch.float64, requires_grad=True)
    found = process(x)
    gradient = torch.autograd.grad(found.mean.sum() + found.variance.sum(), x)
    return found.mean, found.variance, gradient


def deep_kernel(in_torch):
    """Deep kernel learning: a layer of the function before the kernel."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(torch.tensor([[1.0, 0.5]]))
            self.b = torch.nn.Parameter(torch.tensor([0.3, -0.2]))

        def forward(self, x):
            return in_torch.layer({"W": self.W, "b": self.b}, x)

    return _trained(_process(gpytorch.means.ZeroMean(), WarpedKernel(Network())))


def variational_process(in_torch):
    """A variational process, with a likelihood of counts that the function computes."""

    class Counts(gpytorch.likelihoods._OneDimensionalLikelihood):
        def forward(self, values, *args, **settings):
            raise NotImplementedError

        def log_marginal(self, *args, **settings):
            raise NotImplementedError

        def expected_log_prob(self, counts, values, *args, **settings):
            def log_probability(f):
                return in_torch.negative_binomial(counts, f.exp(), torch.tensor(2.0, dtype=torch.float64))

            return self.quadrature(log_probability, values)

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self):
            q = gpytorch.variational.CholeskyVariationalDistribution(3)
            super().__init__(gpytorch.variational.VariationalStrategy(self, X[::3, None], q))
            self.kernel = gpytorch.kernels.RBFKernel()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(torch.zeros_like(x[:, 0]), self.kernel(x))

    model, likelihood = Model().double(), Counts()
    counts = torch.tensor([0, 1, 0, 2, 3, 1, 4, 2])
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=8)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimiser.zero_grad()
        (-objective(model(X[:, None]), counts)).backward()
        optimiser.step()
    return [p for name, p in model.named_parameters() if "mean" in name or "chol" in name]
