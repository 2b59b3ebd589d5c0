"""multi-freq-ldpy's answers to the queries that every library is asked: the reports of one user."""

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

from audit.extensions.conformance import Library

library = Library("multi_freq_ldpy", distribution="multi-freq-ldpy", quote=GRR_Client)
GRR_Client(0, 3, 1.0), UE_Client(0, 3, 1.0, True)  # compiled once, and not in each process that draws
library.answer({
    "randomized response": lambda p: lambda record: p.categories[
        GRR_Client(p.place(record), len(p.categories), p.epsilon)
    ],
    "frequency oracle": lambda p: lambda record: UE_Client(p.place(record), len(p.categories), p.epsilon, True),
}, law="usual")  # fmt: skip
