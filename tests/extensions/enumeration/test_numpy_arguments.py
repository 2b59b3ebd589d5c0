"""Every argument of NumPy's sources is taken as NumPy takes it, or the run ends: none is accepted and not looked at.

Each method of the stand-ins is called with a usual value of each parameter that NumPy's own signature names, and with
others; what NumPy draws is held to the law that is enumerated.
"""

import copy
import inspect
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import audit
from audit.api import sandbox
from audit.extensions.enumeration import real_outputs
from audit.extensions.enumeration.sources import ForkingGenerator, ForkingRandomState

REAL = {"numpy": np.random.Generator, "random_state": np.random.RandomState}
STAND_INS = {"numpy": ForkingGenerator, "random_state": ForkingRandomState}
DRAWS = 400
LEVEL, MOST = 1e-9, 24  # of the share of one output; more outputs than these share their level

RECORDS = np.array([(0, 1), (1, 2), (2, 3)], dtype=[("a", "i4"), ("b", "i4")])
POOL = np.array([[10, 11, 12], [20, 21, 22]])
OBJECTS = np.array([None, "b", 3], dtype=object)
SIZES = (None, 2, (), (1, 2), 0, (2, 0), -1, (2, -1), 2.0, np.int64(2), [2], "a")
WEIGHTS = ([0.5, 0.25, 0.25, 0.0], [0.5, 0.5], [0.5, 0.5, 0.5, -0.5], [0.25] * 4, [[0.25] * 4], [np.nan] * 4)
LENGTHS = (0, 1, -1, 1.0)
REAL_LAW = {"size": (2, (), -1)}
BOUNDS = {"low": (0, -1, 1, [2, 3], 2.5, 300, np.int8(2)), "high": (5, 3, 2, [4, 5])}
CALLS = {  # a usual call, and other values of each parameter
    "binomial": ({"n": 2, "p": 0.25}, {"n": (0, [1, 2], -1, 2.5), "p": (0, 1.0, [0.5, 0.25], 1.5, np.nan), **REAL_LAW}),
    "geometric": ({"p": 0.75}, {"p": (1, [0.9, 0.75], 0, 1.5), **REAL_LAW}),
    "poisson": ({"lam": 0.125}, {"lam": (0, [0.125, 0.25], -1, np.nan), **REAL_LAW}),
    "bytes": ({"length": 1}, {"length": LENGTHS}),
    "choice": ({"a": 4}, {
        "a": (1, 0, -1, 4.0, [5], [], "ab", ["x", "y"], [1.5, 2.5], [None, 1], POOL, RECORDS, OBJECTS, np.int8(3),
              np.array(3)),
        "size": SIZES, "replace": (False, 0, 1), "p": WEIGHTS, "axis": (0, 1, -1, 5), "shuffle": (False,),
    }),
    "integers": ({"low": 3}, {
        **BOUNDS, "size": SIZES, "endpoint": (True, 0),
        "dtype": (int, bool, "int8", np.uint8, np.int32, ">i4", float, np.float32, np.dtype("int16"), object),
    }),
    "randint": ({"low": 3}, {
        **BOUNDS, "size": SIZES,
        "dtype": (int, bool, "int8", np.uint8, np.int32, np.int64, ">i4", float, np.dtype("int16"), object),
    }),
    "permutation": ({"x": 3}, {
        "x": (0, 1, -1, 3.0, [1, 2], (1, 2), [1, [2]], "ab", POOL.T, RECORDS, OBJECTS, {1: 2}), "axis": (0, 1, -1, 2),
    }),
    "shuffle": ({"x": [1, 2, 3]}, {
        "x": (3, [1], (1, 2), [1, [2]], "ab", POOL.T, RECORDS, OBJECTS, {0: 1, 1: 2}, [1, 1, True]),
        "axis": (0, 1, -1, 2),
    }),
    "uniform": ({}, {"low": (-1, [0, -1]), "high": (2, [1, 2], -1, np.inf), **REAL_LAW}),
    "random": ({}, {"dtype": (np.float32, float, "d", int), "out": (np.zeros(1),), "size": SIZES}),
    "random_sample": ({}, REAL_LAW),
}  # fmt: skip
DISCRETE = {"binomial", "geometric", "poisson", "bytes", "choice", "integers", "randint", "permutation", "shuffle"}
CONTINUOUS = {*CALLS, "rand"} - DISCRETE
TOGETHER = (  # parameters that change each other's meaning
    ("numpy", "choice", {"a": 4, "size": 2, "replace": False}),
    ("numpy", "choice", {"a": 4, "size": 2, "replace": False, "shuffle": False}),
    ("numpy", "choice", {"a": 3, "size": 3, "replace": False, "shuffle": False}),
    ("numpy", "choice", {"a": 4, "size": 2, "shuffle": False}),
    ("numpy", "choice", {"a": POOL, "axis": 1}),
    ("numpy", "choice", {"a": POOL, "axis": -1, "size": 2}),
    ("numpy", "choice", {"a": POOL, "axis": 1, "p": [0.5, 0.25, 0.25]}),
    ("numpy", "choice", {"a": POOL, "axis": 0, "size": (1, 2), "replace": False}),
    ("numpy", "choice", {"a": 3, "size": 2, "replace": False, "p": [0.5, 0.25, 0.25]}),
    ("numpy", "choice", {"a": 3, "size": 1, "replace": False, "p": [0.5, 0.25, 0.25]}),
    ("numpy", "choice", {"a": 3, "size": 4, "replace": False}),
    ("numpy", "choice", {"a": 3, "size": 0, "replace": False}),
    ("numpy", "choice", {"a": [], "size": 0}),
    ("random_state", "choice", {"a": 4, "size": 2, "replace": False}),
    ("random_state", "choice", {"a": [[1, 2], [3, 4]]}),
    ("numpy", "integers", {"low": 0, "high": 1, "endpoint": True, "dtype": bool}),
    ("numpy", "integers", {"low": 0, "high": 2, "dtype": bool}),
    ("numpy", "integers", {"low": 250, "high": 300, "dtype": np.uint8}),
    ("numpy", "integers", {"low": 2, "size": 2, "dtype": "int8"}),
    ("numpy", "integers", {"low": [2, 3], "size": (1, 2), "dtype": np.int32}),
    ("numpy", "integers", {"low": [2, 3], "size": 3}),
    ("random_state", "randint", {"low": 2, "size": 2, "dtype": bool}),
    ("random_state", "rand", (2,)),
    ("random_state", "rand", ()),
    ("random_state", "rand", (2, 0)),
    ("random_state", "rand", (-1,)),
)


def followed_methods(source):
    """The methods that a stand-in has of its own, beside those that end the run."""
    own = {name for kind in STAND_INS[source].__mro__[:2] for name in vars(kind)}
    public = {name for name in dir(REAL[source]) if not name.startswith("_")} & own
    return {name for name in public if getattr(getattr(STAND_INS[source], name), "__name__", "refuse") != "refuse"}


def grid():
    """Yield each method with each other value of each parameter that NumPy names."""
    for source, real in REAL.items():
        for name in sorted(followed_methods(source) - {"rand"}):
            usual, others = CALLS[name]
            yield source, name, usual
            for parameter in inspect.signature(getattr(real, name)).parameters.keys() - {"self"}:
                yield from ((source, name, {**usual, parameter: value}) for value in others[parameter])
    yield from TOGETHER


def called(rng, name, arguments):
    """What a caller sees of one call: types, shapes and values; of continuous noise the side of a number."""
    given = copy.deepcopy(arguments)
    try:
        found = getattr(rng, name)(*given) if isinstance(given, tuple) else getattr(rng, name)(**given)
    except Exception as error:
        return type(error).__name__, str(error)
    if name == "shuffle":
        found = given["x"]
    shape = np.shape(found) if isinstance(found, np.ndarray) else None
    if name in CONTINUOUS:
        return shape, [bool(value < 0.6875) for value in ([found] if shape is None else found.ravel())]
    return type(found).__name__, shape, str(found if shape is None else (found.dtype, found.tolist()))


def source_of(source, seed):
    return np.random.default_rng(seed) if source == "numpy" else np.random.RandomState(seed)


@pytest.mark.false_alarm(MOST * LEVEL)
@pytest.mark.parametrize(("source", "name", "arguments"), list(grid()), ids=lambda part: str(part).replace("\n", ""))
def test_what_numpy_draws_has_the_enumerated_law_or_none(source, name, arguments, monkeypatch):
    """The null: the share of each output among 400 has its enumerated probability. None are drawn beside the law."""
    monkeypatch.setattr(sandbox, "FORKS", False)
    monkeypatch.setattr(real_outputs, "_draw_all", lambda *_: None)
    law = audit.enumerate_law(lambda _, rng: repr(called(rng, name, arguments)), 0, rng=source, time_limit=5.0)
    if law.not_followed and law.residual >= 1e-6:  # a long tail is left over too
        return
    assert law.residual < 1e-6
    rng = source_of(source, 1)
    drawn = Counter(repr(called(rng, name, arguments)) for _ in range(DRAWS))
    texts = {*drawn, *law.probabilities}
    level = LEVEL * min(1.0, MOST / len(texts))
    for text in texts:
        chance = float(law.probabilities.get(text, 0))
        pvalue = stats.binomtest(drawn[text], DRAWS, min(1.0, chance)).pvalue
        assert pvalue > level or law.residual >= chance > 0, (text, drawn[text], chance)
