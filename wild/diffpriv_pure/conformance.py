"""diffpriv-pure's answers to the queries that every library is asked; runs in the library's environment."""

import diffpriv_pure as pure

from audit.extensions.conformance import Library

library = Library("diffpriv_pure", distribution="diffpriv-pure", quote=pure.laplace_noise)
library.typed('docstring of private_sum: "Clamp values to bounds"')

library.answer({
    "sum": lambda p: lambda data: pure.private_sum(data, p.bounds, p.epsilon),
    "mean": lambda p: lambda data: pure.private_mean(data, p.bounds, p.epsilon),
}, sensitivity="usual", law="usual",
    quote='docstring of private_mean: "noise calibrated for sensitivity (hi-lo)/n"')  # fmt: skip
library.answer({
    "count": lambda p: lambda data: pure.private_count(len(data), p.epsilon),
}, relation="add/remove", quote='docstring of private_count: "Add geometric noise to integer count"')  # fmt: skip
library.answer({
    "laplace noise": lambda p: lambda value: value + pure.laplace_noise(p.noise, p.epsilon),
}, law="usual", native="usual")  # fmt: skip
library.answer({
    "geometric noise": lambda p: lambda value: value + pure.geometric_noise(p.epsilon / p.sensitivity),
})  # fmt: skip
library.answer({
    "gaussian noise": lambda p: lambda value: value + pure.gaussian_noise(
        pure.gaussian_sigma(p.sensitivity, p.epsilon, p.delta)
    ),
}, law="classical")  # fmt: skip
