"""thermofeel: how warm it feels."""

import thermofeel


def universal(t2_k=(300.0, 290.0), va=(2.0, 4.0), mrt=(310.0, 295.0), td_k=(290.0, 280.0)):
    """thermofeel.calculate_utci"""
    return thermofeel.calculate_utci(t2_k=t2_k, va=va, mrt=mrt, td_k=td_k)


def wet_bulb_globe(t2_k=(300.0, 290.0), va=(2.0, 4.0), mrt=(310.0, 295.0), td_k=(290.0, 280.0)):
    """thermofeel.calculate_wbgt"""
    return thermofeel.calculate_wbgt(t2_k, mrt, va, td_k)


def heat_index(t2_k=(305.0, 309.0), td_k=(296.0, 298.0)):
    """thermofeel.calculate_heat_index_adjusted"""
    return thermofeel.calculate_heat_index_adjusted(t2_k, td_k)


def wind_chill(t2_k=(268.0, 261.0), va=(5.0, 8.0)):
    """thermofeel.calculate_wind_chill"""
    return thermofeel.calculate_wind_chill(t2_k, va)


def vote(t2_k=(297.0,), mrt_k=(299.0,), var=(0.2,), rh=(50.0,)):
    """thermofeel.calculate_pmv"""
    return thermofeel.calculate_pmv(t2_k, mrt_k, var, rh=rh)


def humidity(t2_k=300.0, td_k=290.0):
    """thermofeel.calculate_relative_humidity_percent"""
    return thermofeel.calculate_relative_humidity_percent(t2_k, td_k)
