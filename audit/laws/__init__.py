"""Output laws, their privacy losses with rigorous bounds on both sides, and tests that outputs follow a law.

An argument outside the set that a docstring states raises `InvalidArgument`.
"""

from audit.laws.composed_loss import ComposedLoss, compose
from audit.laws.density_loss import DensityLoss
from audit.laws.discrete_laws import Finite, Product, TwoSidedGeometric
from audit.laws.documented_laws import discrete_gaussian
from audit.laws.exact_loss import FiniteLoss, GaussianLoss, LaplaceLoss, geometric_loss, no_loss
from audit.laws.privacy_loss import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, PrivacyLoss
from audit.laws.real_laws import AtomsAndDensity, Gaussian, Laplace, Law, PointMass, ScalarLaw

__all__ = [
    "ARITHMETIC_TOLERANCE", "DIRECTIONS", "AtomsAndDensity", "ComposedLoss", "DensityLoss", "Direction", "Finite",
    "FiniteLoss", "Gaussian", "GaussianLoss", "Laplace", "LaplaceLoss", "Law", "PointMass", "PrivacyLoss",
    "Product", "ScalarLaw", "TwoSidedGeometric", "compose", "discrete_gaussian", "geometric_loss", "no_loss",
]  # fmt: skip
