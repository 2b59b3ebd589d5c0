"""Distributions with exact Bayes risks and exact cell integrals, to measure learners against."""

from mechanisms.distributions.base import Atoms, Cumulative, Distribution
from mechanisms.distributions.combined import Atomic, Line, Mixture, Product, ZipfByThirds
from mechanisms.distributions.marginals import (
    CAUCHY,
    EXPONENTIAL,
    NORMAL,
    PARETO,
    SQUARE_ROOT,
    UNIFORM,
    Cantor,
    Known,
    LogTail,
    Marginal,
    NarrowMixture,
)
from mechanisms.distributions.responses import Power, Response, Sine, SineOfReciprocal, Steps
from mechanisms.distributions.zoo import ZOO

__all__ = [
    "CAUCHY",
    "EXPONENTIAL",
    "NORMAL",
    "PARETO",
    "SQUARE_ROOT",
    "UNIFORM",
    "ZOO",
    "Atomic",
    "Atoms",
    "Cantor",
    "Cumulative",
    "Distribution",
    "Known",
    "Line",
    "LogTail",
    "Marginal",
    "Mixture",
    "NarrowMixture",
    "Power",
    "Product",
    "Response",
    "Sine",
    "SineOfReciprocal",
    "Steps",
    "ZipfByThirds",
]
