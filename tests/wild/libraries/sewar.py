"""sewar: measures of the quality of images."""

import numpy as np
from sewar import full_ref

RNG = np.random.default_rng(0)
TRUTH = RNG.uniform(10.0, 240.0, (16, 16, 3))
IMAGE = TRUTH + RNG.normal(0.0, 5.0, TRUTH.shape)
GREY = RNG.uniform(10.0, 240.0, (48, 48))


def mse(image=IMAGE):
    """sewar.full_ref.mse"""
    return full_ref.mse(TRUTH, image)


def psnr(image=IMAGE):
    """sewar.full_ref.psnr"""
    return full_ref.psnr(TRUTH, image, MAX=255)


def ssim(image=IMAGE):
    """sewar.full_ref.ssim"""
    return full_ref.ssim(TRUTH, image, ws=7, MAX=255)


def quality_index(image=IMAGE):
    """sewar.full_ref.uqi"""
    return full_ref.uqi(TRUTH, image)


def ergas(image=IMAGE):
    """sewar.full_ref.ergas"""
    return full_ref.ergas(TRUTH, image)


def angle(image=IMAGE):
    """sewar.full_ref.sam"""
    return full_ref.sam(TRUTH, image)


def fidelity(image=GREY):
    """sewar.full_ref.vifp"""
    return full_ref.vifp(np.add.outer(np.arange(48.0), np.sin(np.arange(48.0)) * 50 + 90), image)
