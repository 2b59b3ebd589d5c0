"""Fit an estimator as its users do, and collect everything that leaves the fit as one output."""

from __future__ import annotations

import copy
import copyreg
import hashlib
import io
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from audit import Group, Labeled, LabelFlip
from audit.api import InvalidArgument, Outputs, PerCall, encode, entropy_from, walk

_ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "score_samples", "density")
_HEAD = 1_024  # bytes of a pickle that are read one by one
_PICKLING = ("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__getnewargs_ex__")
SOURCES = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence)
_LIBRARIES = ("builtins", "functools", "numpy", "sklearn", "scipy", "pandas")  # they pickle attributes, no more


@dataclass(frozen=True, eq=False)
class Fits:
    """A mechanism that fits an estimator once for every output, unseeded, and lets out all that leaves the fit.

    An output is a dict: the fitted object with its attributes at any depth, the order of its sets, its pickle, its
    answers at public points, its warnings and printed text. An exception of `fit` is an output. A pickle counts as
    its attributes where loading it gives them back and no class writes pickles in a way of its own; else its first
    1,024 bytes, its length and a digest of the rest are in the output. Time is left out, and so is text that code in C
    prints.
    """

    estimator: Any
    points: Any = None

    @property
    def function(self) -> type:
        """The class of the estimator, which names the mechanism."""
        return type(self.estimator)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Fit `size` fresh copies, and return the output of each fit."""
        return PerCall(self._output, True)(dataset, size, rng)

    def _output(self, dataset: Any, rng: np.random.Generator) -> Any:
        return self._whole(dataset, rng)

    def _whole(self, dataset: Any, rng: np.random.Generator) -> dict[str, Any]:
        with entropy_from(rng), record_output() as said:
            shown = show(fit_copy(self.fresh(), dataset), self.points)
        return {**shown, **said}

    def fresh(self, **parameters: Any) -> Any:
        """Return an unfitted copy, unseeded unless `parameters` say otherwise."""
        if self._unfitted is None or parameters:
            return self._copy(parameters)
        return pickle.loads(self._unfitted)

    @cached_property
    def _unfitted(self) -> bytes | None:
        """The plain pickle of an unfitted copy: to load it is faster than to look up its parameters."""
        return dump_plainly(self._copy({}))

    def _copy(self, parameters: dict[str, Any]) -> Any:
        learner = clone(self.estimator)
        known = learner.get_params(deep=True)
        unset = {name: None for name in known if name.split("__")[-1] == "random_state" and known[name] is not None}
        unset |= parameters
        return learner.set_params(**unset) if unset else learner

    def read(self, dataset: Any, fits: int, rng: np.random.Generator) -> Outputs:
        """Return the outputs of some fits, as every scorer reads them."""
        return encode(PerCall(self._whole, True)(dataset, fits, rng), fits)


@dataclass(frozen=True, eq=False)
class StatedFits(Fits):
    """Fits whose output is the part that `release` reveals, if all that left the fit follows from it; else a text.

    No law allows for that text. The object is built again from the revealed and the public part, and must show,
    warn and print the same. The part outside the law, under label flip alone, must stay the same on labels of one
    class, with the same entropy.
    """

    release: Any = None
    relation: Any = None

    def law(self, dataset: Any) -> Any:
        """Return the law of the revealed part."""
        return self.release.law(dataset)

    def _output(self, dataset: Any, rng: np.random.Generator) -> Any:
        features = dataset.X if isinstance(dataset, Labeled) else dataset
        flips = isinstance(self.relation.base if isinstance(self.relation, Group) else self.relation, LabelFlip)
        again = copy.deepcopy(rng) if flips else rng
        with entropy_from(rng), record_output() as said:
            learner = fit_copy(self.fresh(), dataset)
        revealed = self.release.reveal(learner)
        public = np.array(features) if flips else len(features)
        with record_output() as said_again:
            rebuilt = self.release.rebuild(self.fresh(), revealed, public)
        follows = said == said_again and self._alike(learner, rebuilt, rng)
        if follows and revealed[1] is not None:
            one_class = Labeled(features, np.full_like(dataset.y, np.sort(dataset.y)[0]))
            with entropy_from(again), record_output():
                left_out = self.release.reveal(fit_copy(self.fresh(), one_class))[1]
            follows = flips and walk.identify(left_out) == walk.identify(revealed[1])  # features might be in it
        return revealed[0] if follows else "more than the release"

    def _alike(self, learner: Any, rebuilt: Any, rng: np.random.Generator) -> bool:
        """Test whether two fitted objects show the same, which those of equal plain pickles do."""
        if has_plain_pickle_of(learner, rebuilt):
            return True
        with entropy_from(rng), record_output() as said:
            shown = show(learner, self.points)
        with record_output() as said_again:
            shown_again = show(rebuilt, self.points)
        return walk.identify([shown, said]) == walk.identify([shown_again, said_again])


def clone(estimator: Any) -> Any:
    """Return an unfitted copy, by scikit-learn where the class is one of its estimators."""
    if hasattr(type(estimator), "__sklearn_tags__") or hasattr(type(estimator), "_get_param_names"):
        from sklearn.base import clone  # it is imported already: the class derives from it

        return clone(estimator)
    return type(estimator)(**estimator.get_params(deep=False))


def fit_copy(learner: Any, dataset: Any) -> Any:
    """Fit a learner on a copy of the data, and return it."""
    parts = (dataset.X, dataset.y) if isinstance(dataset, Labeled) else (dataset,)
    learner.fit(*(np.array(part) for part in parts))
    return learner


def list_set_orders(value: Any) -> list[list[Any]]:
    """Return the elements of each set in a value in the order in which it yields them."""
    return [list(part) for part in walk.walk(value) if isinstance(part, (set, frozenset))]


def show(learner: Any, points: Any) -> dict[str, Any]:
    """Return all that a fitted object shows: itself, the order of its sets, its pickle, its answers at the points."""
    whole, twin = read_pickle(learner)
    shown = {"learner": learner, "sets": list_set_orders(learner), "pickle": whole}
    for name in _ANSWERS if points is not None else ():
        if (method := getattr(twin, name, None)) is not None:
            shown[name] = answer(method, points)
    return shown


@contextmanager
def record_output() -> Iterator[dict[str, str]]:
    """Collect warnings and printed text."""
    said: dict[str, str] = {}
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed), redirect_stderr(printed):
        warnings.simplefilter("always")
        yield said
    said["warned"] = "\n".join(f"{each.category.__name__}: {each.message}" for each in warned)
    said["printed"] = printed.getvalue()


def answer(method: Any, points: Any) -> Any:
    """Return the answer of a method at points; an exception is an answer."""
    try:
        return method(np.array(points))
    except Exception as error:
        return walk.Raised(error)


def read_pickle(learner: Any) -> tuple[Any, Any]:
    """Return the contents of a pickle beside the attributes, and a copy that may be asked for answers."""
    try:
        whole = pickle.dumps(learner, protocol=5)
        twin = pickle.loads(whole)
    except Exception as error:
        return f"not pickled: {type(error).__name__}", copy.deepcopy(learner)
    kinds: set[Any] = {type(part) for part in walk.walk(learner)}
    plain = not any(map(_pickles_itself, kinds))
    return "as the attributes" if plain and same(learner, twin) else _in_fixed_form(whole), twin


def _in_fixed_form(whole: bytes) -> dict[str, Any]:
    """Return bytes in a form that no other fit has a part in, however long its bytes are."""
    head = np.frombuffer(whole[:_HEAD].ljust(_HEAD, b"\0"), np.uint8)
    return {"head": head, "length": len(whole), "rest": hashlib.sha256(whole[_HEAD:]).hexdigest()}


def same(left: Any, right: Any) -> bool:
    """Test whether two fitted objects show the same, with the order of their sets."""
    return walk.identify([left, list_set_orders(left)]) == walk.identify([right, list_set_orders(right)])


class _PlainPickler(pickle.Pickler):
    """Refuses parts of which a pickle may show less than `identify` reads."""

    def reducer_override(self, part: Any) -> Any:
        if isinstance(part, type):  # its name, which is the same in both
            return NotImplemented
        kind: Any = type(part)
        if _pickles_itself(kind) or kind in copyreg.dispatch_table or isinstance(part, SOURCES):
            raise pickle.PicklingError(f"{kind.__name__} has a pickle of its own")
        if isinstance(part, np.ndarray) and not (
            kind is np.ndarray and part.flags.c_contiguous and part.dtype.metadata is None
        ):
            raise pickle.PicklingError("a pickle does not keep how the array lies in memory")
        return NotImplemented


def dump_plainly(learner: Any) -> bytes | None:
    """Return the pickle of an object that it shows whole; None where there is none."""
    written = io.BytesIO()
    try:
        _PlainPickler(written, protocol=5).dump(learner)
    except Exception:
        return None
    return written.getvalue()


def has_plain_pickle_of(learner: Any, other: Any) -> bool:
    """Test whether two objects have one pickle, and it shows them whole: then nothing else tells them apart."""
    plain = dump_plainly(learner)
    return plain is not None and plain == dump_plainly(other)


@lru_cache(maxsize=4096)
def _pickles_itself(kind: type) -> bool:
    """Test whether a class has code of its own for pickling; that of named tuples is the one of Python."""
    own = (vars(base) for base in kind.__mro__ if base.__module__.partition(".")[0] not in _LIBRARIES)
    codes = (members[name] for members in own for name in _PICKLING if name in members)
    return any(getattr(code, "__globals__", {}).get("__name__") != "collections" for code in codes)


def fixed_places(outputs: Outputs) -> dict[str, Any]:
    """Return the places of the outputs that hold the same in all of them, and their contents."""
    found: dict[str, Any] = {}
    for name, block in outputs.list_blocks().items():
        columns = np.ascontiguousarray(block.reshape(len(outputs), -1).T)
        still = (columns.view(np.uint64) == columns.view(np.uint64)[:, :1]).all(axis=1)
        width = len(columns)
        found |= {
            f"output{name}{f'[{at}]' if width > 1 else ''}": columns[at, 0].item() for at in np.flatnonzero(still)
        }
    if not outputs.symbolic.any():
        found["output"] = "returned"
    elif outputs.symbols is not None and len(set(outputs.symbols.codes.tolist())) == 1:
        found["output"] = outputs.symbols.at(0)
    return found | {name: text.at(0) for name, text in outputs.texts.items() if len(set(text.codes.tolist())) == 1}


def list_moves(left: dict[str, Any], right: dict[str, Any]) -> list[str]:
    """Return the places that hold one thing in all fits on one dataset, and another in all fits on the other."""
    return [place for place in left if place in right and walk.identify(left[place]) != walk.identify(right[place])]


def require_estimator(estimator: Any) -> None:
    """Raise `InvalidArgument` unless it is an estimator before its fit."""
    rule = "be an estimator with fit, get_params and set_params"
    if isinstance(estimator, type) or not all(
        callable(getattr(estimator, name, None)) for name in ("fit", "get_params", "set_params")
    ):
        instead = f"give an object: {estimator.__name__}()" if isinstance(estimator, type) else None
        raise InvalidArgument.of("estimator", rule, estimator, *([instead] if instead else []))
