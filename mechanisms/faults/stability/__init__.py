"""Broken variants of private learning via stability, one fault each.

`lyu_variants` and `noise` break sparse vector, `thresholds` what unstable values cost, `single_query` the release of
one value, `distances` and `chunks` the sensitivity, `soft_labels` the two tests of a soft label, `transfer` what is
made of the labels, `utility` what is promised of the answers. Every check expects FAIL; every class says what the
fault really gives. Faults that the printed constants are too loose to show at (1, 1e-6) are convicted one epoch at a
time, at the claim that an epoch has.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
