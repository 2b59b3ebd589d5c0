"""Distributions with exact Bayes risks and exact cell integrals, to measure learners against."""

from mechanisms.distributions.base import Cumulative, Distribution
from mechanisms.distributions.combined import Atomic, Line, Mixture, Product, ZipfByThirds
from mechanisms.distributions.marginals import (
    CANTOR,
    CAUCHY,
    EXPONENTIAL,
    LOG_TAIL,
    NARROW_MIXTURE,
    NORMAL,
    PARETO,
    SQUARE_ROOT,
    UNIFORM,
    Marginal,
)
from mechanisms.distributions.responses import Response, make_power, make_steps
from mechanisms.distributions.zoo import ZOO

__all__ = [
    "CANTOR",
    "CAUCHY",
    "EXPONENTIAL",
    "LOG_TAIL",
    "NARROW_MIXTURE",
    "NORMAL",
    "PARETO",
    "SQUARE_ROOT",
    "UNIFORM",
    "ZOO",
    "Atomic",
    "Cumulative",
    "Distribution",
    "Line",
    "Marginal",
    "Mixture",
    "Product",
    "Response",
    "ZipfByThirds",
    "make_power",
    "make_steps",
]
