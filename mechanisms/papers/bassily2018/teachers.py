"""Teachers: records in disjoint chunks, a learner trained on each, and their answers at public points.

No rule by position is private under add/remove, so that every record draws its chunk, uniformly. No warning, exception
or printed line of a teacher leaves: one that fails to learn or to answer is a constant. Not silenced are loggers, lines
that compiled code prints by itself, and the time that a teacher takes.
"""

import contextlib
import copy
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import open_probability, positive
from mechanisms.estimators import Estimator, noise_source
from mechanisms.parts.records import as_records
from mechanisms.parts.sparse_vector import Noise, Runs
from mechanisms.queries import count, held

Teacher = Callable[[np.ndarray], Any]


def chunks_of(X: np.ndarray, y: np.ndarray, chunks: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw a chunk for each record; return the records of each chunk, as indices."""
    if y.ndim != 1 or X.shape[:1] != y.shape:  # a sparse matrix, None and text have no rows as arrays
        raise InvalidArgument("`X` must be an array with a row for each record, and `y` must hold a label for each")
    assigned = rng.integers(chunks, size=len(X))
    order = np.argsort(assigned, kind="stable")
    return np.split(order, np.searchsorted(assigned[order], np.arange(1, chunks)))


class Constant:
    """A teacher that gives one answer everywhere."""

    def __init__(self, label: float) -> None:
        self.label = label

    def __call__(self, points: Any) -> np.ndarray:
        return np.full(len(points), self.label)


def taught(learner: Any, X: np.ndarray, y: np.ndarray) -> Teacher:
    """Train a learner: a constant for no records or one label, else the fitted teacher."""
    seen = np.unique(y)
    if seen.size < 2:
        return Constant(int(seen[0]) if seen.size else 0)
    return trained(learner, X, y)


def trained(learner: Any, X: np.ndarray, y: np.ndarray) -> Teacher:
    """Train a copy of an estimator with fit(X, y) and predict(X), or call (X, y) -> callable."""
    if hasattr(learner, "fit"):
        predict: Teacher = copy.deepcopy(learner).fit(X, y).predict
        return predict
    return learner(X, y)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Let no warning and no printed line leave the block."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def attempt(otherwise: Any, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call, `otherwise` where it raises."""
    try:
        return call(*arguments)
    except Exception:
        return otherwise


def hard_answers(teachers: list[Teacher], points: np.ndarray, labels: int) -> np.ndarray:
    """Return the labels of all teachers, shape (k, m); zeros where one does not give m labels 0 to labels - 1."""
    zeros = np.zeros(len(points), dtype=np.int64)

    def ask(teacher: Teacher) -> np.ndarray:
        said = np.asarray(teacher(points))
        whole = said.astype(np.int64)
        admitted = (whole == said) & (whole >= 0) & (whole < labels)
        return whole if said.shape == zeros.shape and admitted.all() else zeros

    with silence():
        return np.array([attempt(zeros, ask, teacher) for teacher in teachers])


def soft_answers(teachers: list[Teacher], points: np.ndarray) -> np.ndarray:
    """Return the scores of all teachers, shape (k, m), clipped to [0, 1]; 1/2 for NaN."""
    halves = np.full(len(points), 0.5)

    def ask(teacher: Teacher) -> np.ndarray:
        said = np.asarray(teacher(points), dtype=float)
        return np.clip(np.where(np.isnan(said), 0.5, said), 0.0, 1.0) if said.shape == halves.shape else halves

    with silence():
        return np.array([attempt(halves, ask, teacher) for teacher in teachers])


def require_learner(learner: Any, name: str = "learner") -> None:
    """Raise unless a learner can be trained."""
    if not (callable(learner) or hasattr(learner, "fit")):
        raise InvalidArgument.of(name, "have fit(X, y), or be callable as (X, y)", learner)


@dataclass(eq=False, repr=False)
class Service(Estimator):
    """A learner whose fitted object holds private data, and whose answers are the release."""

    learner: Any  # estimator with fit and predict, or callable (X, y) -> callable; trained once a chunk, on a copy
    n_teachers: int  # k >= 1
    epsilon: float  # > 0, of all answers together
    delta: float  # in (0, 1)
    cutoff: int = 1  # T >= 1
    max_queries: int = 1000  # all rows over the life of the object count
    random_state: Any = None  # see `Estimator`

    def __post_init__(self) -> None:
        require_learner(self.learner)
        positive(self.epsilon, "epsilon")
        open_probability(self.delta, "delta")
        for name in ("n_teachers", "cutoff", "max_queries"):
            (count if name == "max_queries" else held)(getattr(self, name), name)

    def _begin(self, X: Any, y: Any, noise: Noise, train: Callable[..., Teacher], failed: Constant) -> Self:
        """Assign the records to chunks, train the teachers, and begin a run; `failed` is a teacher that fails."""
        X, y, rng = as_records(X), as_records(y, "y"), noise_source(self.random_state)
        chunks = chunks_of(X, y, self.n_teachers, rng)
        with silence():
            self.teachers_ = [attempt(failed, train, self.learner, X[chunk], y[chunk]) for chunk in chunks]
        self.runs_, self.asked_ = Runs(noise, 1, rng), 0
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters of a service that is not fitted; a fitted one is refused."""
        if hasattr(self, "runs_"):
            raise InvalidArgument(
                f"a fitted {type(self).__name__} must not be copied or pickled: it holds the teachers and the privacy "
                "budget; publish its answers, or train a KnowledgeTransferLearner"
            )
        return dict(vars(self))

    def _count(self, queries: int) -> None:
        """Count queries over the life of the fit, or refuse them."""
        if self.asked_ + queries > self.max_queries:
            raise InvalidArgument.of("X", f"leave at most max_queries = {self.max_queries} queries in all", queries)
        self.asked_ += queries
