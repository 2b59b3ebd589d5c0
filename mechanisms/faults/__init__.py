"""Broken variants of the reference mechanisms, one fault each, with their true privacy in the docstring.

Every check expects FAIL: the audit must convict the fault at significance 0.001 with at most 200,000 outputs per
side. `BASIC` is gathered from the modules of this package, so that adding a fault touches one file; `CHECKS` is these
and the faults of each topic and paper.
"""

from mechanisms import PAPERS, TOPICS, gather

BASIC = gather(list(__path__), __name__)
_OF_PAPERS = gather([], "mechanisms.papers", topics=[f"{paper}.faults" for paper in PAPERS])
CHECKS = [*BASIC, *gather([], __name__, topics=TOPICS), *_OF_PAPERS]
