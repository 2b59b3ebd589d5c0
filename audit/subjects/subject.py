"""Call a mechanism safely, record everything odd about it, and name it.

The guess game needs independent runs. A few small calls, the probe, look for what breaks that before the budget is
spent: other outputs under the same seed (state, or randomness of its own), noise shared by the outputs of one call, and
a drift over the calls. What the probe finds bars a PASS or the whole verdict; it never decides a FAIL.
"""

import copy
import inspect
import reprlib
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from scipy import stats

from audit.base.errors import InvalidArgument, WrongLength
from audit.claims import Labeled
from audit.subjects.blocks import Block, Stream
from audit.subjects.outputs import BadBatch, BadLength, Outputs, Raised, encode

CAUGHT = (Exception, SystemExit)  # a mechanism that calls sys.exit has raised, as far as the audit is concerned
CALLS = 8  # of the probe
CALL_SIZE = 64  # outputs in each
HOMOGENEITY_LEVEL = 1e-9  # false-alarm level of the test for dependence between the outputs of one call
_LEAST_BUDGET = 20 * CALLS * CALL_SIZE  # smaller budgets cannot spare the outputs of the probe
_LARGE = 1e12  # infinities of a vector are cut here, so that its sum stays a number


class SubjectFailed(Exception):
    """The mechanism gave no usable batch; `kind` says which way, the text continues "the mechanism ..."."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)  # all arguments, so that it can be sent between processes
        self.kind = kind

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass(frozen=True)
class PerCall:
    """A mechanism made of a function that gives one output a call; see `per_call`."""

    function: Callable[..., Any]
    takes_rng: bool

    @property
    def own_randomness(self) -> bool:
        """True when the function draws its own randomness, so that a seed does not repeat a run."""
        return not self.takes_rng

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        arguments = (dataset, rng) if self.takes_rng else (dataset,)
        return [_value_or_error(self.function, *arguments) for _ in range(size)]


def per_call(function: Callable[..., Any]) -> PerCall:
    """Return a mechanism that calls a function once for each output.

    An exception is an output: it is recorded, and can leak.

    Parameters
    ----------
    function : callable
        `function(dataset)` or `function(dataset, rng)`, with one output. Without a parameter `rng` it is taken to draw
        its own randomness, so its runs differ even under one seed.

    Returns
    -------
    PerCall
        A mechanism: `(dataset, size, rng) -> list` of length `size`.

    Raises
    ------
    InvalidArgument
        If `function` is not callable.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> mechanism = audit.per_call(lambda data, rng: len(data) + rng.laplace())
    >>> len(mechanism([1, 2, 3], 5, np.random.default_rng(0)))
    5
    """
    if not callable(function):
        raise InvalidArgument.of("function", "be callable as (dataset) or (dataset, rng)", function)
    try:
        takes_rng = "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled callables have no signature
        takes_rng = False
    return PerCall(function, takes_rng)


def _value_or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except SubjectFailed:  # an adapter says itself what became of the code behind it
        raise
    except CAUGHT as error:
        return Raised(error)


@dataclass(frozen=True)
class Subject:
    mechanism: Any  # (dataset, size, rng) -> array-like
    one_by_one: bool = False  # call with size 1 for each output, so that an exception is the output of its own run

    @property
    def own_randomness(self) -> bool:
        """True when the mechanism says that it does not draw from the generator it is given."""
        return bool(getattr(self.mechanism, "own_randomness", False))

    @property
    def calls_share_a_copy(self) -> bool:
        """True when several calls of one block see the same copy of the dataset."""
        return self.one_by_one or isinstance(self.mechanism, PerCall)

    def draw(self, block: Block) -> tuple[Outputs, Counter[str]]:
        """Draw a block on a private copy of its dataset; count what was odd: "nan", "raised", "mutated its dataset"."""
        try:
            lent = copy.deepcopy(block.dataset)
        except Exception:  # a dataset that cannot be copied is lent as it is
            lent = block.dataset
        rng = np.random.default_rng(block.seed)
        if self.one_by_one:
            raw: Any = [_value_or_error(lambda: self.mechanism(lent, 1, rng)[0]) for _ in range(block.size)]
        else:
            raw = _value_or_error(self.mechanism, lent, block.size, rng)
            if isinstance(raw, Raised):
                raise SubjectFailed("raised", str(raw)) from raw.error
        try:
            outputs = encode(raw, block.size)
        except BadLength:
            raise
        except BadBatch as error:
            raise SubjectFailed("wrong shape", str(error)) from None
        odd: Counter[str] = Counter()
        if outputs.symbols is not None:
            counts = np.bincount(outputs.symbols.codes[outputs.symbolic], minlength=len(outputs.symbols.table))
            for symbol, count in zip(outputs.symbols.table, counts.tolist(), strict=True):
                if count and symbol.startswith(("nan", "raised ")):
                    odd["nan" if symbol.startswith("nan") else "raised"] += count
        if lent is not block.dataset and not _same(lent, block.dataset):
            odd["mutated its dataset"] += 1
        return outputs, odd


def _same(a: Any, b: Any) -> bool:
    """Test whether two datasets hold the same; of copies if need be, since a view hashes unlike a copy of it."""
    try:
        return joblib.hash(a) == joblib.hash(b) or joblib.hash(copy.deepcopy(a)) == joblib.hash(copy.deepcopy(b))
    except Exception:
        return True


def probe_cost(budget: int) -> int:
    """Return how many outputs per dataset the probe draws: none when the budget is too small to spare them."""
    return CALLS * CALL_SIZE if budget >= _LEAST_BUDGET else 0


def probe_length(subject: Subject, dataset: Any, stream: Stream) -> int:
    """Return how many numbers an output has; raise `WrongLength` if a small call does not return the size asked for."""
    try:
        outputs, _ = subject.draw(Block(dataset, 2, stream.seed()))
    except BadLength as error:
        raise WrongLength(f"`mechanism` must return one output for each of `size`: it {error}") from None
    except SubjectFailed:
        return 1  # it will fail again in the training stage, where it is recorded
    return max(1, outputs.numbers.size // 2)


def probe_independence(subject: Subject, dataset: Any, stream: Stream) -> tuple[list[str], int]:
    """Look for dependence between runs on one dataset: return "state", "own randomness", and the outputs drawn."""
    drawn = [subject.draw(Block(dataset, CALL_SIZE, stream.child(call).seed()))[0] for call in range(CALLS)]
    found = ["state"] if _dependent(list(map(_one_number_per_output, drawn))) else []
    cost = CALLS * CALL_SIZE
    if not subject.own_randomness:
        again, _ = subject.draw(Block(dataset, CALL_SIZE, stream.child(0).seed()))
        cost += CALL_SIZE
        if not _identical(drawn[0], again):
            found.append("own randomness")
    return found, cost


def _one_number_per_output(outputs: Outputs) -> np.ndarray:
    """Return each output itself, the sum of a vector, or a code for a symbol."""
    numbers = outputs.numbers if outputs.is_scalar else np.clip(outputs.numbers, -_LARGE, _LARGE).sum(axis=1)
    if outputs.symbols is None:
        return numbers
    codes = [float(zlib.crc32(text.encode(errors="surrogatepass"))) for text in outputs.symbols.table]
    return np.where(np.isnan(numbers), np.array([*codes, 0.0])[outputs.symbols.codes], numbers)


def _dependent(calls: list[np.ndarray]) -> bool:
    """Test whether outputs of one call are more alike than outputs of different calls."""
    pooled = np.concatenate(calls)
    if len(np.unique(pooled)) == 1:
        return False
    if all(len(np.unique(call)) == 1 for call in calls):
        return len(np.unique([call[0] for call in calls])) > 1
    return bool(stats.kruskal(*calls).pvalue < HOMOGENEITY_LEVEL)


def _identical(a: Outputs, b: Outputs) -> bool:
    if not np.array_equal(a.numbers, b.numbers, equal_nan=True):
        return False
    if a.symbols is None or b.symbols is None:
        return a.symbols is b.symbols
    return all(a.symbols.at(row) == b.symbols.at(row) for row in range(len(a)))


def name_of(mechanism: Any) -> str:
    """Return a short name for any callable."""
    inner = getattr(mechanism, "function", mechanism)
    return str(getattr(inner, "__name__", type(inner).__name__))


def describe_mechanism(mechanism: Any) -> str:
    """Return module and name of a callable: the same in every process, without memory addresses."""
    inner = getattr(mechanism, "function", mechanism)
    kind = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{kind.__module__}.{kind.__qualname__}" if hasattr(kind, "__module__") else name_of(mechanism)


def show(dataset: Any, limit: int = 200) -> str:
    """Return a dataset in one line: as code that can be pasted where that is short enough, else shortened."""
    code = code_of(dataset)
    if len(code) <= limit:
        return code
    if isinstance(dataset, np.ndarray):
        body = np.array2string(dataset, threshold=12, edgeitems=3, separator=", ").replace("\n", "")
        return f"array of shape {dataset.shape}: {body}"[:limit]
    return reprlib.repr(dataset)[:limit]


def code_of(dataset: Any) -> str:
    """Return Python that makes the dataset, given `numpy as np`, `inf`, `nan` and `audit`."""
    if isinstance(dataset, np.ndarray):
        kind = f", dtype={str(dataset.dtype)!r}" if dataset.dtype.kind != "f" or not dataset.size else ""
        return f"np.array({dataset.tolist()!r}{kind})"
    if isinstance(dataset, Labeled):
        return f"audit.Labeled({code_of(dataset.X)}, {code_of(dataset.y)})"
    return repr(dataset)
