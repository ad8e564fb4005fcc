"""pycwt: wavelets."""

import numpy as np
import pycwt

SIGNAL = np.random.default_rng(0).standard_normal(16)


def transform(signal=SIGNAL):
    """pycwt.cwt"""
    return abs(pycwt.cwt(signal, 0.5, dj=0.5, J=4)[0])


def inverse(signal=SIGNAL):
    """pycwt.icwt"""
    waves, scales = pycwt.cwt(signal, 0.5, dj=0.5, J=4)[:2]
    return pycwt.icwt(waves, scales, 0.5, dj=0.5)


def mother(t=(-0.5, 0.2, 1.0)):
    """pycwt.DOG.psi"""
    return np.real(pycwt.DOG(2).psi(t))


def morlet(f=(3.0, 5.0, 6.5)):
    """pycwt.Morlet.psi_ft"""
    return pycwt.Morlet(6).psi_ft(f)


def first_order(x=SIGNAL):
    """pycwt.ar1"""
    return pycwt.ar1(x)[0]
