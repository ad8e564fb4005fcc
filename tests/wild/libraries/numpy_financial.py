"""numpy-financial: money over time."""

import numpy_financial as npf


def future_value(rate=0.05 / 12, pmt=-100.0, pv=-100.0):
    """numpy_financial.fv"""
    return npf.fv(rate, 120, pmt, pv)


def present_value(rate=0.05, cashflows=(-40000.0, 5000.0, 8000.0, 12000.0, 30000.0)):
    """numpy_financial.npv"""
    return npf.npv(rate, cashflows)


def internal_rate(cashflows=(-100.0, 39.0, 59.0, 55.0, 20.0)):
    """numpy_financial.irr"""
    return npf.irr(cashflows)


def rate(pmt=-100.0, pv=900.0):
    """numpy_financial.rate"""
    return npf.rate(12, pmt, pv, 0.0)


def periods(rate=0.07 / 12, pmt=-150.0, pv=8000.0):
    """numpy_financial.nper"""
    return npf.nper(rate, pmt, pv)


def interest(rate=0.0824 / 12, pv=2500.0):
    """numpy_financial.ipmt"""
    return npf.ipmt(rate, 3, 12, pv)
