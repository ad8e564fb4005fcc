"""Sample inputs for `scipy.interpolate`."""

from . import building_blocks, grids, scattered, splines

__all__ = ["building_blocks", "grids", "scattered", "splines"]
