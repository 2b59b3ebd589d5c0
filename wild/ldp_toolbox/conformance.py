"""ldp-toolbox's answers to the queries that every library is asked: the reports of one user."""

from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

from audit.extensions.conformance import Library

library = Library("ldp_toolbox", distribution="ldp-toolbox", quote=GeneralizedRandomizedResponse.__init__)


def reports(protocol, read):
    def build(p):
        made = protocol(len(p.categories), p.epsilon)
        return lambda record: read(p, made.obfuscate(p.place(record)))

    return build


for _protocol in (GeneralizedRandomizedResponse, UnaryEncoding):
    _protocol(3, 1.0).obfuscate(0)  # compiled once, and not in each process that draws
library.answer({
    "randomized response": reports(GeneralizedRandomizedResponse, lambda p, place: p.categories[place]),
    "frequency oracle": reports(UnaryEncoding, lambda p, bits: bits.tolist()),
}, law="usual")  # fmt: skip
