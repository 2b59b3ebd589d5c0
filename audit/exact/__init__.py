"""The exact engine: output laws, their privacy losses with rigorous bounds, and tests of samplers."""

from audit.exact.closed_form import GaussianLoss, LaplaceLoss, geometric_loss, no_loss
from audit.exact.composition import ComposedLoss, compose
from audit.exact.continuous import AtomsAndDensity, Gaussian, Laplace, Point, ThresholdedLaplace
from audit.exact.density import DensityLoss
from audit.exact.discrete import Finite, TwoSidedGeometric
from audit.exact.finite import FiniteLoss
from audit.exact.laws import Law, ScalarLaw, loss_between
from audit.exact.loss import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, PrivacyLoss
from audit.exact.product import Product

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
