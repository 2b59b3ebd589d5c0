"""Releases on a real survey: Fair's data on extramarital affairs, shipped with statsmodels.

The data are the 6,366 answers to the Redbook survey analyzed by Fair (1978), as `statsmodels.api.datasets.fair`.
Every pair is the survey and a neighbor in which one real record takes the value of another real record, chosen so
that the answer moves as far as the data allow. Claims and mechanisms are those of the reference mechanisms; nothing
in this file is synthetic. Departure from the sources: survey questions are taken one at a time, so that a record is
one woman's answer to the questions that the query reads.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from audit import AddRemove, Local, PrivacyCheck
from mechanisms import gaussian, geometric, laplace, randomized_response
from mechanisms.gaussian import GaussianMechanism
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram
from mechanisms.papers.rows import BOUSQUET, Paper
from mechanisms.queries import BoundedMean, Histogram, column_sums, count_positive
from mechanisms.randomized_response import RandomizedResponse

DATA = "Fair 1978 survey, statsmodels"
RECORDS = 6366
OCCUPATIONS = (1, 2, 3, 4, 5, 6)
RELIGIOUSNESS = (1, 2, 3, 4)
AGE = BoundedMean(17.5, 42.0)  # the youngest and the oldest age group of the questionnaire


@lru_cache(maxsize=1)
def survey() -> Any:
    """Return the survey as a data frame, read once."""
    from statsmodels.datasets import fair

    return fair.load_pandas().data


def column(name: str) -> np.ndarray:
    """Answers to one question, one a record."""
    return survey()[name].to_numpy()


def codes(name: str) -> np.ndarray:
    """Answers to one question with categories 1, 2, ... as integers."""
    return column(name).astype(np.int64)


def with_row(values: np.ndarray, target: int, source: int) -> np.ndarray:
    """Return the same answers, with record `target` replaced by a copy of record `source`."""
    changed = values.copy()
    changed[target] = values[source]
    return changed


def extreme_swap(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers and a neighbor whose first smallest answer is replaced by the largest."""
    return values, with_row(values, int(np.argmin(values)), int(np.argmax(values)))


def commonest_to_rarest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers and a neighbor in which one record leaves the commonest category for the rarest."""
    _, first, counts = np.unique(values, return_index=True, return_counts=True)
    return values, with_row(values, int(first[np.argmax(counts)]), int(first[np.argmin(counts)]))


def unit_rows(names: tuple[str, ...]) -> np.ndarray:
    """Answers to several questions, each scaled to [0, 1] by the ends of its questionnaire scale."""
    rows = survey()[list(names)].to_numpy()
    return (rows - rows.min(axis=0)) / (rows.max(axis=0) - rows.min(axis=0))


def farthest_swap(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the neighbor that moves their sum farthest: a row replaced by the one farthest from it."""
    distinct, first = np.unique(rows, axis=0, return_index=True)
    distance = np.linalg.norm(distinct[:, None] - distinct[None, :], axis=2)
    target, source = np.unravel_index(np.argmax(distance), distance.shape)
    return rows, with_row(rows, int(first[target]), int(first[source]))


def without_first(values: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers and a neighbor without the first record of `chosen`."""
    return values, np.delete(values, int(np.argmax(chosen)), axis=0)


_PAPER = Paper("real data", DATA)


def _check(
    name: str, mechanism: Any, claimed: Any, source: str, pair: tuple[Any, Any], relation: Any = None
) -> PrivacyCheck:
    return _PAPER.promise(name, f"{source}; {DATA}", mechanism, claimed, [pair], relation)


def _scalar_checks(epsilon: float) -> list[PrivacyCheck]:
    affairs, ages, change = column("affairs"), column("age"), AGE.sensitivity(RECORDS)
    count, mean = LaplaceMechanism(count_positive, 1.0, epsilon), LaplaceMechanism(AGE, change, epsilon)
    whole, gone = GeometricMechanism(count_positive, 1, epsilon), without_first(affairs, affairs > 0)
    return [
        _check(f"{name} eps={epsilon:g}", mechanism, epsilon, source, pair, relation)
        for name, mechanism, source, pair, relation in (
            ("women with an affair, laplace", count, laplace.SOURCE, extreme_swap(affairs), None),
            ("mean age, laplace", mean, laplace.SOURCE, extreme_swap(ages), None),
            ("women with an affair, geometric add-remove", whole, geometric.SOURCE, gone, AddRemove()),
        )
    ]


def _vector_checks() -> list[PrivacyCheck]:
    bins, moved = Histogram(OCCUPATIONS), commonest_to_rarest(codes("occupation"))
    three = farthest_swap(unit_rows(("age", "yrs_married", "educ")))
    sums, wide = GaussianMechanism(column_sums, math.sqrt(3), 0.5, 0.05), "age, years married and education"
    noise, stable = GaussianMechanism(bins, math.sqrt(2), 1.0, 1e-5), StabilityHistogram(1.0, 0.1, OCCUPATIONS)
    name, where = "occupations", BOUSQUET.source("Theorem 2.4")
    return [
        _check(f"{name}, geometric eps=1", GeometricMechanism(bins, 2, 1.0), 1.0, geometric.SOURCE, moved),
        _check(f"{name}, laplace eps=0.5", LaplaceMechanism(bins, 2.0, 0.5), 0.5, laplace.SOURCE, moved),
        _check(f"{name}, gaussian eps=1 delta=1e-05", noise, (1.0, 1e-5), gaussian.SOURCE, moved),
        _check(f"{name}, stability histogram eps=1 delta=0.1", stable, (1.0, 0.1), where, moved),
        _check(f"{wide}, gaussian eps=0.5 delta=0.05", sums, (0.5, 0.05), gaussian.SOURCE, three),
    ]


def _local_check(epsilon: float) -> PrivacyCheck:
    answers, response = codes("religious"), RandomizedResponse(RELIGIOUSNESS, epsilon)
    name, ends = f"how religious, randomized response eps={epsilon:g}", (int(answers.min()), int(answers.max()))
    return _check(name, response, epsilon, randomized_response.SOURCE, ends, Local())


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in (0.5, 1.0) for check in _scalar_checks(epsilon)),
    *_vector_checks(),
    *(_local_check(epsilon) for epsilon in (1.0, 2.0)),
]
