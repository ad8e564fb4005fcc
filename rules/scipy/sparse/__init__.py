"""Rules of `scipy.sparse`."""

from . import construction, operations

__all__ = ["construction", "operations"]
