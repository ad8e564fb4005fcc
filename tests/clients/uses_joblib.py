"""joblib: functions and their gradients in other processes and threads."""

import autograd
import joblib
import numpy as np
import torch

X = np.linspace(-1, 1, 8).reshape(4, 2)


def _gradient_in_autograd(f, x):
    return autograd.grad(lambda x: f(x).sum())(x)


def _gradient_in_torch(f, x):
    tensor = torch.tensor(x, requires_grad=True)
    return torch.autograd.grad(f(tensor).sum(), tensor)[0].numpy()


def processes(in_autograd):
    """`Parallel` with processes, of gradients by autograd."""
    return joblib.Parallel(2)(joblib.delayed(_gradient_in_autograd)(in_autograd.swish, x) for x in X)


def processes_of_tensors(in_torch):
    """`Parallel` with processes, of gradients by PyTorch."""
    return joblib.Parallel(2)(joblib.delayed(_gradient_in_torch)(in_torch.swish, x) for x in X)


def threads(in_autograd):
    """`Parallel` with threads, of gradients by autograd."""
    job = joblib.delayed(_gradient_in_autograd)
    return joblib.Parallel(2, prefer="threads")(job(in_autograd.swish, x) for x in X)


def threads_of_tensors(in_torch):
    """`Parallel` with threads, of gradients by PyTorch."""
    job = joblib.delayed(_gradient_in_torch)
    return joblib.Parallel(2, prefer="threads")(job(in_torch.swish, x) for x in X)
