"""refet: evapotranspiration of reference crops."""

import refet


def daily(tmin=10.83, tmax=32.67, rs=22.0, uz=1.8, ea=1.2):
    """refet.Daily.eto"""
    return refet.Daily(
        tmin=tmin, tmax=tmax, ea=ea, rs=rs, uz=uz, zw=3.0, elev=1200.0, lat=39.5, doy=182, method="asce"
    ).eto()


def hourly(tmean=25.4, rs=2.4, uz=3.3, ea=1.1):
    """refet.Hourly.etr"""
    return refet.Hourly(
        tmean=tmean, ea=ea, rs=rs, uz=uz, zw=3.0, elev=1208.0, lat=39.5, lon=-118.8, doy=182, time=18.0, method="asce"
    ).etr()


def slope(tmean=22.0):
    """refet.calcs.es_slope"""
    return refet.calcs.es_slope(tmean)


def extraterrestrial(lat=0.69):
    """refet.calcs.ra_daily"""
    return refet.calcs.ra_daily(lat, 182)
