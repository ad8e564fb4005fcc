"""SciPy's modules themselves; `signal` is autograd's own, with a convolution that SciPy does not have."""

import importlib
import pkgutil
import sys

import scipy.stats

__path__ = pkgutil.extend_path(__path__, __name__)

for _name in ("integrate", "linalg", "special", "stats"):
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = importlib.import_module(f"scipy.{_name}")
for _name in ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"):
    sys.modules[f"{__name__}.stats.{_name}"] = getattr(scipy.stats, _name)  # distributions are modules in autograd

from . import signal
