"""The error of native mode, for whoever catches it; the mode lives in `rulescore.backends.host.native`."""

from __future__ import annotations

from rulescore.backends.host.native import NotNativeError

__all__ = ["NotNativeError"]
