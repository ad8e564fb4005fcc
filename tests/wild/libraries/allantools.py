"""allantools: the stability of clocks."""

import allantools
import numpy as np

PHASE = np.cumsum(np.random.default_rng(0).standard_normal(24))
TAUS = np.array([1.0, 2.0, 4.0])


def allan(data=PHASE):
    """allantools.adev"""
    return allantools.adev(data, taus=TAUS)[1]


def overlapping(data=PHASE):
    """allantools.oadev"""
    return allantools.oadev(data, taus=TAUS)[1]


def modified(data=PHASE):
    """allantools.mdev"""
    return allantools.mdev(data, taus=TAUS)[1]


def hadamard(data=PHASE):
    """allantools.hdev"""
    return allantools.hdev(data, taus=TAUS)[1]


def total(data=PHASE):
    """allantools.totdev"""
    return allantools.totdev(data, taus=TAUS)[1]


def frequency(data=PHASE):
    """allantools.phase2frequency"""
    return allantools.phase2frequency(data, 2.0)
