"""scikit-image: processing of images."""

import numpy as np
from skimage import color, exposure, filters, measure, metrics, restoration, transform

IMAGE = np.random.default_rng(0).uniform(0.1, 0.9, (12, 12))
PIXELS = ((0.2, 0.5, 0.7), (0.8, 0.3, 0.4))
COLOURS = ((PIXELS[0], PIXELS[1]),)


def lab(rgb=COLOURS):
    """skimage.color.rgb2lab"""
    return color.rgb2lab(rgb)


def hsv(rgb=COLOURS):
    """skimage.color.rgb2hsv"""
    return color.rgb2hsv(rgb)


def delta_e(lab1=(50.0, 2.67, -79.78), lab2=(50.0, 1.2, -82.75)):
    """skimage.color.deltaE_ciede2000"""
    return color.deltaE_ciede2000(lab1, lab2)


def stains(rgb=COLOURS):
    """skimage.color.rgb2hed"""
    return color.rgb2hed(rgb)


def similarity(image=IMAGE):
    """skimage.metrics.structural_similarity"""
    return metrics.structural_similarity(image, IMAGE[::-1], data_range=1.0)


def noise_ratio(image=IMAGE):
    """skimage.metrics.peak_signal_noise_ratio"""
    return metrics.peak_signal_noise_ratio(IMAGE[::-1], image, data_range=1.0)


def blurred(image=IMAGE):
    """skimage.filters.gaussian"""
    return filters.gaussian(image, sigma=1.2)


def edges(image=IMAGE):
    """skimage.filters.sobel"""
    return filters.sobel(image)


def gamma(image=IMAGE, gamma=1.7):
    """skimage.exposure.adjust_gamma"""
    return exposure.adjust_gamma(image, gamma)


def sharpened(image=IMAGE):
    """skimage.filters.unsharp_mask"""
    return filters.unsharp_mask(image * 0.5 + 0.2, radius=1.0, amount=0.1)


def denoised(image=IMAGE):
    """skimage.restoration.denoise_tv_chambolle"""
    return restoration.denoise_tv_chambolle(image, weight=0.1, max_num_iter=5)


def moments(image=IMAGE):
    """skimage.measure.moments_hu"""
    return measure.moments_hu(measure.moments_normalized(measure.moments_central(image)))


def warped(image=IMAGE):
    """skimage.transform.rotate"""
    return transform.rotate(image, 17.0)


def resized(image=IMAGE):
    """skimage.transform.resize"""
    return transform.resize(image, (7, 8), anti_aliasing=True)
