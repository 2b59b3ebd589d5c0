"""pure-ldp: the reports of one user, by the clients of its frequency oracles and heavy-hitter protocols.

A dataset is one record: a value from 1 on, as in the README, or a bit string for heavy hitters. Clients draw from
`random` and `numpy.random`. A hashed report comes as its user's support, the server's answers to "does this report
speak for value 1 (2)?"; hash functions and seeds do not depend on the value.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import xxhash
from pure_ldp.core import generate_hash, generate_hash_funcs
from pure_ldp.frequency_oracles.apple_cms import CMSClient
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.histogram_encoding import HEClient
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, LHClient
from pure_ldp.frequency_oracles.priv_count_sketch import PCSClient
from pure_ldp.frequency_oracles.rappor import RAPPORClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient
from pure_ldp.heavy_hitters.prefix_extending import PEMClient
from pure_ldp.heavy_hitters.treehistogram import TreeHistClient

EPSILON, GENERAL = 1.0, 2.0  # Hadamard response has another algorithm above epsilon = 1
VALUES, WIDTH, SEEDS = 4, 4, 10
SCALE = 0.5  # RAPPOR's f


def reports(kind, **fixed):
    """Reports of one user as the client hands them out, on the domain and with the epsilon that an audit asks for."""
    client_of = cache(lambda epsilon, values: kind(epsilon, values, **fixed))  # what it draws for itself is public

    def draw(dataset, size, rng, values=VALUES, epsilon=EPSILON):
        client = client_of(epsilon, values)
        return [client.privatise(dataset) for _ in range(size)]

    return draw


def speaks(client, report, value):
    """Return whether the server counts a hashed report for a value."""
    answer, seed = report
    return float(answer == xxhash.xxh32(str(client.index_mapper(value)), seed=seed).intdigest() % client.g)


def supports(kind, *more, **fixed):
    """For which of the first two values a hashed report speaks; of the first and the last, on a domain asked for."""
    client_of = cache(lambda epsilon, values: kind(epsilon, values, *more, **fixed))

    def draw(dataset, size, rng, values=None, epsilon=EPSILON):
        client = client_of(epsilon, values or VALUES)
        drawn = [client.privatise(dataset) for _ in range(size)]
        return np.array([[speaks(client, report, value) for value in (1, values or 2)] for report in drawn])

    return draw


def sketched(*, is_hadamard):
    """Reports of Apple's sketches with the epsilon that an audit asks for."""

    def draw(dataset, size, rng, epsilon=EPSILON):
        return flat(CMSClient(epsilon, _SKETCH, WIDTH, is_hadamard=is_hadamard))(dataset, size, rng)

    return draw


def flat(client):
    """Reports of a vector and where it comes from, as one vector."""

    def draw(dataset, size, rng):
        return np.array([np.hstack(client.privatise(dataset)) for _ in range(size)], dtype=float)

    return draw


def coefficients(client, *, typed):
    """Hadamard coefficients, each with its index; `typed`: with the type of the report, as the client hands it out."""

    def draw(dataset, size, rng):
        drawn = [client.privatise(dataset) for _ in range(size)]
        return [[type(report).__name__] * typed + [number for pair in report for number in pair] for report in drawn]

    return draw


def tree_histogram(dataset, size, rng):
    """For which of two prefixes the report of a random prefix speaks, and for which of two words that of the word."""
    client = TreeHistClient(EPSILON, 1, 2)
    reported = ((client.fragment_estimator, ("0*", "1*")), (client.word_estimator, ("00", "11")))

    def row(reports):
        pairs = zip(reported, reports, strict=True)
        return [speaks(oracle, report, value) for (oracle, values), report in pairs for value in values]

    return np.array([row(client.privatise(dataset)) for _ in range(size)])


def prefix_extending(dataset, size, rng):
    """The group, and for which of two prefixes of its length the report speaks."""
    client = PEMClient(EPSILON, 1, 3, 1)

    def row(report, group):
        return [float(group), *(speaks(client.client, report, bit * (group + 2)) for bit in "01")]

    return np.array([row(*client.privatise(dataset)) for _ in range(size)])


def hadamard_response(epsilon, values):
    """The client with the permutation of a server, as its documentation asks for."""
    server = HadamardResponseServer(epsilon, values)
    return HadamardResponseClient(epsilon, values, server.get_hash_funcs())


def rappor():
    """One cohort, one hash function, a Bloom filter of WIDTH bits."""
    return RAPPORClient(SCALE, WIDTH, [[generate_hash(WIDTH, 0)]], num_of_cohorts=1)


_HADAMARD = HadamardMechClient(EPSILON, VALUES, None, use_optimal_t=True)
_RESPONSES = reports(hadamard_response)
_SKETCH = generate_hash_funcs(2, WIDTH)
_SIGNED = list(zip(generate_hash_funcs(2, WIDTH), generate_hash_funcs(2, 2), strict=True))

MECHANISMS = {
    "DE": reports(DEClient),
    "SUE": reports(UEClient),
    "OUE": reports(UEClient, use_oue=True),
    "HE": reports(HEClient),
    "BLH": supports(LHClient),
    "OLH": supports(LHClient, use_olh=True),
    "FLH": supports(FastLHClient, SEEDS, use_olh=True),
    "HM": coefficients(_HADAMARD, typed=True),
    "HM as a list": coefficients(_HADAMARD, typed=False),
    "HR, high privacy": _RESPONSES,
    "HR, general": lambda dataset, size, rng: _RESPONSES(dataset, size, rng, epsilon=GENERAL),
    "RAPPOR": flat(rappor()),
    "CMS": sketched(is_hadamard=False),
    "HCMS": sketched(is_hadamard=True),
    "PCS": flat(PCSClient(EPSILON, 2, WIDTH, _SIGNED)),
    "PEM": prefix_extending,
    "TreeHistogram": tree_histogram,
}
