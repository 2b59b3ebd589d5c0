"""Releases on a real survey: 6,366 answers to the Redbook survey (Fair 1978), shipped with statsmodels.

Every pair is the survey and a neighbor in which one real record takes the value of another real record, chosen so that
the answer moves as far as the data allow.
"""

from collections.abc import Iterator
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


def with_row(values: np.ndarray, target: Any, source: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers, and a neighbor in which record `target` is replaced by a copy of record `source`."""
    changed = values.copy()
    changed[target] = values[source]
    return values, changed


def extreme_swap(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers and a neighbor whose first smallest answer is replaced by the largest."""
    return with_row(values, np.argmin(values), np.argmax(values))


def commonest_to_rarest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers and a neighbor in which one record leaves the commonest category for the rarest."""
    _, first, counts = np.unique(values, return_index=True, return_counts=True)
    return with_row(values, first[np.argmax(counts)], first[np.argmin(counts)])


def farthest_swap(names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return answers scaled to [0, 1] and the neighbor that moves their sum farthest."""
    rows = survey()[list(names)].to_numpy()
    rows = (rows - rows.min(axis=0)) / (rows.max(axis=0) - rows.min(axis=0))
    distinct, first = np.unique(rows, axis=0, return_index=True)
    distance = np.linalg.norm(distinct[:, None] - distinct[None, :], axis=2)
    return with_row(rows, *first[list(np.unravel_index(np.argmax(distance), distance.shape))])


_PAPER, _LAPLACE, _RESPONSE = Paper("real data", DATA), laplace.SOURCE, randomized_response.SOURCE


def _checks() -> Iterator[PrivacyCheck]:
    affairs, change, bins = column("affairs"), AGE.sensitivity(RECORDS), Histogram(OCCUPATIONS)
    flip, gone = extreme_swap(affairs), (affairs, np.delete(affairs, int(np.argmax(affairs > 0))))
    ages, work = extreme_swap(column("age")), commonest_to_rarest(codes("occupation"))
    three, ends = farthest_swap(("age", "yrs_married", "educ")), (min(RELIGIOUSNESS), max(RELIGIOUSNESS))
    noise, sums = (GaussianMechanism(*each) for each in ((bins, 2**0.5, 1.0, 1e-5), (column_sums, 3**0.5, 0.5, 0.05)))
    rows: list[tuple[str, Any, Any, str, Any, Any]] = []
    for e in (0.5, 1.0):
        count, mean = LaplaceMechanism(count_positive, 1.0, e), LaplaceMechanism(AGE, change, e)
        whole = GeometricMechanism(count_positive, 1, e)
        rows += [
            (f"women with an affair, laplace eps={e:g}", count, e, _LAPLACE, flip, None),
            (f"mean age, laplace eps={e:g}", mean, e, _LAPLACE, ages, None),
            (f"women with an affair, geometric add-remove eps={e:g}", whole, e, geometric.SOURCE, gone, AddRemove()),
        ]
    stable, where = StabilityHistogram(1.0, 0.1, OCCUPATIONS), BOUSQUET.source("Theorem 2.4")
    rows += [
        ("occupations, geometric eps=1", GeometricMechanism(bins, 2, 1.0), 1.0, geometric.SOURCE, work, None),
        ("occupations, laplace eps=0.5", LaplaceMechanism(bins, 2.0, 0.5), 0.5, _LAPLACE, work, None),
        ("occupations, gaussian eps=1 delta=1e-05", noise, (1.0, 1e-5), gaussian.SOURCE, work, None),
        ("occupations, stability histogram eps=1 delta=0.1", stable, (1.0, 0.1), where, work, None),
        (f"{_THREE}, gaussian eps=0.5 delta=0.05", sums, (0.5, 0.05), gaussian.SOURCE, three, None),
    ]
    for e in (1.0, 2.0):
        response = RandomizedResponse(RELIGIOUSNESS, e)
        rows.append((f"how religious, randomized response eps={e:g}", response, e, _RESPONSE, ends, Local()))
    for name, mechanism, claimed, source, pair, relation in rows:
        yield _PAPER.promise(name, f"{source}; {DATA}", mechanism, claimed, [pair], relation)


_THREE = "age, years married and education"
CHECKS: list[PrivacyCheck] = list(_checks())
