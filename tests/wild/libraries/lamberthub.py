"""lamberthub: Lambert's problem of orbits."""

import numpy as np
from lamberthub import gooding1990, izzo2015, vallado2013

R1 = (15945.34, 0.0, 0.0)
R2 = (12214.83899, 10249.46731, 0.0)


def izzo(r1=R1, r2=R2, tof=4560.0):
    """lamberthub.izzo2015"""
    return izzo2015(398600.4418, r1, r2, tof)


def gooding(r1=R1, r2=R2, tof=4560.0):
    """lamberthub.gooding1990"""
    return gooding1990(398600.4418, r1, r2, tof)


def vallado(r1=R1, tof=4560.0):
    """lamberthub.vallado2013"""
    return vallado2013(398600.4418, r1, np.array(R2), tof, atol=1e-13, rtol=1e-13, maxiter=300)
