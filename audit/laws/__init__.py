"""Output laws, their privacy losses with rigorous bounds on both sides, and tests that outputs follow a law.

An argument outside the set that a docstring states raises `InvalidArgument`.
"""

from audit.laws.outputs import (
    AtomsAndDensity,
    Finite,
    Gaussian,
    Laplace,
    Law,
    PointMass,
    Product,
    ScalarLaw,
    TwoSidedGeometric,
)
from audit.laws.privacy_loss import (
    ARITHMETIC_TOLERANCE,
    DIRECTIONS,
    DensityLoss,
    Direction,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    PrivacyLoss,
    geometric_loss,
    no_loss,
)
from audit.laws.product import ComposedLoss, compose

__all__ = [
    "ARITHMETIC_TOLERANCE", "DIRECTIONS", "AtomsAndDensity", "ComposedLoss", "DensityLoss", "Direction", "Finite",
    "FiniteLoss", "Gaussian", "GaussianLoss", "Laplace", "LaplaceLoss", "Law", "PointMass", "PrivacyLoss",
    "Product", "ScalarLaw", "TwoSidedGeometric", "compose", "geometric_loss", "no_loss",
]  # fmt: skip
