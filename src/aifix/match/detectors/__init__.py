"""Detectors: what no single line says. A rule names one (`detector: flat-loss`); each gives lines and captures like a regex."""

from aifix.match.detectors.flat_loss import flat_loss
from aifix.match.detectors.grad_norm import grad_norm
from aifix.match.detectors.nan_loss import nan_loss
from aifix.match.detectors.table import DETECTORS, Detector

__all__ = ["DETECTORS", "Detector", "flat_loss", "grad_norm", "nan_loss"]
