"""Fit an estimator as its users do, and collect everything that leaves the fit as one output."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import (
    Group,
    InvalidArgument,
    Labeled,
    LabelFlip,
    Outputs,
    PerCall,
    Raised,
    encode,
    entropy_from,
    identify,
    list_blocks,
    list_set_orders,
    walk,
)

ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
_PICKLING = ("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__getnewargs_ex__")
_LIBRARIES = ("builtins", "numpy", "sklearn", "scipy", "pandas")  # they pickle attributes, and nothing else


@dataclass(frozen=True, eq=False)
class Fits:
    """A mechanism that fits an estimator once for every output, unseeded, and lets out all that leaves the fit.

    An output is a dict: the fitted object with its attributes at any depth, the order of its sets, its pickle, its
    answers at public points, its warnings and printed text. An exception of `fit` is an output. A pickle counts as
    its attributes where loading it gives them back and no class writes pickles in a way of its own; else its bytes
    are in the output. Time is left out, and so is text that code in C prints.
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
        with entropy_from(rng), heard() as said:
            shown = self._shown(fitted(self.fresh(), dataset))
        return {**shown, **said}

    def _shown(self, learner: Any) -> dict[str, Any]:
        whole, twin = pickled(learner)
        shown = {"learner": learner, "sets": list_set_orders(learner), "pickle": whole}
        for name in ANSWERS if self.points is not None else ():
            if (method := getattr(twin, name, None)) is not None:
                shown[name] = answered(method, self.points)
        return shown

    def fresh(self, **parameters: Any) -> Any:
        """Return an unfitted copy, unseeded unless `parameters` say otherwise."""
        learner = cloned(self.estimator)
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
        again = copy.deepcopy(rng)
        whole = self._whole(dataset, rng)
        revealed = self.release.reveal(whole["learner"])
        features = dataset.X if isinstance(dataset, Labeled) else dataset
        flips = isinstance(self.relation.base if isinstance(self.relation, Group) else self.relation, LabelFlip)
        public = np.array(features) if flips else len(features)
        with heard() as said:
            rebuilt = self._shown(self.release.rebuild(self.fresh(), revealed, public))
        follows = identify({**rebuilt, **said}) == identify(whole)
        if follows and revealed[1] is not None:
            one_class = Labeled(features, np.full_like(dataset.y, np.sort(dataset.y)[0]))
            with entropy_from(again), heard():
                left_out = self.release.reveal(fitted(self.fresh(), one_class))[1]
            follows = flips and identify(left_out) == identify(revealed[1])  # features might be in it
        return revealed[0] if follows else "more than the release"


def cloned(estimator: Any) -> Any:
    """Return an unfitted copy, by scikit-learn where the class is one of its estimators."""
    if hasattr(type(estimator), "__sklearn_tags__") or hasattr(type(estimator), "_get_param_names"):
        from sklearn.base import clone  # it is imported already: the class derives from it

        return clone(estimator)
    return type(estimator)(**estimator.get_params(deep=False))


def fitted(learner: Any, dataset: Any) -> Any:
    """Fit a learner on a copy of the data, and return it."""
    parts = (dataset.X, dataset.y) if isinstance(dataset, Labeled) else (dataset,)
    learner.fit(*(np.array(part) for part in parts))
    return learner


@contextmanager
def heard() -> Iterator[dict[str, str]]:
    """Collect warnings and printed text."""
    said: dict[str, str] = {}
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed), redirect_stderr(printed):
        warnings.simplefilter("always")
        yield said
    said["warned"] = "\n".join(f"{each.category.__name__}: {each.message}" for each in warned)
    said["printed"] = printed.getvalue()


def answered(method: Any, points: Any) -> Any:
    """Return the answer of a method at points; an exception is an answer."""
    try:
        return method(np.array(points))
    except Exception as error:
        return Raised(error)


def pickled(learner: Any) -> tuple[Any, Any]:
    """Return the contents of a pickle beside the attributes, and a copy that may be asked for answers."""
    try:
        whole = pickle.dumps(learner, protocol=5)
        twin = pickle.loads(whole)
    except Exception as error:
        return f"not pickled: {type(error).__name__}", copy.deepcopy(learner)
    plain = not any(_pickles_itself(type(part)) for part in walk(learner))
    return "as the attributes" if plain and same(learner, twin) else whole, twin


def same(left: Any, right: Any) -> bool:
    """Test whether two fitted objects show the same, with the order of their sets."""
    return identify([left, list_set_orders(left)]) == identify([right, list_set_orders(right)])


def _pickles_itself(kind: type) -> bool:
    own = (base for base in kind.__mro__ if base.__module__.partition(".")[0] not in _LIBRARIES)
    return any(name in vars(base) for base in own for name in _PICKLING)


def fixed_places(outputs: Outputs) -> dict[str, Any]:
    """Return the places of the outputs that hold the same in all of them, and their contents."""
    found: dict[str, Any] = {}
    for name, block in list_blocks(outputs).items():
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


def moved(left: dict[str, Any], right: dict[str, Any]) -> list[str]:
    """Return the places that hold one thing in all fits on one dataset, and another in all fits on the other."""
    return [place for place in left if place in right and identify(left[place]) != identify(right[place])]


def require_estimator(estimator: Any) -> None:
    """Raise `InvalidArgument` unless it is an estimator before its fit."""
    rule = "be an estimator with fit, get_params and set_params"
    if isinstance(estimator, type) or not all(
        callable(getattr(estimator, name, None)) for name in ("fit", "get_params", "set_params")
    ):
        instead = f"give an object: {estimator.__name__}()" if isinstance(estimator, type) else None
        raise InvalidArgument.of("estimator", rule, estimator, *([instead] if instead else []))
