"""PyTorch's own optimisers and wrappers of modules."""

import copy
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.nn.utils import parametrize
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from torch.utils.data import DataLoader, Dataset

X = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(8, 3)
Y = X.sin().sum(1)


class Network(torch.nn.Module):
    """A perceptron with one hidden layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.first, self.second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        self.double()

    def forward(self, x):
        return self.second(self.function(self.first(x)))[..., 0]


def _trained(model, optimiser, steps=5):
    def closure():
        optimiser.zero_grad()
        loss = ((model(X) - Y) ** 2).mean()
        loss.backward()
        return loss

    losses = [optimiser.step(closure) for _ in range(steps)]
    return losses, list(model.parameters())


def optimisers(in_torch):
    """`AdamW`, `SGD` with momentum, `RMSprop` and `Rprop`."""
    found = []
    for make in (torch.optim.AdamW, torch.optim.SGD, torch.optim.RMSprop, torch.optim.Rprop):
        model = Network(in_torch.swish)
        found.append(_trained(model, make(model.parameters(), lr=0.01)))
    return found


def lbfgs(in_torch):
    """`LBFGS` with its line search."""
    model = Network(in_torch.swish)
    return _trained(model, torch.optim.LBFGS(model.parameters(), max_iter=4, line_search_fn="strong_wolfe"), 2)


def averaged_model(in_torch):
    """`AveragedModel`, which copies the module, and `update_bn`."""
    model = Network(in_torch.swish)
    averaged = torch.optim.swa_utils.AveragedModel(model)
    for _ in range(3):
        _trained(model, torch.optim.SGD(model.parameters(), lr=0.1), 1)
        averaged.update_parameters(model)
    return averaged(X)


def data_parallel(in_torch):
    """`DataParallel`, on a machine without a GPU."""
    model = torch.nn.DataParallel(Network(in_torch.swish))
    return _trained(model, torch.optim.SGD(model.parameters(), lr=0.1))


def distributed_data_parallel(in_torch):
    """`DistributedDataParallel` of one process, with `gloo`."""
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        model = torch.nn.parallel.DistributedDataParallel(Network(in_torch.swish))
        return _trained(model, torch.optim.SGD(model.parameters(), lr=0.1))
    finally:
        torch.distributed.destroy_process_group()


def rematerialised(in_torch):
    """`torch.utils.checkpoint`, in both ways, and `checkpoint_sequential`."""
    model = Network(in_torch.swish)
    x = X.clone().requires_grad_()
    layers = [model.first, in_torch.swish, model.second]
    found = [checkpoint(model, x, use_reentrant=reentrant) for reentrant in (True, False)]
    found.append(checkpoint_sequential(layers, 2, x, use_reentrant=False)[:, 0])
    return [_gradients(model, y) for y in found]


def _gradients(model, y):
    model.zero_grad()
    (y**2).sum().backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def parametrized(in_torch):
    """A parametrization of a weight by the function: `torch.nn.utils.parametrize`."""

    class Function(torch.nn.Module):
        def forward(self, weight):
            return in_torch.swish(weight)

    model = torch.nn.Linear(3, 1).double()
    parametrize.register_parametrization(model, "weight", Function())
    return _gradients(model, model(X)[:, 0] - Y)


def gradients_of_each_example(in_torch):
    """`torch.func.functional_call` under `vmap` of `grad`, and `hessian`."""
    model = Network(in_torch.swish)
    parameters = dict(model.named_parameters())

    def loss(parameters, x, y):
        return (torch.func.functional_call(model, parameters, (x[None],))[0] - y) ** 2

    each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(parameters, X, Y)
    bias = lambda b: loss(parameters | {"first.bias": b}, X[0], Y[0])  # noqa: E731
    return each, torch.func.hessian(bias)(parameters["first.bias"])


def copied(in_torch):
    """A module that is copied by `copy.deepcopy`, with the state of its optimiser, and trained on."""
    model = Network(in_torch.swish)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    _trained(model, optimiser)
    other = copy.deepcopy(model)
    resumed = torch.optim.Adam(other.parameters())
    resumed.load_state_dict(optimiser.state_dict())
    return _trained(other, resumed)


class Transformed(Dataset):
    """Data through a function."""

    def __init__(self, function):
        self.function = function

    def __len__(self):
        return len(X)

    def __getitem__(self, i):
        return self.function(X[i])


def data_loader(in_torch):
    """A `DataLoader` with two workers, whose data go through the function, and a loss of it."""
    loader = DataLoader(Transformed(in_torch.swish), batch_size=4, num_workers=2, multiprocessing_context="fork")
    model = Network(in_torch.swish)
    return [_gradients(model, model(x)) for x in loader]


def compiled(in_torch):
    """`torch.compile` of the module, trained."""
    torch._dynamo.reset()
    model = torch.compile(Network(in_torch.swish), backend="aot_eager")
    return _trained(model, torch.optim.SGD(model.parameters(), lr=0.1))


def threads(in_torch):
    """Gradients of one module in two threads, each of its part of the data."""
    model = Network(in_torch.swish)

    def gradients(part):
        loss = ((model(X[part]) - Y[part]) ** 2).sum()
        return torch.autograd.grad(loss, list(model.parameters()))

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(gradients, [slice(0, 4), slice(4, 8)] * 4))
