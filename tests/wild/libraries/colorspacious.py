"""colorspacious: conversions between spaces of colours."""

import colorspacious

RGB = ((0.2, 0.5, 0.7), (0.8, 0.3, 0.4))


def uniform(rgb=RGB):
    """colorspacious.cspace_convert(CAM02-UCS)"""
    return colorspacious.cspace_convert(rgb, "sRGB1", "CAM02-UCS")


def lab(rgb=RGB):
    """colorspacious.cspace_convert(CIELab)"""
    return colorspacious.cspace_convert(rgb, "sRGB1", "CIELab")


def difference(one=RGB[0], two=RGB[1]):
    """colorspacious.deltaE"""
    return colorspacious.deltaE(one, two, input_space="sRGB1")


def deficient(rgb=RGB):
    """colorspacious.cspace_convert(CVD)"""
    return colorspacious.cspace_convert(
        rgb, {"name": "sRGB1+CVD", "cvd_type": "deuteranomaly", "severity": 50}, "sRGB1"
    )
