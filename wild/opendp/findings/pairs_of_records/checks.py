"""opendp, pairs of records in a regression."""

from __future__ import annotations

from wild.opendp.audits import SMALL_BUDGET, Pairs, one_check

_FLAT = [[0.0, 0.6], [0.3, 0.6], [0.6, 0.6]]
_LINES: Pairs = [([*_FLAT, [0.9, 4.0]], [[0.9, 0.0], *_FLAT, [0.9, 4.0]])]
_REGRESSION = 'sklearn.linear_model.LinearRegression; make_pairwise_predict: "contributes b_in records"'

CHECKS = [
    one_check("LinearRegression", _LINES, 2.0, budget=SMALL_BUDGET, source=_REGRESSION),
]
