"""pure-ldp: the reports of one user, by the clients of its frequency oracles and heavy-hitter protocols.

A dataset is one record: a value from 1 on, as in the README, or a bit string for heavy hitters. Clients draw from
`random` and `numpy.random`. A hashed report comes as its user's support, the server's answers to "does this report
speak for value 1 (2)?"; hash functions and seeds do not depend on the value.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import xxhash
from pure_ldp.core import generate_hash_funcs
from pure_ldp.frequency_oracles.apple_cms import CMSClient
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.histogram_encoding import HEClient
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, LHClient
from pure_ldp.frequency_oracles.priv_count_sketch import PCSClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient
from pure_ldp.heavy_hitters.prefix_extending import PEMClient
from pure_ldp.heavy_hitters.treehistogram import TreeHistClient

EPSILON, GENERAL = 1.0, 2.0  # Hadamard response has another algorithm above epsilon = 1
VALUES, WIDTH, SEEDS = 4, 4, 10


def client(make, read=lambda made, reports, values: reports):
    """Reports of one user, as `read` has them, on the domain and with the epsilon that an audit asks for.

    What a client draws when it is made is public, and the same for all users: it is made once.
    """
    made_for = cache(make)

    def draw(dataset, size, rng, values=None, epsilon=EPSILON):
        made = made_for(epsilon, values or VALUES)
        return read(made, [made.privatise(dataset) for _ in range(size)], values)

    return draw


def speaks(oracle, report, value):
    """Return whether the server counts a hashed report for a value."""
    answer, seed = report
    return float(answer == xxhash.xxh32(str(oracle.index_mapper(value)), seed=seed).intdigest() % oracle.g)


def supports(made, reports, values):
    """For which of the first two values a hashed report speaks; of the first and the last, on a domain asked for."""
    return np.array([[speaks(made, report, value) for value in (1, values or 2)] for report in reports])


def flat(made, reports, values):
    """Reports of a vector and where it comes from, as one vector."""
    return np.array([np.hstack(report) for report in reports], dtype=float)


def coefficients(made, reports, values):
    """Hadamard coefficients, each with its index."""
    return [[number for pair in report for number in pair] for report in reports]


def words(made, reports, values):
    """For which of two prefixes the report of a random prefix speaks, and for which of two words that of the word."""
    asked = ((made.fragment_estimator, ("0*", "1*")), (made.word_estimator, ("00", "11")))
    return np.array([
        [speaks(oracle, report, each) for (oracle, values), report in zip(asked, pair, strict=True) for each in values]
        for pair in reports
    ])  # fmt: skip


def prefixes(made, reports, values):
    """The group, and for which of two prefixes of its length the report speaks."""
    return np.array([
        [float(group), *(speaks(made.client, report, bit * (group + 2)) for bit in "01")] for report, group in reports
    ])  # fmt: skip


def hadamard_response(epsilon, values):
    """The client with the permutation of a server, as its documentation asks for."""
    server = HadamardResponseServer(epsilon, values)
    return HadamardResponseClient(epsilon, values, server.get_hash_funcs())


def hadamard(epsilon, values):
    """Hadamard coefficients, as many as are best."""
    return HadamardMechClient(epsilon, values, None, use_optimal_t=True)


_RESPONSES = client(hadamard_response)
_SKETCH = generate_hash_funcs(2, WIDTH)
_SIGNED = list(zip(generate_hash_funcs(2, WIDTH), generate_hash_funcs(2, 2), strict=True))

MECHANISMS = {
    "DE": client(DEClient),
    "SUE": client(UEClient),
    "OUE": client(partial(UEClient, use_oue=True)),
    "HE": client(HEClient),
    "BLH": client(LHClient, supports),
    "OLH": client(partial(LHClient, use_olh=True), supports),
    "FLH": client(lambda epsilon, values: FastLHClient(epsilon, values, SEEDS, use_olh=True), supports),
    "HM": client(hadamard, coefficients),
    "HR, high privacy": _RESPONSES,
    "HR, general": partial(_RESPONSES, epsilon=GENERAL),
    "CMS": client(lambda epsilon, values: CMSClient(epsilon, _SKETCH, WIDTH, is_hadamard=False), flat),
    "HCMS": client(lambda epsilon, values: CMSClient(epsilon, _SKETCH, WIDTH, is_hadamard=True), flat),
    "PCS": client(lambda epsilon, values: PCSClient(epsilon, 2, WIDTH, _SIGNED), flat),
    "PEM": client(lambda epsilon, values: PEMClient(epsilon, 1, 3, 1), prefixes),
    "TreeHistogram": client(lambda epsilon, values: TreeHistClient(epsilon, 1, 2), words),
}
