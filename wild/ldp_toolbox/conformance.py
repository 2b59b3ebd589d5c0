"""ldp-toolbox's answers to the queries that every library is asked: the reports of one user."""

import numpy as np
from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

from audit.conformance import Library

library = Library("ldp_toolbox", distribution="ldp-toolbox", quote=GeneralizedRandomizedResponse.__init__)


def reports(protocol):
    def build(p):
        made = protocol(len(p.categories), p.epsilon)
        return lambda record: np.asarray(made.obfuscate(p.place(record))).tolist()

    return build


library.answer(
    {"randomized response": reports(GeneralizedRandomizedResponse), "frequency oracle": reports(UnaryEncoding)}
)
