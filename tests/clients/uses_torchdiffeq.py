"""torchdiffeq: vector fields that are the functions."""

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event

RATES = torch.tensor([1.0, 0.5, 0.4, 0.9], dtype=torch.float64)
START = torch.tensor([1.2, 0.8], dtype=torch.float64)
TIMES = torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64)


class Field(torch.nn.Module):
    """The rates of change of predators and their prey."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.rates = torch.nn.Parameter(RATES.clone())

    def forward(self, t, population):
        return self.function(population, self.rates)


def _gradients(solver, field, **settings):
    start = START.clone().requires_grad_()
    found = solver(field, start, TIMES, **settings)
    return found, torch.autograd.grad((found[-1] ** 2).sum(), [start, *field.parameters()])


def adaptive_steps(in_torch):
    """`odeint` with adaptive steps, and its gradients."""
    return _gradients(odeint, Field(in_torch.predator_prey))


def fixed_steps(in_torch):
    """`odeint` with `rk4`, and its gradients."""
    return _gradients(odeint, Field(in_torch.predator_prey), method="rk4", options={"step_size": 0.1})


def adjoint_equation(in_torch):
    """`odeint_adjoint`, which solves the adjoint equation backwards."""
    return _gradients(odeint_adjoint, Field(in_torch.predator_prey), rtol=1e-8, atol=1e-8)


def event(in_torch):
    """`odeint_event`: the time when prey and predators are as many, and its gradient."""
    field = Field(in_torch.predator_prey)
    settings = {"event_fn": lambda t, y: y[0] - 1.5, "odeint_interface": odeint, "rtol": 1e-9, "atol": 1e-9}
    time, _ = odeint_event(field, START, TIMES[0], **settings)
    return time, torch.autograd.grad(time, field.rates)


def neural_equation(in_torch):
    """A neural differential equation, with the function as a layer."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(2, 4), torch.nn.Linear(4, 2)
            self.double()

        def forward(self, t, y):
            return self.second(in_torch.swish(self.first(y)))

    return _gradients(odeint_adjoint, Network(), rtol=1e-6, atol=1e-6)
