"""OpenDP 0.14.2: randomized response on bit vectors, before its repair. A dataset is one record of bits."""

from __future__ import annotations

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")

BITS = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)


def bits(dataset, rng):
    """A record of bits, packed into bytes as numpy does it."""
    return np.unpackbits(np.frombuffer(BITS(np.packbits(dataset).tobytes()), dtype=np.uint8)).tolist()


MECHANISMS = {"make_randomized_response_bitvec": bits}
