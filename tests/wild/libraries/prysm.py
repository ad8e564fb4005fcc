"""prysm: physical optics."""

import numpy as np
from prysm.coordinates import cart_to_polar, make_xy_grid
from prysm.polynomials import Q2d, sum_of_2d_modes, zernike_nm, zernike_nm_sequence
from prysm.propagation import Wavefront, focus
from prysm.thinfilm import multilayer_stack_rt

X, Y = make_xy_grid(16, diameter=2.0)
R, T = cart_to_polar(X, Y)
MODES = np.array(list(zernike_nm_sequence([(2, -2), (2, 0), (3, 1)], R, T)))
APERTURE = (R <= 1.0).astype(float)
FIELD = APERTURE * np.cos(X)


def zernike(r=(0.1, 0.5, 0.9), t=(0.3, 1.0, 2.0)):
    """prysm.polynomials.zernike_nm"""
    return zernike_nm(3, 1, r, t)


def point_spread(coefficients=(20.0, -35.0, 50.0)):
    """prysm.propagation.Wavefront.focus"""
    opd = sum_of_2d_modes(MODES, coefficients)
    return Wavefront.from_amp_and_phase(APERTURE, opd, 0.55, 2.0 / 16).focus(100.0, Q=2).intensity.data


def focused(field=FIELD):
    """prysm.propagation.focus"""
    return abs(focus(field, 2)) ** 2


def forbes(r=(0.2, 0.5, 0.8), t=(0.3, 1.0, 2.0)):
    """prysm.polynomials.Q2d"""
    return Q2d(2, 2, r, t)


def film(n=1.38, d=0.1):
    """prysm.thinfilm.multilayer_stack_rt"""
    r, t = multilayer_stack_rt([(n, d), (1.52, 1.0)], 0.55, "s", 20.0)
    return abs(r) ** 2, abs(t) ** 2
