"""The exact engine: output laws, their privacy losses with rigorous bounds, and tests of samplers."""

from audit.laws.closed_form import GaussianLoss, LaplaceLoss, geometric_loss, no_loss
from audit.laws.composition import ComposedLoss, compose
from audit.laws.continuous import AtomsAndDensity, Gaussian, Laplace, Point, ThresholdedLaplace
from audit.laws.density import DensityLoss
from audit.laws.discrete import Finite, TwoSidedGeometric
from audit.laws.finite import FiniteLoss
from audit.laws.law import Law, ScalarLaw, loss_between
from audit.laws.loss import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, PrivacyLoss
from audit.laws.product import Product

__all__ = [
    "ARITHMETIC_TOLERANCE",
    "DIRECTIONS",
    "AtomsAndDensity",
    "ComposedLoss",
    "DensityLoss",
    "Direction",
    "Finite",
    "FiniteLoss",
    "Gaussian",
    "GaussianLoss",
    "Laplace",
    "LaplaceLoss",
    "Law",
    "Point",
    "PrivacyLoss",
    "Product",
    "ScalarLaw",
    "ThresholdedLaplace",
    "TwoSidedGeometric",
    "compose",
    "geometric_loss",
    "loss_between",
    "no_loss",
]
