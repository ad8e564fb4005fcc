"""komm: simulation of communication systems."""

import komm
import numpy as np


def pulse(rolloff=0.35):
    """komm.RaisedCosinePulse.waveform"""
    return komm.RaisedCosinePulse(rolloff=rolloff).waveform(np.linspace(-1.3, 1.3, 6))


def q_function(x=(0.1, 0.7, 1.5)):
    """komm.gaussian_q"""
    return komm.gaussian_q(x)


def information(pmf=(0.2, 0.3, 0.5)):
    """komm.entropy"""
    return komm.entropy(pmf)


def marcum(a=0.5, b=1.2):
    """komm.marcum_q"""
    return komm.marcum_q(1, a, b)


def box_plus(llr=(0.5, -1.2)):
    """komm.boxplus"""
    return komm.boxplus(llr[0], llr[1])


def capacity(p=0.2):
    """komm.BinarySymmetricChannel.capacity"""
    return komm.BinarySymmetricChannel(p).capacity()


def posteriors(received=(0.5, -0.8, 0.9, 0.1), noise=0.4):
    """komm.PSKConstellation.posteriors"""
    return komm.PAMConstellation(4).posteriors(received, noise)
