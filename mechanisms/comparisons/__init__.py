"""Reference comparisons: one claim each, on this package's mechanism, libraries, and programs in C and JavaScript.

`dp-audit compare mechanisms.comparisons` runs them. Every claim has epsilon = 1, so that errors can be compared; the
laws stated for libraries are those of their documentation. Needs the extra `libraries`; a program is left out where its
compiler or interpreter is missing.
"""

from __future__ import annotations

from mechanisms.comparisons import count, histogram, mean, response

COMPARISONS = [count.COMPARISON, mean.COMPARISON, histogram.COMPARISON, response.COMPARISON]
