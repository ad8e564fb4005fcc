"""scikit-rf: networks of microwaves."""

import numpy as np
import skrf
from skrf.media import CPW, Coaxial, DefinedGammaZ0, RectangularWaveguide

BAND = skrf.Frequency(1, 3, 3, "GHz")
LINES = DefinedGammaZ0(BAND, gamma=1j * np.array([20.0, 40.0, 60.0]), z0=50.0)


def resistor(R=60.0, L=1e-9):
    """skrf.media.DefinedGammaZ0.resistor"""
    return abs((LINES.resistor(R) ** LINES.inductor(L) ** LINES.short()).s)


def line(d=0.01):
    """skrf.media.DefinedGammaZ0.line"""
    return LINES.line(d, "m").s.real


def impedance(s=(((0.1, 0.8), (0.7, 0.2)),)):
    """skrf.network.s2z"""
    return skrf.network.s2z(s).real


def renormalized(s=(((0.1, 0.8), (0.7, 0.2)),), z=75.0):
    """skrf.network.renormalize_s"""
    return skrf.network.renormalize_s(s, 50.0, z).real


def cascaded(s=(((0.1, 0.8), (0.7, 0.2)),) * 3):
    """skrf.Network.__pow__"""
    network = skrf.Network(frequency=BAND, s=s, z0=50.0)
    return abs((network**network).s)


def coplanar(w=0.6e-3, s=0.3e-3, ep_r=4.2):
    """skrf.media.CPW"""
    return CPW(BAND, w=w, s=s, ep_r=ep_r, h=0.5e-3).z0.real


def waveguide(a=0.1):
    """skrf.media.RectangularWaveguide"""
    return RectangularWaveguide(BAND, a=a, b=0.05).gamma.imag


def coaxial(Dint=0.8e-3, Dout=5e-3):
    """skrf.media.Coaxial"""
    return Coaxial(BAND, Dint=Dint, Dout=Dout, epsilon_r=2.1).z0.real
