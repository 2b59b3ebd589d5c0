"""Distributions with exact Bayes risks and exact cell integrals, to measure learners against."""

from mechanisms.distributions.base import Atoms, Cumulative, Distribution
from mechanisms.distributions.combined import Atomic, Line, Mixture, Product, ZipfByThirds
from mechanisms.distributions.marginals import (
    Cantor,
    Cauchy,
    Exponential,
    LogTail,
    Marginal,
    NarrowMixture,
    Normal,
    Pareto,
    SquareRoot,
    Uniform,
)
from mechanisms.distributions.responses import Power, Rank, Response, Sine, SineOfReciprocal, Steps
from mechanisms.distributions.zoo import ZOO

__all__ = [
    "ZOO",
    "Atomic",
    "Atoms",
    "Cantor",
    "Cauchy",
    "Cumulative",
    "Distribution",
    "Exponential",
    "Line",
    "LogTail",
    "Marginal",
    "Mixture",
    "NarrowMixture",
    "Normal",
    "Pareto",
    "Power",
    "Product",
    "Rank",
    "Response",
    "Sine",
    "SineOfReciprocal",
    "SquareRoot",
    "Steps",
    "Uniform",
    "ZipfByThirds",
]
