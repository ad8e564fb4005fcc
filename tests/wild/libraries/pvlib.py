"""pvlib: power from the sun."""

import numpy as np
from pvlib import atmosphere, clearsky, irradiance, pvsystem, singlediode, solarposition, spa, temperature, tracking


def angle_of_incidence(tilt=30.0, azimuth=180.0, zenith=40.0, solar_azimuth=150.0):
    """pvlib.irradiance.aoi"""
    return irradiance.aoi(tilt, azimuth, zenith, solar_azimuth)


def plane_of_array(dni=700.0, ghi=600.0, dhi=120.0, zenith=40.0):
    """pvlib.irradiance.get_total_irradiance"""
    total = irradiance.get_total_irradiance(
        30.0, 180.0, zenith, 150.0, dni, ghi, dhi, dni_extra=1400.0, model="haydavies"
    )
    return total["poa_global"], total["poa_diffuse"]


def decomposed(ghi=600.0, zenith=40.0):
    """pvlib.irradiance.erbs"""
    result = irradiance.erbs(ghi, zenith, 100)
    return result["dni"], result["dhi"], result["kt"]


def sky(zenith=40.0, airmass=1.3, turbidity=3.0):
    """pvlib.clearsky.ineichen"""
    return list(clearsky.ineichen(zenith, airmass, turbidity).values())


def cell_temperature(irradiance=800.0, air=20.0, wind=3.0):
    """pvlib.temperature.sapm_cell"""
    return temperature.sapm_cell(irradiance, air, wind, a=-3.47, b=-0.0594, deltaT=3.0)


def diode(IL=7.0, I0=6e-7, Rs=0.1, Rsh=20.0, nNsVth=0.5):
    """pvlib.pvsystem.singlediode"""
    return list(pvsystem.singlediode(IL, I0, Rs, Rsh, nNsVth, method="lambertw").values())


def newton(IL=7.0, I0=6e-7, Rs=0.1):
    """pvlib.singlediode.bishop88_mpp"""
    return singlediode.bishop88_mpp(IL, I0, Rs, 20.0, 0.5, method="newton")


def de_soto(irradiance=800.0, temperature=40.0):
    """pvlib.pvsystem.calcparams_desoto"""
    return pvsystem.calcparams_desoto(irradiance, temperature, 0.003, 1.5, 6.0, 1e-9, 300.0, 0.3)


def sun(latitude=40.0, longitude=-105.0):
    """pvlib.spa.solar_position_numpy"""
    times = np.array([1.0662e9, 1.0663e9])
    return spa.solar_position_numpy(times, latitude, longitude, 1800.0, 820.0, 11.0, 67.0, 0.5667, 1)[:5]


def zenith(latitude=0.7, hour_angle=0.4, declination=0.2):
    """pvlib.solarposition.solar_zenith_analytical"""
    return solarposition.solar_zenith_analytical(latitude, hour_angle, declination)


def air_mass(zenith=(20.0, 60.0), pressure=90000.0):
    """pvlib.atmosphere.get_absolute_airmass"""
    return atmosphere.get_absolute_airmass(atmosphere.get_relative_airmass(zenith), pressure)


def tracker(zenith=60.0, azimuth=110.0):
    """pvlib.tracking.singleaxis"""
    result = tracking.singleaxis(zenith, azimuth, axis_tilt=10.0, axis_azimuth=170.0, backtrack=False)
    return result["tracker_theta"], result["aoi"]
