"""Atoms: outputs that repeat. Discrete mechanisms, symbols, rows of small integers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from audit.game.scorers.base import Training, log_ratio, shrunk_log_ratio
from audit.subjects import Outputs, Symbols

_FEWEST = 5  # an atom counts when it was seen this often; rarer outputs share one cell for each kind
_MOST_RARE = 0.005  # share of rare outputs up to which atoms see everything: half of an event that must be seen
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class AtomScore:
    """Estimated log-likelihood ratio of the output's atom."""

    keys: np.ndarray
    ratios: np.ndarray
    rare: float
    texts: dict[int, str]
    complete: bool
    name: str = "atoms"
    calibrated: bool = False

    def __call__(self, outputs: Outputs) -> np.ndarray:
        keys = atom_keys(outputs)
        scores = self._look_up(keys)
        missed = np.isnan(scores)
        if missed.any() and outputs.symbols is not None:
            scores[missed] = self._look_up(_kind_keys(outputs.symbols)[missed])
        return np.where(np.isnan(scores), self.rare, scores)

    def _look_up(self, keys: np.ndarray) -> np.ndarray:
        where = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[where] == keys, self.ratios[where], np.nan)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        return self._listed(self.ratios >= upper), self._listed(self.ratios <= lower)

    def _listed(self, chosen: np.ndarray, most: int = 6) -> str:
        if not chosen.any():
            return "no output" if len(self.ratios) else "rare outputs"
        order = np.argsort(-np.abs(np.where(chosen, self.ratios, 0)))[: int(chosen.sum())]
        shown = [self.texts[int(self.keys[i])] for i in order[:most]]
        more = len(order) - len(shown)
        return "output in {" + ", ".join(shown) + (f", and {more} more" if more else "") + "}"


class Atoms:
    """Counts how often each output was seen on either side."""

    learned = True
    needs_all = True

    def propose(self, training: Training) -> Sequence[AtomScore]:
        score = count_atoms(training)
        return [] if score is None else [replace(score, texts=_texts(training, score.keys))]


def count_atoms(training: Training) -> AtomScore | None:
    """The score of the values that repeat, without their texts; None when none does."""
    plain = all(outputs.is_scalar and outputs.symbols is None for outputs in (training.left, training.right))
    if plain and not _repeats(_pooled(training.left.numbers, training.right.numbers)):
        return None  # of continuous outputs not even keys are made
    sides = np.sort(_counted(training.left)), np.sort(_counted(training.right))
    pooled = _pooled(*sides)
    if not _repeats(pooled):
        return None
    starts = np.flatnonzero(np.r_[True, pooled[1:] != pooled[:-1]])
    keys, counts = pooled[starts], np.diff(np.r_[starts, len(pooled)])
    from_left = np.searchsorted(sides[0], keys, side="right") - np.searchsorted(sides[0], keys)
    from_right = counts - from_left
    frequent = counts >= _FEWEST
    totals = len(training.left), len(training.right)
    ratios = shrunk_log_ratio(from_left, from_right, *totals)[frequent]
    rare_left, rare_right = from_left[~frequent].sum(), from_right[~frequent].sum()
    rare = float(log_ratio(np.array(rare_left), np.array(rare_right), *totals))
    return AtomScore(keys[frequent], ratios, rare, {}, _share_of_rare(training) <= _MOST_RARE)


def atom_keys(outputs: Outputs) -> np.ndarray:
    """One 64-bit key an output: equal outputs have equal keys (and others too, with probability 2^-64)."""
    bits = np.ascontiguousarray(outputs.numbers).view(np.uint64).reshape(len(outputs), -1)
    keys = np.zeros(len(outputs), dtype=np.uint64)
    for column in range(bits.shape[1]):
        keys = (keys ^ bits[:, column]) * _MIX
        keys ^= keys >> np.uint64(29)
    if outputs.symbols is not None:
        keys = np.where(outputs.symbolic, _symbol_keys(outputs.symbols, outputs.symbols.table), keys)
    return keys


def _symbol_keys(symbols: Symbols, texts: Iterable[str]) -> np.ndarray:
    return np.array([*map(_text_key, texts), 0], dtype=np.uint64)[symbols.codes]


def _kind_keys(symbols: Symbols) -> np.ndarray:
    return _symbol_keys(symbols, map(_kind, symbols.table))


def _pooled(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.sort(np.concatenate([left, right]), kind="stable")  # quick where the sides are sorted


def _repeats(ordered: np.ndarray) -> bool:
    """Whether any value occurs often enough to be an atom."""
    return bool(np.any(ordered[_FEWEST - 1 :] == ordered[: 1 - _FEWEST]))


def _counted(outputs: Outputs) -> np.ndarray:
    """Keys of the outputs; a symbol that is rare on its side is counted as its kind."""
    keys = atom_keys(outputs)
    if outputs.symbols is None:
        return keys
    _, where, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.where((counts[where] < _FEWEST) & outputs.symbolic, _kind_keys(outputs.symbols), keys)


def _share_of_rare(training: Training) -> float:
    """Share of outputs whose own value was seen too rarely to be an atom, even if its kind is one."""
    keys = np.sort(np.concatenate([atom_keys(training.left), atom_keys(training.right)]))
    counts = np.diff(np.r_[np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]), len(keys)])
    return float(counts[counts < _FEWEST].sum() / len(keys))


def _texts(training: Training, wanted: np.ndarray) -> dict[int, str]:
    """The text of each wanted key, as it was first seen; `wanted` is sorted."""
    texts: dict[int, str] = {}
    for outputs in (training.left, training.right):
        keys = _counted(outputs)
        where = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
        rows = np.flatnonzero(wanted[where] == keys)[::-1]
        first = np.full(len(wanted), -1)
        first[where[rows]] = rows  # of rows with one key the last assignment stays, which is the first row
        for key, row in zip(wanted.tolist(), first.tolist(), strict=True):
            if row >= 0:
                texts.setdefault(key, _shown(outputs, row, key))
    return texts


def _shown(outputs: Outputs, row: int, key: int) -> str:
    symbol = outputs.symbols.at(row) if outputs.symbols is not None else None
    if symbol is not None:
        return symbol if _text_key(symbol) == key else f"any {_kind(symbol)}"
    numbers = outputs.numbers[row]
    return f"{numbers:.17g}" if outputs.is_scalar else "(" + ", ".join(f"{x:.6g}" for x in numbers) + ")"


def _kind(symbol: str) -> str:
    return symbol.split(": ", 1)[0] + ":"


@lru_cache(maxsize=65536)
def _text_key(text: str) -> np.uint64:
    key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(key, "little"))
