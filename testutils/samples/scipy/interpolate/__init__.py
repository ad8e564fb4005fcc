"""Sample inputs for `scipy.interpolate`."""

from testutils.samples.scipy.interpolate import building_blocks, grids, scattered, splines

__all__ = ["building_blocks", "grids", "scattered", "splines"]
