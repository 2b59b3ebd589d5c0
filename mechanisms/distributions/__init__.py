"""Distributions with exact Bayes risks and exact cell integrals, to measure learners against."""

from mechanisms.distributions.features import (
    CANTOR,
    CAUCHY,
    DENSITIES,
    NO_MARGIN,
    UNIFORM,
    Marginal,
    make_power,
    make_steps,
)
from mechanisms.distributions.labeled import Atomic, Distribution, Line, Product, ZipfByThirds
from mechanisms.distributions.zoo import ZOO

__all__ = [
    "CANTOR",
    "CAUCHY",
    "DENSITIES",
    "NO_MARGIN",
    "UNIFORM",
    "ZOO",
    "Atomic",
    "Distribution",
    "Line",
    "Marginal",
    "Product",
    "ZipfByThirds",
    "make_power",
    "make_steps",
]
