"""Atoms: outputs that repeat. Discrete mechanisms, symbols, rows of small integers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from audit.empirical.scorers.base import Training, log_ratio, shrunk_log_ratio
from audit.sampling import Outputs, Symbols

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

    def propose(self, training: Training) -> Sequence[AtomScore]:
        left, right = _counted(training.left), _counted(training.right)
        if not _any_frequent(np.concatenate([left, right])):
            return []
        keys, where, counts = np.unique(np.concatenate([left, right]), return_inverse=True, return_counts=True)
        from_left = np.bincount(where[: len(left)], minlength=len(keys))
        from_right = counts - from_left
        frequent = counts >= _FEWEST
        totals = len(training.left), len(training.right)
        ratios = shrunk_log_ratio(from_left, from_right, *totals)[frequent]
        rare_left, rare_right = from_left[~frequent].sum(), from_right[~frequent].sum()
        rare = float(log_ratio(np.array(rare_left), np.array(rare_right), *totals))
        complete = _share_of_rare(training) <= _MOST_RARE
        texts = _texts(training, set(keys[frequent].tolist()))
        return [AtomScore(keys[frequent], ratios, rare, texts, complete)]


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


def _any_frequent(keys: np.ndarray) -> bool:
    """Whether any key occurs often enough; one sort, which is all that continuous outputs cost."""
    ordered = np.sort(keys)
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
    keys = np.concatenate([atom_keys(training.left), atom_keys(training.right)])
    counts = np.unique(keys, return_counts=True)[1]
    return float(counts[counts < _FEWEST].sum() / len(keys))


def _texts(training: Training, wanted: set[int]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for outputs in (training.left, training.right):
        keys = _counted(outputs)
        for row in np.unique(keys, return_index=True)[1]:
            if int(keys[row]) in wanted:
                texts.setdefault(int(keys[row]), _shown(outputs, row, int(keys[row])))
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
