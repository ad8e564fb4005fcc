"""What the adapters make of functions goes to other processes, and into copies of what holds it."""

import copy
import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

from rulescore import NoTangent, rrule

X = [0.5, 2.0]


def softsign(x):
    return x / (1 + abs(x))


@rrule.register(softsign)
def softsign_rrule(x):
    return softsign(x), lambda ybar: (NoTangent(), ybar / (1 + abs(x)) ** 2)


def _made(adapter, **options):
    module, name = adapter.split(".")
    framework = pytest.importorskip({"torch": "torch", "jax": "jax", "autograd": "autograd"}[module])
    make = getattr(importlib.import_module(f"rulescore.backends.{module}"), name)
    array = {"torch": lambda x: framework.tensor(x), "jax": lambda x: framework.numpy.array(x)}.get(module, np.array)
    return make(softsign, **options), array if name.startswith("to_") else np.array


ADAPTERS = [
    ("torch.to_torch", {}),
    ("torch.to_torch", {"vmap_method": "broadcast_all", "native": True}),
    ("torch.from_torch", {}),
    ("jax.to_jax", {}),
    ("jax.to_jax", {"vmap_method": "broadcast_all", "native": "auto"}),
    ("jax.from_jax", {}),
    ("autograd.to_autograd", {}),
    ("autograd.from_autograd", {}),
]


@pytest.mark.parametrize(("adapter", "options"), ADAPTERS, ids=lambda x: x if isinstance(x, str) else "".join(x))
def test_functions_are_pickled_as_how_they_were_made(adapter, options):
    function, array = _made(adapter, **options)
    other = pickle.loads(pickle.dumps(function))
    assert type(other) is type(function)
    np.testing.assert_array_equal(other(array(X)), function(array(X)))
    assert getattr(other.maker, "keywords", {}) == getattr(function.maker, "keywords", {})
    assert copy.deepcopy(function) is copy.copy(function) is function


def test_a_module_of_pytorch_is_pickled_with_its_functions():
    torch = pytest.importorskip("torch")
    from rulescore.backends.torch import to_torch

    class_name = "ModuleOfSoftsigns"
    module = type(class_name, (torch.nn.Module,), {"__module__": __name__, "__qualname__": class_name})
    globals()[class_name] = module
    layer = module()
    layer.f, layer.weight = to_torch(softsign), torch.nn.Parameter(torch.ones(2))
    other = pickle.loads(pickle.dumps(layer))
    other.f(other.weight * torch.tensor(X)).sum().backward()
    np.testing.assert_allclose(other.weight.grad, np.array(X) / (1 + np.array(X)) ** 2, rtol=1e-6)


IN_ANOTHER_PROCESS = """
import pickle, sys
import numpy as np
function = pickle.loads(sys.stdin.buffer.read())
print(type(function).__module__, *function(np.array([0.5, 2.0])).tolist())
"""


@pytest.mark.parametrize("adapter", ["autograd.to_autograd", "torch.from_torch", "jax.from_jax"])
def test_another_process_calls_them(adapter):
    function, _ = _made(adapter)
    found = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], input=pickle.dumps(function), capture_output=True, check=True
    )
    module, *values = found.stdout.decode().split()
    assert module == type(function).__module__
    np.testing.assert_allclose([float(value) for value in values], softsign(np.array(X)), rtol=1e-6)


def test_what_cannot_be_pickled_is_the_function_itself():
    function = pytest.importorskip("rulescore.backends.autograd").to_autograd(lambda x: x)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(function)
