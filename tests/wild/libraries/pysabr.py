"""pysabr: the SABR model of volatility."""

from pysabr import Hagan2002LognormalSABR, Hagan2002NormalSABR
from pysabr.models import hagan_2002_lognormal_sabr as lognormal


def smile(f=0.025, v_atm_n=0.004, rho=-0.2, volvol=0.3):
    """pysabr.Hagan2002LognormalSABR.lognormal_vol"""
    return Hagan2002LognormalSABR(
        f=f, shift=0.03, t=1.0, v_atm_n=v_atm_n, beta=0.5, rho=rho, volvol=volvol
    ).lognormal_vol(0.03)


def normal(f=0.025, rho=-0.2, volvol=0.3):
    """pysabr.Hagan2002NormalSABR.normal_vol"""
    return Hagan2002NormalSABR(f=f, shift=0.03, t=1.0, v_atm_n=0.004, beta=0.5, rho=rho, volvol=volvol).normal_vol(0.03)


def expansion(k=0.03, f=0.025, alpha=0.05, rho=-0.2):
    """pysabr.models.hagan_2002_lognormal_sabr.lognormal_vol"""
    return lognormal.lognormal_vol(k, f, 1.0, alpha, 0.5, rho, 0.3)


def call(f=0.025, volvol=0.3):
    """pysabr.Hagan2002LognormalSABR.call"""
    return Hagan2002LognormalSABR(f=f, shift=0.03, t=1.0, v_atm_n=0.004, beta=0.5, rho=-0.2, volvol=volvol).call(0.03)
