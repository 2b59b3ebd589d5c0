"""dp-group-stats' answer to a query that every library is asked: its noise; what it is added to is the caller's."""

from dp_group_stats import laplace_noise

from audit.extensions.conformance import Library

library = Library("dp_group_stats", distribution="dp-group-stats", quote=laplace_noise)
library.answer({"laplace noise": lambda p: lambda value: value + laplace_noise(p.epsilon, p.sensitivity)}, law="usual")
