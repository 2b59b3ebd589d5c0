"""ldp-toolbox 0.1.3 at epsilon 1, on domains of eight or of four values, or as asked for. A dataset is one value."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import xxhash
from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
from ldp_toolbox.protocols.frequency.he import HistogramEncoding
from ldp_toolbox.protocols.frequency.lh import LocalHashing
from ldp_toolbox.protocols.frequency.ss import SubsetSelection
from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

VALUES, FEW, EPSILON = 8, 4, 1.0


def client(protocol, read, domain=FEW):
    """Reports of one user, as `read` has them, on the domain and with the epsilon that an audit asks for."""
    made_for = cache(protocol)  # what it draws for itself would be public

    def draw(dataset, size, rng, values=domain, epsilon=EPSILON):
        asked = made_for(values, epsilon)
        return read(asked, [asked.obfuscate(dataset) for _ in range(size)], values)

    return draw


def plain(protocol, reports, values):
    """Reports as lists of numbers."""
    return [np.asarray(report).tolist() for report in reports]


def vectors(protocol, reports, values):
    """Reports as arrays of floats."""
    return np.array(reports, dtype=float)


def supported(protocol, reports, values):
    """Reports of local hashing, as the values that they support; on large domains, the first and the last."""
    among = range(values) if values == FEW else (0, values - 1)

    def hashed(value, seed):
        return xxhash.xxh32(str(value), seed=seed).intdigest() % protocol.g

    return np.array([[float(hashed(each, seed) == value) for each in among] for value, seed in reports])


def above(protocol, reports, values):
    """Reports of thresholded histograms, as indicators of the reported values."""
    return np.array([np.isin(np.arange(values), report).astype(float) for report in reports])


MECHANISMS = {
    "GRR": client(GeneralizedRandomizedResponse, plain, VALUES),
    "SUE": client(partial(UnaryEncoding, optimal=False), vectors),
    "OUE": client(UnaryEncoding, vectors),
    "SS": client(SubsetSelection, plain, VALUES),
    "BLH": client(partial(LocalHashing, optimal=False), supported),
    "OLH": client(LocalHashing, supported),
    "THE": client(HistogramEncoding, above),
    "HE": client(partial(HistogramEncoding, thresholding=False), vectors),
}
