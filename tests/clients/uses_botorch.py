"""BoTorch: objectives, constraints and models with the functions, under optimisers of acquisition functions."""

import torch
from botorch.acquisition import GenericMCObjective, LogExpectedImprovement, qExpectedImprovement, qSimpleRegret
from botorch.acquisition.multi_objective.objective import GenericMCMultiOutputObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import GenericDeterministicModel, SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.constraints import Positive
from gpytorch.kernels import RBFKernel
from gpytorch.mlls import ExactMarginalLogLikelihood

X = torch.linspace(0, 1, 12, dtype=torch.float64).reshape(6, 2)
Y = (torch.sin(5 * X[:, :1]) - X[:, 1:]).contiguous()
BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
SETTINGS = {"num_restarts": 2, "raw_samples": 4, "options": {"maxiter": 10}}


def _model():
    return SingleTaskGP(X, Y)


def objective(in_torch):
    """`qExpectedImprovement` of an objective that is the function, optimised by `optimize_acqf`."""
    goal = GenericMCObjective(lambda samples, X=None: in_torch.swish(samples[..., 0]))
    sampler = SobolQMCNormalSampler(torch.Size([8]), seed=0)
    acquisition = qExpectedImprovement(_model(), best_f=0.1, sampler=sampler, objective=goal)
    return optimize_acqf(acquisition, BOUNDS, q=2, **SETTINGS)


def model_that_is_a_function(in_torch):
    """`GenericDeterministicModel` of the function: `optimize_acqf` of its regret, whose gradient is taken."""
    model = GenericDeterministicModel(lambda x: in_torch.log_normal_cdf(-((x - 0.3) ** 2)).sum(-1, keepdim=True))
    acquisition = qSimpleRegret(model)
    x = X[:1].clone().requires_grad_()
    return optimize_acqf(acquisition, BOUNDS, q=1, **SETTINGS), torch.autograd.grad(acquisition(x[None]).sum(), x)


def constraint(in_torch):
    """A nonlinear inequality constraint for `optimize_acqf` that is the function."""
    constraints = [(lambda x: 0.8 - in_torch.swish(x).sum(-1), True)]
    start = torch.tensor([[[0.2, 0.3]]], dtype=torch.float64)
    return optimize_acqf(
        LogExpectedImprovement(_model(), best_f=0.1),
        BOUNDS,
        q=1,
        num_restarts=1,
        batch_initial_conditions=start,
        nonlinear_inequality_constraints=constraints,
        options={"batch_limit": 1, "maxiter": 10},
    )


def fitted_model(in_torch):
    """A model with a kernel of the function, fitted by `fit_gpytorch_mll`."""

    class Warped(RBFKernel):
        def __init__(self):
            super().__init__(lengthscale_constraint=Positive())
            self.register_parameter("scale", torch.nn.Parameter(torch.tensor(0.5)))

        def forward(self, x1, x2, **settings):
            return super().forward(in_torch.swish(self.scale * x1), in_torch.swish(self.scale * x2), **settings)

    model = SingleTaskGP(X, Y, covar_module=Warped())
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model), optimizer_kwargs={"options": {"maxiter": 5}})
    return model.posterior(X[:2] + 0.05).mean


def outputs_of_several_samples(in_torch):
    """The gradient of an objective of several outputs, by the points of an acquisition function."""
    goal = GenericMCMultiOutputObjective(lambda samples, X=None: in_torch.swish(samples).cumsum(-2))
    x = X[None, :2].clone().requires_grad_()
    samples = SobolQMCNormalSampler(torch.Size([4]), seed=0)(_model().posterior(x))
    return torch.autograd.grad(goal(samples).sum(), x)
