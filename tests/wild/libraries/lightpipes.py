"""LightPipes: propagation of light."""

from LightPipes import (
    Begin,
    Forvard,
    Fresnel,
    GaussBeam,
    Intensity,
    Lens,
    Phase,
    Power,
    Propagate,
    RectAperture,
    Tilt,
    Zernike,
    mm,
    nm,
    um,
)


def double_slit(z=0.3):
    """LightPipes.Forvard"""
    field = RectAperture(Begin(5 * mm, 633 * nm, 32), 0.6 * mm, 2 * mm, 0.5 * mm)
    return Intensity(0, Forvard(z, field))


def focus(f=0.5, z=0.2):
    """LightPipes.Lens"""
    field = GaussBeam(Begin(5 * mm, 633 * nm, 32), 0.8 * mm)
    return Intensity(0, Propagate(Lens(field, f, 0, 0), z))


def beam(w0=0.8e-3):
    """LightPipes.GaussBeam"""
    field = GaussBeam(Begin(5 * mm, 633 * nm, 32), w0)
    return Power(field), Intensity(0, field)


def tilted(tx=0.1e-3, ty=0.2e-3):
    """LightPipes.Tilt"""
    return Phase(Tilt(GaussBeam(Begin(5 * mm, 633 * nm, 16), 0.8 * mm), tx, ty))


def aberrated(A=0.1):
    """LightPipes.Zernike"""
    field = Zernike(GaussBeam(Begin(5 * mm, 633 * nm, 32), 0.8 * mm), 2, 0, 1 * mm, A, units="lam")
    return Intensity(0, Fresnel(100 * um, field))
