"""TorchOpt: differentiable and functional optimisers."""

import torch
import torchopt

X = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)
Y = X.sin().sum(1) + 0.2
START = {"W": torch.full((3, 1), 0.3, dtype=torch.float64), "b": torch.zeros(1, dtype=torch.float64)}


def _loss(in_torch, p):
    return ((in_torch.layer(p, X)[:, 0] - Y) ** 2).mean()


def functional_adam(in_torch):
    """A functional optimiser, with gradients by `torch.func.grad`."""
    optimiser = torchopt.adam(lr=0.1)
    p, state = START, optimiser.init(START)
    for _ in range(4):
        updates, state = optimiser.update(torch.func.grad(lambda p: _loss(in_torch, p))(p), state, inplace=False)
        p = torchopt.apply_updates(p, updates, inplace=False)
    return p


def meta_gradient(in_torch):
    """`MetaSGD`: the gradient of a loss after steps of training, by what they start from."""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.b = (torch.nn.Parameter(START[name].clone()) for name in ("W", "b"))

        def forward(self):
            return _loss(in_torch, {"W": self.W, "b": self.b})

    model = Model()
    start = list(model.parameters())
    optimiser = torchopt.MetaSGD(model, lr=0.3)
    for _ in range(2):
        optimiser.step(model())
    return torch.autograd.grad(model(), start)


def implicit_gradient(in_torch):
    """`diff.implicit.custom_root`: the gradient of a minimiser by the parameters of its objective."""

    def optimality(y, c):
        return torch.func.grad(lambda y: (in_torch.swish(y + c) ** 2).sum() + 0.5 * ((y - 1) ** 2).sum())(y)

    @torchopt.diff.implicit.custom_root(optimality, argnums=1, solve=torchopt.linear_solve.solve_normal_cg())
    def minimiser(y, c):
        for _ in range(60):
            y = y - 0.4 * optimality(y, c.detach())
        return y

    c = torch.tensor([0.3, -0.2], dtype=torch.float64, requires_grad=True)
    y = minimiser(torch.zeros(2, dtype=torch.float64), c)
    return y, torch.autograd.grad(y.sum(), c)
