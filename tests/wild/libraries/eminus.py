"""eminus: density functional theory."""

from eminus.xc import get_xc

DENSITY = ((0.1, 0.4, 0.8, 1.5),)


def slater(n=DENSITY):
    """eminus.xc.get_xc(lda_x, lda_c_chachiyo)"""
    return get_xc("lda,chachiyo", n, 1)[0]


def pade(n=DENSITY):
    """eminus.xc.get_xc(lda_c_pw)"""
    return get_xc("lda,pw", n, 1)[:2]


def spin(n=((0.1, 0.4, 0.8), (0.2, 0.3, 0.5))):
    """eminus.xc.get_xc(lda_c_vwn, spin)"""
    return get_xc("lda,vwn", n, 2)[:2]


def gradient_corrected(n=DENSITY, dn=(((0.1, 0.2, 0.3), (0.2, 0.1, 0.4), (0.3, 0.5, 0.2), (0.6, 0.1, 0.2)),)):
    """eminus.xc.get_xc(gga_x_pbe)"""
    return get_xc("pbex,pbec", n, 1, dn_spin=dn)[0]


def ewald(d=1.4):
    """eminus.energies.get_Eewald"""
    from eminus import Atoms
    from eminus.energies import get_Eewald

    atoms = Atoms("H2", [[0, 0, 0], [0, 0, d]], a=10, ecut=1, verbose=0)
    return get_Eewald(atoms) if atoms.is_built else get_Eewald(atoms.build())
