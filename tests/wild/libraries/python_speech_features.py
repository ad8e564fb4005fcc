"""python-speech-features: features of speech."""

import numpy as np
import python_speech_features as speech

SIGNAL = np.random.default_rng(0).standard_normal(800)
FEATURES = SIGNAL[:24].reshape(6, 4)


def cepstrum(signal=SIGNAL):
    """python_speech_features.mfcc"""
    return speech.mfcc(signal, 8000, nfft=256)


def filter_bank(signal=SIGNAL):
    """python_speech_features.logfbank"""
    return speech.logfbank(signal, 8000, nfft=256)


def centroids(signal=SIGNAL):
    """python_speech_features.ssc"""
    return speech.ssc(signal, 8000, nfft=256)


def deltas(features=FEATURES):
    """python_speech_features.delta"""
    return speech.delta(features, 2)


def mel(hz=440.0):
    """python_speech_features.base.hz2mel"""
    return speech.hz2mel(hz)
