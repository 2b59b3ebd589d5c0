"""Every private learner of the five papers as people call it: one output is one `fit`, and all that it leaves behind.

The checks of the papers audit vectorized twins, which draw 10^5 outputs in a blink. Here the classes themselves run.
Where the release has a law, the twin states it, and each fitted object is rebuilt from its release alone: one that
holds anything else, or holds it in the order of the records, is not an output of that law. Other learners are audited
by sampling, whole fitted object and predictions together. A fitted service is not a release
(`mechanisms.papers.bassily2018.as_called`): its outputs are all answers of one run. Datasets come in several orders:
the changed record first, last and within, classes sorted.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
