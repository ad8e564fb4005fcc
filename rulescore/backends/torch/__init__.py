"""PyTorch: functions of NumPy arrays with rules as functions of tensors, under autograd, torch.func and torch.compile.

Within this package `torch` is PyTorch, as everywhere.
"""

from __future__ import annotations

from rulescore.backends.host.native import NotNativeError
from rulescore.backends.torch.config import TorchConfig
from rulescore.backends.torch.foreign_functions import from_torch
from rulescore.backends.torch.functions import to_torch

__all__ = ["NotNativeError", "TorchConfig", "from_torch", "to_torch"]
