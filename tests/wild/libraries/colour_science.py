"""colour-science: colour science."""

import colour
import numpy as np

XYZ = ((0.20654008, 0.12197225, 0.05136952), (0.3, 0.4, 0.2))
LAB1, LAB2 = (48.99183622, -0.10561667, 400.65619925), (50.65907324, -0.11671910, 402.82235718)
WHITE = np.array([95.05, 100.00, 108.88])


def lab(XYZ=XYZ):
    """colour.XYZ_to_Lab"""
    return colour.XYZ_to_Lab(XYZ)


def rgb(XYZ=XYZ):
    """colour.XYZ_to_sRGB"""
    return colour.XYZ_to_sRGB(XYZ)


def difference(a=LAB1, b=LAB2):
    """colour.delta_E"""
    return colour.delta_E(a, b, method="CIE 2000")


def appearance(XYZ=(19.01, 20.00, 21.78)):
    """colour.XYZ_to_CIECAM02"""
    specification = colour.XYZ_to_CIECAM02(XYZ, WHITE, 318.31, 20.0)
    return specification.J, specification.C, specification.h


def adapted(XYZ=XYZ):
    """colour.chromatic_adaptation"""
    return colour.chromatic_adaptation(
        XYZ, np.array([0.95045593, 1.0, 1.08905775]), np.array([0.96429568, 1.0, 0.82510460])
    )


def spectrum(values=(0.1, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.2)):
    """colour.sd_to_XYZ"""
    sd = colour.SpectralDistribution(dict(zip(range(400, 700, 20), values, strict=True)))
    return colour.sd_to_XYZ(sd)


def temperature(xy=(0.31270, 0.32900)):
    """colour.xy_to_CCT"""
    return colour.xy_to_CCT(xy, method="McCamy 1992")


def oklab(XYZ=XYZ):
    """colour.XYZ_to_Oklab"""
    return colour.XYZ_to_Oklab(XYZ)


def munsell(Y=12.23634268):
    """colour.munsell_value"""
    return colour.munsell_value(Y, method="Priest 1920")
