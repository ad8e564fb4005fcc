"""The versions of NumPy and SciPy that are installed, to compare: ``if SCIPY >= "1.16.0":``."""

from __future__ import annotations

import numpy as np
import scipy

NUMPY = np.lib.NumpyVersion(np.__version__)
SCIPY = np.lib.NumpyVersion(scipy.__version__)
