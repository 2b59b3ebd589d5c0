"""pure-ldp 1.1.2: unary encoding, whose repair is release 1.2.0. A dataset is one record, a value from 1 on."""

from __future__ import annotations

from pure_ldp.frequency_oracles.unary_encoding import UEClient

EPSILON, VALUES = 1.0, 4


def reports(client):
    """A mechanism of `size` reports of one user."""
    return lambda dataset, size, rng: [client.privatise(dataset) for _ in range(size)]


MECHANISMS = {
    "SUE": reports(UEClient(EPSILON, VALUES)),
    "OUE": reports(UEClient(EPSILON, VALUES, use_oue=True)),
}
