"""vector: Lorentz vectors of particle physics."""

import vector


def invariant_mass(px=1.0, py=2.0, pz=3.0, E=5.0):
    """vector.obj"""
    return vector.obj(px=px, py=py, pz=pz, E=E).mass


def boosted(pt=5.0, phi=0.4, eta=1.1, mass=0.5, beta=0.3):
    """vector.VectorObject4D.boostX"""
    p = vector.obj(pt=pt, phi=phi, eta=eta, mass=mass).boostX(beta=beta)
    return p.px, p.py, p.pz, p.E


def separation(phi=0.3, eta=0.8):
    """vector.VectorObject3D.deltaR"""
    return vector.obj(pt=1.0, phi=phi, eta=eta).deltaR(vector.obj(pt=2.0, phi=1.1, eta=-0.2))


def many(px=(1.0, 2.0), py=(0.5, 0.7), pz=(3.0, -1.0), E=(6.0, 4.0)):
    """vector.array"""
    p = vector.array({"px": px, "py": py, "pz": pz, "E": E})
    return p.mass, p.eta, p.rapidity


def rotated(x=1.0, y=2.0, z=3.0, angle=0.4):
    """vector.VectorObject3D.rotate_axis"""
    v = vector.obj(x=x, y=y, z=z).rotate_axis(vector.obj(x=0.1, y=0.2, z=1.0), angle)
    return v.x, v.y, v.z
