"""Sources of randomness: generators that hand out traced noise, or plain noise that is moved.

Each has a twin, a genuine generator with the same seed, which draws the noise: a run of the unmodified code with the
genuine generator sees the same numbers. A generator that the code seeds itself is constant, and stays as it is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import special, stats

from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.record import NotFollowed, Record
from audit.extensions.following.traced import observe, trace_noise

Sample = Callable[[Any], Any]


class Supplier(Protocol):
    """What stands behind the generators of a run."""

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return `loc + scale * unit noise`."""

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Return the result of a choice."""

    def fail(self, reason: str) -> Any:
        """Stop the run."""


def _shape_of(loc: Any, scale: Any, size: Any) -> tuple[int, ...]:
    if size is None:
        return np.broadcast_shapes(np.shape(loc), np.shape(scale))
    return (int(size),) if np.ndim(size) == 0 else tuple(int(length) for length in size)


class TracedSupplier:
    """Supplies traced noise and records it."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def fail(self, reason: str) -> Any:
        """Stop the run."""
        return self.record.fail(reason)

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return traced noise; a scale that is noise itself is observed."""
        scale = np.asarray(observe(scale), float)
        if (scale < 0).any():
            raise ValueError("scale < 0")
        shape = _shape_of(loc, scale, observe(size))
        unit = np.zeros(shape) if self.record.forced is not None else np.asarray(sample(shape), float)
        first = self.record.add_draw(law, unit, float(scale.flat[0]) if scale.size else 0.0)
        noise = trace_noise(self.record, first, scale, shape, law.is_discrete)
        return noise if isinstance(loc, (int, float)) and loc == 0 else loc + noise

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Return a choice, which is observed."""
        result = self.record.choose(tag, sample, log_probability, options)
        return result.copy() if isinstance(result, np.ndarray) else result


@dataclass(frozen=True)
class Shift:
    """The shift of one draw, of unit noise of this law: one array, or one for each of several outputs."""

    law: NoiseLaw
    table: np.ndarray  # (outputs, *shape of the draw at size 1)


class PlainSupplier:
    """Supplies plain numbers: given noise, or the twin's noise moved by a shift of each draw.

    `rows` are the outputs' places in the tables of shifts, one for each row of a vectorized call. `loss` adds up the
    exact log ratio of the densities, by row.
    """

    def __init__(
        self,
        noise: Sequence[Any] = (),
        shifts: Sequence[Shift | None] = (),
        choices: Sequence[Any] = (),
        rows: np.ndarray | None = None,
    ) -> None:
        self.noise, self.shifts, self.choices, self.rows = noise, shifts, choices, rows
        self.loss = np.zeros(1 if rows is None else len(rows))
        self.drawn = self.chosen = 0
        self.failure = ""

    def fail(self, reason: str) -> Any:
        """Stop the run."""
        self.failure = self.failure or reason
        raise NotFollowed(self.failure)

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return plain noise."""
        if np.any(np.asarray(scale) < 0):
            raise ValueError("scale < 0")
        shape = _shape_of(loc, scale, size)
        unit, place = np.asarray(sample(shape), float), self.drawn
        self.drawn += 1
        self._require_rows(shape)
        if place < len(self.noise):
            unit = self.noise[place]
            if np.shape(unit) != shape:
                self.fail("the other dataset draws other noise")
        elif place < len(self.shifts) and self.shifts[place] is not None:
            unit = self._move(self.shifts[place], law, unit)
        if law.is_discrete:
            whole = np.round(unit).astype(np.int64)
            return whole if shape else int(whole)
        result = loc + scale * (unit if shape else float(unit))
        return result if shape else float(result)

    def _require_rows(self, shape: tuple[int, ...]) -> None:
        if self.rows is not None and len(self.rows) not in shape:
            self.fail("noise is shared by the outputs of one call")

    def _move(self, shift: Any, law: NoiseLaw, unit: np.ndarray) -> np.ndarray:
        shape = shift.table.shape[1:]
        axis = 0
        if self.rows is None:
            moves = shift.table[0]
        else:
            count = len(self.rows)
            axes = [i for i, length in enumerate(unit.shape) if length == count and shape[i : i + 1] == (1,)]
            if len(axes) != 1 or unit.ndim != len(shape):
                self.fail("rows of one call are not followed")
            axis = axes[0]
            moves = np.moveaxis(shift.table.squeeze(axis + 1)[self.rows], 0, axis)
        if shift.law != law or moves.shape != unit.shape:
            self.fail("the other dataset draws other noise")
        moved = unit + moves
        with np.errstate(invalid="ignore"):
            loss = np.where(moves != 0, law.log_density(unit) - law.log_density(moved), 0.0)
        self.loss += np.moveaxis(loss, axis, 0).reshape(len(self.loss), -1).sum(1) if loss.ndim else loss
        return moved

    def choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        """Return a choice, or the one that is given."""
        result, place = sample(), self.chosen
        self.chosen += 1
        self._require_rows(np.shape(result))
        if place >= len(self.choices):
            return result
        given_tag, given = self.choices[place]
        if given_tag != tag:
            self.fail("the other dataset makes other choices")
        return given.copy() if isinstance(given, np.ndarray) else given


def _log_choices(count: int, weights: Any, replace: bool) -> Callable[[Any], float]:
    def log_probability(places: Any) -> float:
        chosen = np.asarray(places)
        if chosen.size and int(chosen.max()) >= count:
            return -math.inf
        if weights is not None:
            with np.errstate(divide="ignore"):
                return float(np.log(weights[chosen]).sum())
        if replace:
            return -chosen.size * math.log(count)
        return math.lgamma(count - chosen.size + 1) - math.lgamma(count + 1)

    return log_probability


class _Laws:
    """The methods that generators of NumPy share, old and new."""

    _supplier: Supplier
    _twin: Any

    def _draw(self, name: str, loc: Any, scale: Any, size: Any, sample: Sample, parameter: float = 0.0) -> Any:
        return self._supplier.draw(NoiseLaw(name, parameter), loc, scale, size, sample)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._draw("laplace", loc, scale, size, lambda shape: self._twin.laplace(size=shape))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._draw("normal", loc, scale, size, self._twin.standard_normal)

    def standard_normal(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        return self.normal(size=size) if out is None and np.dtype(dtype) == float else self._refuse("out= or dtype=")

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._draw("exponential", 0.0, scale, size, self._twin.standard_exponential)

    def standard_exponential(self, size: Any = None) -> Any:
        return self.exponential(size=size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._draw("gumbel", loc, scale, size, lambda shape: self._twin.gumbel(size=shape))

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._draw("logistic", loc, scale, size, lambda shape: self._twin.logistic(size=shape))

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._draw("student", 0.0, 1.0, size, self._twin.standard_cauchy, 1.0)

    def standard_t(self, df: float, size: Any = None) -> Any:
        df = float(observe(df))
        return self._draw("student", 0.0, 1.0, size, lambda shape: self._twin.standard_t(df, size=shape), df)

    def random(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        if out is not None or np.dtype(dtype) != float:
            return self._refuse("out= or dtype=")
        return self._draw("uniform", 0.0, 1.0, size, self._twin.random)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._draw("uniform", low, observe(high) - observe(low), size, self._twin.random)

    def geometric(self, p: float, size: Any = None) -> Any:
        p = observe(p)
        if np.ndim(p):
            return self._refuse("geometric noise of several probabilities")
        return self._draw("geometric", 0, 1, size, lambda shape: self._twin.geometric(p, size=shape), float(p))

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, **options: Any) -> Any:
        u, s, _ = np.linalg.svd(cov)
        shape = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
        return mean + self.normal(size=(*shape, len(s))) @ (u * np.sqrt(s)).T

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        a, p, size = observe(a), observe(p), observe(size)
        count = int(a) if np.ndim(a) == 0 else len(a)
        if p is not None and not replace:
            self._refuse("choice without replacement by weights")
        weights = None if p is None else np.asarray(p, float)
        if weights is not None and (len(weights) != count or (weights < 0).any() or abs(weights.sum() - 1) > 1e-8):
            raise ValueError("probabilities do not sum to 1")
        places = self._supplier.choose(
            ("choice", str(size), bool(replace)),
            lambda: self._twin.choice(count, size, replace, weights),
            _log_choices(count, weights, replace),
            count if size is None else 0,
        )
        return places if np.ndim(a) == 0 else np.take(np.asarray(a), np.minimum(places, count - 1), axis)

    def _integer(self, low: Any, high: Any, size: Any, sample: Callable[[], Any]) -> Any:
        def log_probability(value: Any) -> float:
            inside = np.all((np.asarray(value) >= low) & (np.asarray(value) < high))
            return -np.size(value) * math.log(high - low) if inside else -math.inf

        tag = ("integers", str(size))
        return self._supplier.choose(tag, sample, log_probability, high if low == 0 and size is None else 0)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        x = observe(x)
        order = self._permute(int(x) if np.ndim(x) == 0 else len(x))
        return order if np.ndim(x) == 0 else np.take(np.asarray(x), order, axis)

    def _permute(self, count: int) -> Any:
        def sample() -> Any:
            return self._twin.permutation(count)

        return self._supplier.choose(("permutation", count), sample, lambda _: -math.lgamma(count + 1))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        order = self._permute(len(x))
        x[:] = [x[place] for place in order] if isinstance(x, list) else x[order].copy()

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._see("binomial", stats.binom, size, n, p)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        return self._see("poisson", stats.poisson, size, lam)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        return self._see("beta", stats.beta, size, a, b)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        return scale * self._see("gamma", stats.gamma, size, shape)

    def _see(self, name: str, law: Any, size: Any, *parameters: Any) -> Any:
        """Return noise that is drawn and seen at once."""
        given = [observe(value) for value in parameters]
        log_density = law(*given).logpmf if hasattr(law, "pmf") else law(*given).logpdf
        tag = (name, str(size))
        return self._supplier.choose(
            tag, lambda: getattr(self._twin, name)(*given, size=size), lambda value: float(np.sum(log_density(value)))
        )

    def _refuse(self, what: str) -> Any:
        return self._supplier.fail(f"the generator is asked for {what}")


_UNUSED = np.random.PCG64(0)


def _guard(self: Any, name: str) -> Any:
    """Look up a method that is followed; any other look at the generator stops the run."""
    if name in _KNOWN or name in vars(type(self)) or name in vars(_Laws):
        return object.__getattribute__(self, name)
    if name == "capsule":  # `default_rng` asks for it
        raise AttributeError(name)
    if name.startswith("__") and name not in ("__reduce__", "__reduce_ex__", "__getstate__"):
        return object.__getattribute__(self, name)
    return object.__getattribute__(self, "_supplier").fail(f"the code looks at {name} of its generator")


_KNOWN = frozenset(("_supplier", "_twin", "__class__", "__dict__", "__init__", "__new__", "__doc__", "__module__"))


class FollowedGenerator(_Laws, np.random.Generator):
    """A generator of NumPy."""

    def __new__(cls, supplier: Supplier, twin: Any) -> FollowedGenerator:
        return super().__new__(cls, _UNUSED)

    def __init__(self, supplier: Supplier, twin: Any) -> None:
        super().__init__(_UNUSED)
        self._supplier, self._twin = supplier, twin

    __getattribute__ = _guard

    def __deepcopy__(self, memo: Any) -> Any:
        return self._refuse("a copy of itself")

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        low, high = (0, observe(low)) if high is None else (observe(low), observe(high))
        if np.ndim(low) or np.ndim(high):
            self._refuse("integers of several ranges")
        top = int(high) + bool(endpoint)
        return self._integer(int(low), top, size, lambda: self._twin.integers(int(low), top, size, dtype))

    def permuted(self, x: Any, axis: Any = None, out: Any = None) -> Any:
        if axis is not None or out is not None:
            self._refuse("permuted along an axis")
        x = np.asarray(observe(x))
        return x.ravel()[self._permute(x.size)].reshape(x.shape)


class FollowedRandomState(_Laws, np.random.RandomState):
    """A generator of NumPy's old kind."""

    def __new__(cls, supplier: Supplier, twin: Any) -> FollowedRandomState:
        return super().__new__(cls, 0)

    def __init__(self, supplier: Supplier, twin: Any) -> None:
        super().__init__(0)
        self._supplier, self._twin = supplier, twin

    __getattribute__ = _guard

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        low, high = (0, int(observe(low))) if high is None else (int(observe(low)), int(observe(high)))
        return self._integer(low, high, size, lambda: self._twin.randint(low, high, size, dtype))

    def random_sample(self, size: Any = None) -> Any:
        return self.random(size)

    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def randn(self, *shape: int) -> Any:
        return self.normal(size=shape or None)


class FollowedRandom(random.Random):
    """A generator of the standard library."""

    def __new__(cls, supplier: Supplier, twin: Any) -> FollowedRandom:
        return super().__new__(cls, 0)

    def __init__(self, supplier: Supplier, twin: Any) -> None:
        super().__init__(0)
        self._supplier, self._twin = supplier, twin

    def _draw(self, name: str, loc: Any, scale: Any, sample: Callable[[], float]) -> Any:
        return self._supplier.draw(NoiseLaw(name), loc, scale, (), lambda _: sample())

    def random(self) -> Any:
        return self._draw("uniform", 0.0, 1.0, self._twin.random)

    def uniform(self, a: Any, b: Any) -> Any:
        return self._draw("uniform", a, observe(b) - observe(a), self._twin.random)

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return self._draw("normal", mu, sigma, lambda: self._twin.gauss(0.0, 1.0))

    def normalvariate(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return self._draw("normal", mu, sigma, lambda: self._twin.normalvariate(0.0, 1.0))

    def expovariate(self, lambd: Any = 1.0) -> Any:
        return self._draw("exponential", 0.0, 1.0 / observe(lambd), lambda: self._twin.expovariate(1.0))

    def _choose(self, tag: tuple[Any, ...], sample: Callable[[], Any], log_probability: Any, options: int = 0) -> Any:
        return self._supplier.choose(tag, sample, log_probability, options)

    def randrange(self, start: int, stop: Any = None, step: int = 1) -> Any:
        places = range(start) if stop is None else range(start, stop, step)
        return places[self._place(len(places))]

    def _place(self, count: int) -> int:
        return int(self._choose(("below",), lambda: self._twin.randrange(count), _log_choices(count, None, True), count))

    def randint(self, a: int, b: int) -> Any:
        return a + self._place(b - a + 1)

    def getrandbits(self, k: int) -> Any:
        return self._choose(("bits", k), lambda: self._twin.getrandbits(k), lambda _: -k * math.log(2))

    def choice(self, seq: Any) -> Any:
        return seq[self._place(len(seq))]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
        if cum_weights is not None:
            weights = np.diff(np.asarray(cum_weights, float), prepend=0.0)
        count = len(population)
        probabilities = None if weights is None else np.asarray(weights, float) / np.sum(weights)
        places = self._choose(
            ("choices", k),
            lambda: np.asarray(self._twin.choices(range(count), weights, k=k)),
            _log_choices(count, probabilities, True),
        )
        return [population[place] for place in places]

    def shuffle(self, x: Any) -> None:
        def sample() -> Any:
            order = list(range(len(x)))
            self._twin.shuffle(order)
            return np.asarray(order)

        order = self._choose(("shuffle", len(x)), sample, lambda _: -math.lgamma(len(x) + 1))
        x[:] = [x[place] for place in order]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> Any:
        count = len(population)
        places = self._choose(
            ("sample", k),
            lambda: np.asarray(self._twin.sample(range(count), k), int),
            lambda _: float(special.gammaln(count - k + 1) - special.gammaln(count + 1)),
        )
        return [population[place] for place in places]

    def __getattribute__(self, name: str) -> Any:
        if name in ("seed", "getstate", "setstate", "__reduce__", "__reduce_ex__"):
            if "_supplier" in object.__getattribute__(self, "__dict__"):
                object.__getattribute__(self, "_supplier").fail(f"the code looks at {name} of its generator")
        elif name in _UNFOLLOWED:
            object.__getattribute__(self, "_supplier").fail(f"random.{name} is not followed")
        return object.__getattribute__(self, name)


_UNFOLLOWED = {"betavariate", "gammavariate", "lognormvariate", "paretovariate", "triangular", "vonmisesvariate",
               "weibullvariate", "randbytes", "binomialvariate"}  # fmt: skip
_OLD = ("laplace", "normal", "standard_normal", "exponential", "standard_exponential", "gumbel", "logistic",
        "standard_cauchy", "standard_t", "random", "random_sample", "rand", "randn", "randint", "uniform", "geometric",
        "multivariate_normal", "choice", "permutation", "shuffle", "binomial", "poisson", "beta", "gamma")  # fmt: skip
_PYTHON = ("random", "uniform", "gauss", "normalvariate", "expovariate", "randrange", "randint", "getrandbits", "choice",
           "choices", "shuffle", "sample")  # fmt: skip


class _Run:
    """The run that goes on: what stands behind its generators, and the entropy of those that the code makes."""

    supplier: Supplier | None = None
    entropy = random.Random(0)

    @classmethod
    def make(cls, followed: Any, genuine: Any, new: Any, *args: Any) -> Any:
        """Return a generator that the code makes: followed without a seed, genuine and constant with one."""
        if isinstance(new, (FollowedGenerator, FollowedRandomState)):
            return new
        if new is not None:
            return genuine(observe(new), *args)
        return followed(cls.supplier, genuine(cls.entropy.getrandbits(32)) if genuine is _PYTHON_CLASS else genuine())


def _make_class(genuine: type, followed: type) -> type:
    """Return a stand-in of a class of generators."""

    class Meta(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, genuine)

        def __call__(cls, seed: Any = None, *args: Any) -> Any:
            return _Run.make(followed, genuine, seed, *args)

    return Meta(genuine.__name__, (), {})


class _SeededRandom(random.Random):
    """The standard library's generator with the run's entropy, where the code makes one in a genuine run."""

    def __new__(cls, seed: Any = None) -> Any:
        return _PYTHON_CLASS(_Run.entropy.getrandbits(32) if seed is None else seed)


_GENUINE, _PYTHON_CLASS = np.random.default_rng, random.Random
_STATE = FollowedRandomState(PlainSupplier(), np.random.RandomState(0))
_INSTANCE = FollowedRandom(PlainSupplier(), random.Random(0))
_ENTROPY: list[tuple[Any, str, Any]] = [(np.random.bit_generator, "randbits", lambda k: _Run.entropy.getrandbits(k))]
_PLAIN = [*_ENTROPY, (random, "Random", _SeededRandom)]
_FOLLOWED = [
    *_ENTROPY,
    (np.random, "default_rng", lambda seed=None: _Run.make(FollowedGenerator, _GENUINE, seed)),
    (np.random, "RandomState", _make_class(np.random.RandomState, FollowedRandomState)),
    (random, "Random", _make_class(random.Random, FollowedRandom)),
    *((np.random, name, getattr(_STATE, name)) for name in _OLD),
    *((random, name, getattr(_INSTANCE, name)) for name in _PYTHON),
]


@contextmanager
def supply(seed: int, supplier: Supplier | None) -> Iterator[np.random.Generator]:
    """Yield the generator of one run, and give the code's other sources the seed; without a supplier all are genuine.

    A genuine run changes the entropy of new generators, and nothing that the code can see but the class `Random`.
    """
    _Run.supplier, _Run.entropy = supplier, _PYTHON_CLASS(seed)
    old, python = _Run.entropy.getrandbits(32), _Run.entropy.getrandbits(32)
    np.random.seed(old)  # noqa: NPY002
    random.seed(python)
    if supplier is not None:  # twins of their own: what the code does to the global generators must not reach them
        vars(_STATE).update(_supplier=supplier, _twin=np.random.mtrand.RandomState(old))
        vars(_INSTANCE).update(_supplier=supplier, _twin=_PYTHON_CLASS(python))
    changes = _PLAIN if supplier is None else _FOLLOWED
    kept = [getattr(module, name) for module, name, _ in changes]
    try:
        for module, name, new in changes:
            setattr(module, name, new)
        passed = _GENUINE(seed)
        yield passed if supplier is None else FollowedGenerator(supplier, passed)
    finally:
        for (module, name, _), before in zip(changes, kept, strict=True):
            setattr(module, name, before)


@contextmanager
def keep_states() -> Iterator[None]:
    """Restore the global generators afterwards."""
    state, python = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        random.setstate(python)
