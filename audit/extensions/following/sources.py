"""Sources of randomness: suppliers of noise, generators that hand it out, and stand-ins for those that the code makes.

A supplier traces and records noise, or gives plain noise that is moved.

Each has a twin, a genuine generator with the same seed, which draws the noise: a run of the unmodified code with the
genuine generator sees the same numbers. A generator that the code seeds itself is constant, and stays as it is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.record import Record, Stoppable
from audit.extensions.following.traced import Traced, observe, trace_noise

Method = Callable[..., Any]
Sample = Callable[[Any], Any]


def _shape_of(loc: Any, scale: Any, size: Any) -> tuple[int, ...]:
    """Return the shape of a draw; raise for a negative scale, as generators do."""
    are_numbers = isinstance(loc, (int, float)) and isinstance(scale, (int, float))
    if scale < 0 if are_numbers else np.any(np.asarray(scale) < 0):
        raise ValueError("scale < 0")
    if size is None:
        return () if are_numbers else np.broadcast_shapes(np.shape(loc), np.shape(scale))
    return (int(size),) if np.ndim(size) == 0 else tuple(int(length) for length in size)


class Tracer(Record):
    """Supplies traced noise and records it."""

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return `loc + scale * noise`, traced; a scale that is noise itself is observed."""
        scale = np.asarray(observe(scale), float)
        shape = _shape_of(loc, scale, observe(size))
        unit = np.zeros(shape) if self.forced is not None else np.asarray(sample(shape), float)
        first = self.add_draw(law, unit, float(scale.flat[0]) if scale.size else 0.0)
        noise = trace_noise(self, first, scale, shape, law.is_discrete)
        return noise if isinstance(loc, (int, float)) and loc == 0 else loc + noise


@dataclass(frozen=True)
class Shifts:
    """Shifts of the unit noise of one output, in the order of its draws: one row for each kind of output."""

    table: np.ndarray
    laws: Sequence[NoiseLaw]


class PlainSupplier(Stoppable):
    """Supplies plain numbers: given noise, or the twin's noise with shifts.

    `rows` are the outputs' rows in the table of shifts, one for each output of the call. `loss` adds up the exact log
    ratio of the densities, by output.
    """

    def __init__(
        self, noise: Any = (), shifts: Shifts | None = None, choices: Sequence[Any] = (), rows: Sequence[int] = (0,)
    ) -> None:
        self.noise, self.shifts, self.choices, self.rows = noise, shifts, choices, np.asarray(rows)
        self.loss = np.zeros(len(rows))
        self.drawn = self.chosen = 0

    def draw(self, law: NoiseLaw, loc: Any, scale: Any, size: Any, sample: Sample) -> Any:
        """Return plain noise."""
        shape = _shape_of(loc, scale, size)
        unit = np.asarray(sample(shape), float)
        first, self.drawn = self.drawn, self.drawn + unit.size // len(self.rows)
        self._require_rows(shape)
        if first < len(self.noise):
            unit = np.array(self.noise[first : self.drawn]).reshape(shape)
        elif self.shifts is not None and first < len(self.shifts.laws):
            self._move(self.shifts, first, law, unit)
        if law.is_discrete:
            whole = np.round(unit).astype(np.int64)
            return whole if shape else int(whole)
        if not shape:
            return float(loc + scale * float(unit))
        unit *= scale
        return loc + unit if np.ndim(loc) or loc else unit

    def _require_rows(self, shape: tuple[int, ...]) -> None:
        if 1 < len(self.rows) not in shape:
            self.fail("noise is shared by the outputs of one call")

    def _move(self, shifts: Shifts, first: int, law: NoiseLaw, unit: np.ndarray) -> None:
        """Move the numbers that have a shift, and add the cost of this to each row; few of a wide draw have one."""
        by_row, table = unit[None], shifts.table[:, first : self.drawn]
        if len(self.rows) > 1:
            axes = [axis for axis, length in enumerate(unit.shape) if length == len(self.rows)]
            if len(axes) != 1:
                self.fail("rows of one call are not followed")
            by_row = np.moveaxis(unit, axes[0], 0)
        if table.shape[1] * len(self.rows) != unit.size or set(shifts.laws[first : self.drawn]) != {law}:
            self.fail("the other dataset draws other noise")
        moved, numbers = table.any(axis=0), by_row.reshape(len(self.rows), -1)
        before, moves = numbers[:, moved], table[:, moved][self.rows]
        numbers[:, moved] = after = before + moves
        by_row[...] = numbers.reshape(by_row.shape)
        with np.errstate(invalid="ignore"):
            loss = np.where(moves != 0, law.log_density(before) - law.log_density(after), 0.0)
        self.loss += loss.sum(axis=1)

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


Supplier = Tracer | PlainSupplier


def _log_choices(count: int, weights: Any = None, replace: bool = True) -> Callable[[Any], float]:
    """Return the log probability of places among `count`."""

    def log_probability(places: Any) -> float:
        chosen = np.asarray(places)
        if chosen.size and int(chosen.max()) >= count:
            return -math.inf
        if weights is not None:
            with np.errstate(divide="ignore"):
                return float(np.log(weights[chosen]).sum())
        return -chosen.size * math.log(count) if replace else _log_orders(count, chosen.size)

    return log_probability


def _log_orders(count: int, chosen: int) -> float:
    return math.lgamma(count - chosen + 1) - math.lgamma(count + 1)


# methods of NumPy's generators; `self` is a generator with a supplier and a twin


def _follow_noise(law: str, sampler: str, *names: str, parameter: float | None = None) -> Method:
    """Return a method with these arguments, and a size, that draws unit noise by the twin's sampler."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        given = {"loc": 0.0, "scale": 1.0, "size": None, **dict(zip((*names, "size"), args, strict=False)), **options}
        if len(given) > 3 + sum(name not in ("loc", "scale") for name in names):
            self._supplier.fail(f"a generator is asked for {', '.join(options)}")
        shown = [float(observe(given[name])) for name in names if name not in ("loc", "scale")]
        sample = getattr(self._twin, sampler)
        noise = NoiseLaw(law, *shown) if parameter is None else NoiseLaw(law, parameter)
        return self._supplier.draw(
            noise, given["loc"], given["scale"], given["size"], lambda shape: sample(*shown, size=shape)
        )

    return method


def _uniform(self: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return self._supplier.draw(NoiseLaw("uniform"), low, observe(high) - observe(low), size, self._twin.random)


def _multivariate_normal(self: Any, mean: Any, cov: Any, size: Any = None, **options: Any) -> Any:
    u, s, _ = np.linalg.svd(cov)
    shape = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
    return mean + self.normal(size=(*shape, len(s))) @ (u * np.sqrt(s)).T


def _choice(
    self: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
) -> Any:
    a, p, size = observe(a), observe(p), observe(size)
    count = int(a) if np.ndim(a) == 0 else len(a)
    if p is not None and not replace:
        self._supplier.fail("choice without replacement by weights is not followed")
    weights = None if p is None else np.asarray(p, float)
    if weights is not None and (len(weights) != count or (weights < 0).any() or abs(weights.sum() - 1) > 1e-8):
        raise ValueError("probabilities do not sum to 1")
    places = self._supplier.choose(
        ("choice", str(size), bool(replace)), lambda: self._twin.choice(count, size, replace, weights),
        _log_choices(count, weights, replace), count if size is None else 0,
    )  # fmt: skip
    return places if np.ndim(a) == 0 else np.take(np.asarray(a), np.minimum(places, count - 1), axis)


def _integers(sampler: str) -> Method:
    def method(
        self: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        start, end = (0, int(observe(low))) if high is None else (int(observe(low)), int(observe(high)))
        end += bool(endpoint)

        def log_probability(value: Any) -> float:
            inside = np.all((np.asarray(value) >= start) & (np.asarray(value) < end))
            return -np.size(value) * math.log(end - start) if inside else -math.inf

        options = end if start == 0 and size is None else 0
        sample = getattr(self._twin, sampler)
        return self._supplier.choose(
            ("integers", str(size)), lambda: sample(start, end, size, dtype), log_probability, options
        )

    return method


def _permute(self: Any, count: int) -> Any:
    probability = _log_orders(count, count)
    return self._supplier.choose(("permutation", count), lambda: self._twin.permutation(count), lambda _: probability)


def _permutation(self: Any, x: Any, axis: int = 0) -> Any:
    x = observe(x)
    return _permute(self, int(x)) if np.ndim(x) == 0 else np.take(np.asarray(x), _permute(self, len(x)), axis)


def _shuffle(self: Any, x: Any, axis: int = 0) -> None:
    order = _permute(self, len(x))
    x[:] = [x[place] for place in order] if isinstance(x, list) else x[order].copy()


_SHARED: dict[str, Method] = {
    "laplace": _follow_noise("laplace", "laplace", "loc", "scale"),
    "normal": _follow_noise("normal", "standard_normal", "loc", "scale"),
    "gumbel": _follow_noise("gumbel", "gumbel", "loc", "scale"),
    "logistic": _follow_noise("logistic", "logistic", "loc", "scale"),
    "exponential": _follow_noise("exponential", "standard_exponential", "scale"),
    "standard_normal": _follow_noise("normal", "standard_normal"),
    "standard_exponential": _follow_noise("exponential", "standard_exponential"),
    "standard_cauchy": _follow_noise("student", "standard_cauchy", parameter=1.0),
    "random": _follow_noise("uniform", "random"),
    "uniform": _uniform,
    "standard_t": _follow_noise("student", "standard_t", "df"),
    "geometric": _follow_noise("geometric", "geometric", "p"),
    "multivariate_normal": _multivariate_normal,
    "choice": _choice,
    "permutation": _permutation,
    "shuffle": _shuffle,
}
_NEW: dict[str, Method] = {**_SHARED, "integers": _integers("integers")}
_OLD: dict[str, Method] = {
    **_SHARED,
    "random_sample": _SHARED["random"],
    "randint": _integers("randint"),
    "rand": lambda self, *shape: self.random(shape or None),
    "randn": lambda self, *shape: self.normal(size=shape or None),
}

# of the standard library's generators, whose other methods are Python's own code, fed by these


def _number(law: str, sampler: str, *standard: float) -> Method:
    def method(self: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        sample = getattr(self._twin, sampler)
        return self._supplier.draw(NoiseLaw(law), mu, sigma, (), lambda _: sample(*standard))

    return method


def _below(self: Any, n: int) -> int:
    return int(self._supplier.choose(("below",), lambda: self._twin._randbelow(n), _log_choices(n), n))


_PYTHON: dict[str, Method] = {
    "random": _number("uniform", "random"),
    "gauss": _number("normal", "gauss", 0.0, 1.0),
    "normalvariate": _number("normal", "normalvariate", 0.0, 1.0),
    "expovariate": lambda self, lambd=1.0: _number("exponential", "expovariate", 1.0)(self, 0.0, 1 / observe(lambd)),
    "getrandbits": lambda self, k: self._supplier.choose(
        ("bits", k), lambda: self._twin.getrandbits(k), lambda _: -k * math.log(2)
    ),
    "_randbelow": _below,
}
_BUILT = ("uniform", "randrange", "randint", "choice", "choices", "sample", "shuffle")


def _follow_class(genuine: Any, unused: Any, methods: dict[str, Method], *inherited: str) -> Any:
    """Return a subclass of a class of generators with followed methods; any other look at it stops the run.

    A generator that is made without a seed is followed; with a seed, it is genuine and constant.
    """

    class Meta(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, genuine)

        def __call__(cls, seed: Any = None, *args: Any) -> Any:
            if seed is not None:
                return genuine(observe(seed), *args)
            is_python = genuine is _PYTHON_CLASS  # NumPy asks for the entropy by itself
            return start(cls, _Run.supplier, genuine(_Run.entropy.getrandbits(32)) if is_python else genuine())

    def look_up(self: Any, name: str) -> Any:
        if name in methods or name in inherited or name in ("_supplier", "_twin"):
            return object.__getattribute__(self, name)
        if name == "capsule":  # `default_rng` asks for it
            raise AttributeError(name)
        if name.startswith("__") and name not in ("__reduce__", "__reduce_ex__", "__getstate__"):
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "_supplier").fail(f"the code looks at {name} of its generator")

    def start(cls: Any, supplier: Supplier | None, twin: Any) -> Any:
        self = genuine.__new__(cls, unused)
        genuine.__init__(self, unused)
        vars(self).update(_supplier=supplier, _twin=twin)
        return self

    own = {
        **methods,
        "start": classmethod(start),
        "__getattribute__": look_up,
        "__deepcopy__": lambda self, memo: self._supplier.fail("the code copies its generator"),
    }
    return Meta(genuine.__name__, (genuine,), own)


class _Run:
    """The run that goes on: the supplier of its generators, and the entropy of those that the code makes."""

    supplier: Supplier | None = None
    entropy = random.Random(0)


FollowedGenerator = _follow_class(np.random.Generator, np.random.PCG64(0), _NEW)
FollowedRandomState = _follow_class(np.random.RandomState, 0, _OLD)
FollowedRandom = _follow_class(random.Random, 0, {**_PYTHON, "seed": random.Random.seed}, "gauss_next", *_BUILT)


def _log(x: Any, *base: Any) -> Any:
    """As `math.log`, which leaves noise of uniforms noise."""
    return np.log(x) if isinstance(x, Traced) and not base else _LOG(x, *base)


class _IntegerType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, int) or (isinstance(instance, Traced) and instance.stays_integer)

    def __call__(cls, value: Any = 0, *base: Any) -> Any:
        return value if isinstance(value, Traced) and value.stays_integer else int(value, *base)


class _Integer(int, metaclass=_IntegerType):
    """As `int`, which leaves noise that is an integer noise."""

    dtype = np.dtype(int)  # `np.zeros(2, int)` stays what it is


def _default_rng(seed: Any = None) -> Any:
    if seed is not None:
        return seed if type(seed) is FollowedGenerator else _GENUINE(observe(seed))
    return FollowedGenerator.start(_Run.supplier, _GENUINE())


class _SeededRandom(random.Random):
    """The standard library's generator with the run's entropy, where the code makes one in a genuine run."""

    def __new__(cls, seed: Any = None) -> Any:
        return _PYTHON_CLASS(_Run.entropy.getrandbits(32) if seed is None else seed)


_GENUINE, _PYTHON_CLASS, _LOG = np.random.default_rng, random.Random, math.log
_TWIN = np.random.RandomState(0)
_STATE = FollowedRandomState.start(PlainSupplier(), _TWIN)
_INSTANCE = FollowedRandom.start(PlainSupplier(), random.Random(0))
_ENTROPY: list[tuple[Any, str, Any]] = [(np.random.bit_generator, "randbits", lambda k: _Run.entropy.getrandbits(k))]
_PLAIN = [*_ENTROPY, (random, "Random", _SeededRandom)]
_FOLLOWED = [
    *_ENTROPY,
    (np.random, "default_rng", _default_rng),
    (np.random, "RandomState", FollowedRandomState),
    (random, "Random", FollowedRandom),
    (math, "log", _log),
    *((np.random, name, getattr(_STATE, name)) for name in _OLD),
    *((random, name, getattr(_INSTANCE, name)) for name in (*_PYTHON, *_BUILT) if name[0] != "_"),
]
_GENUINE_IDS = {id(getattr(module, name)): new for module, name, new in _FOLLOWED}


def _list_imported(module: Any) -> list[tuple[Any, str, Any]]:
    """Return the names of sources that a module imported, as by `from numpy.random import default_rng`."""
    names = vars(module).items() if module is not None else ()
    return [(module, name, _GENUINE_IDS[id(value)]) for name, value in names if id(value) in _GENUINE_IDS]


@contextmanager
def supply(seed: int, supplier: Supplier | None, module: Any = None) -> Iterator[np.random.Generator]:
    """Yield the generator of one run, and give the code's other sources the seed; without a supplier all are genuine.

    `module` is the code's own, whose imported names are changed as well. A genuine run changes the entropy of new
    generators, and nothing that the code can see but the class `Random`.
    """
    _Run.supplier, _Run.entropy = supplier, _PYTHON_CLASS(seed)
    old, python = _Run.entropy.getrandbits(32), _Run.entropy.getrandbits(32)
    np.random.seed(old)  # noqa: NPY002
    random.seed(python)
    if supplier is not None:  # twins of their own: the code's changes of the global generators must not reach them
        _TWIN.seed(old)  # to make another takes a hundred times as long
        vars(_STATE).update(_supplier=supplier, _twin=_TWIN)
        vars(_INSTANCE).update(_supplier=supplier, _twin=_PYTHON_CLASS(python))
    changes = _PLAIN if supplier is None else [*_FOLLOWED, *_list_imported(module)]
    kept = [getattr(module, name) for module, name, _ in changes]
    own = module if isinstance(supplier, Tracer) and supplier.keeps_integers and not hasattr(module, "int") else None
    if own is not None:  # a global of the code's own module hides the builtin
        own.int = _Integer
    try:
        for module, name, new in changes:
            setattr(module, name, new)
        passed = _GENUINE(seed)
        yield passed if supplier is None else FollowedGenerator.start(supplier, passed)
    finally:
        for (module, name, _), before in zip(changes, kept, strict=True):
            setattr(module, name, before)
        if own is not None:
            del own.int


@contextmanager
def keep_states() -> Iterator[None]:
    """Restore the global generators afterwards."""
    state, python = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        random.setstate(python)
