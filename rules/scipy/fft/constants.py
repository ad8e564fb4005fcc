"""What of `scipy.fft` has no derivative: lengths that transform fast, and settings."""

import scipy.fft
from rulescore import non_differentiable, not_numerical

non_differentiable(scipy.fft.next_fast_len, scipy.fft.prev_fast_len)

not_numerical(
    scipy.fft.get_workers,
    scipy.fft.register_backend,
    scipy.fft.set_backend,
    scipy.fft.set_global_backend,
    scipy.fft.set_workers,
    scipy.fft.skip_backend,
)
