"""Follow the noise of unmodified code: an upper confidence bound of its privacy loss, and the lines that spend it.

A run on one dataset is traced, and the same observations are forced on the other; a program finds the least shift s of
the noise with which all of them agree. Tracing only proposes. The certificate is a pair of plain runs: the unmodified
code with genuine generators and noise n on one dataset, and with noise n + s on the other, whose outputs are the same.

Theorem. Let s depend on the output alone, through a function with countably many values. Let G be the noise for which
the two outputs are the same and s costs at most epsilon, where the cost is the supremum over n of
log f(n) - log f(n + s). Then P(M(D) in S) <= e^epsilon P(M(D') in S) + P(not G) for every S: for each value of s, the
map n -> n + s keeps the volume. Where s depends on the observations on the way, the same holds for the law of the
observations, and needs that the tracer saw all of them. P(not G) is bounded by Clopper and Pearson on fresh runs.
The larger bound of the two directions is stated. If the true share of the worse direction exceeds it, then the bound of
this direction failed: each direction has the whole probability of error.

Trusted are: generators draw from the requested laws; floats are real numbers; calls are independent, and so are the
rows of one call; nothing leaves the code but its output.
"""

from pathlib import Path

from audit.api import attach

__getattr__, __dir__, __all__ = attach(Path(__file__).with_suffix(".pyi"))
