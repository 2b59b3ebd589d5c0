"""pure-ldp's answers to the queries that every library is asked: the reports of one user."""

from functools import partial

from pure_ldp.core import FreqOracleClient
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient

from audit.extensions.conformance import Library

library = Library("pure_ldp", distribution="pure-ldp", quote=FreqOracleClient.__init__)


def reports(client, read):
    """Answer by a client of the public keys, which are numbered from 1, as in the README."""

    def build(p):
        made = client(p.epsilon, len(p.categories))
        return lambda record: read(p, made.privatise(p.place(record) + 1))

    return build


library.answer({
    "randomized response": reports(DEClient, lambda p, place: p.categories[place]),
    "frequency oracle": reports(partial(UEClient, use_oue=True), lambda p, bits: bits),
}, law="usual")  # fmt: skip
