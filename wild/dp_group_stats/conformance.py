"""dp-group-stats' answers to the queries that every library is asked: its noise, added as its README adds it."""

from dp_group_stats import laplace_noise

from audit.conformance import Library

library = Library("dp_group_stats", distribution="dp-group-stats", quote=laplace_noise)
library.typed('docstring of laplace_noise: "Sample from a Laplace distribution"')


def clipped(data, p):
    return sum(min(max(value, p.lower), p.upper) for value in data)


library.answer({
    "sum": lambda p: lambda data: clipped(data, p) + laplace_noise(p.epsilon, max(map(abs, p.bounds))),
}, relation="add/remove")  # fmt: skip
library.answer({"laplace noise": lambda p: lambda value: value + laplace_noise(p.epsilon, p.sensitivity)})
