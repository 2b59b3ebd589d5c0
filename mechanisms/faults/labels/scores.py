"""Networks on bits whose scores are not the means of the bits: a softmax head, and bits divided by their number."""

from __future__ import annotations

from audit import Verdict
from mechanisms.labels.network_scores import SOURCE, ScoreErrors, Shrinks, minimizer_check
from mechanisms.labels.orderings import ordering_check
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

CHECKS = [
    minimizer_check(
        "fault/labels network scores, softmax head",
        SymmetricUnaryLabelEncoder(4, 1.0),
        "softmax",
        expected=Verdict.FAIL,
    ),
    ordering_check(
        "fault/labels network scores beats, shares",
        f"claimed after {SOURCE}",
        "Eight times the records take away a quarter of the network's Delta, when bits are divided by their number",
        Shrinks(ScoreErrors(SymmetricUnaryLabelEncoder(6, 2.0), shares=True), 500),
        Verdict.FAIL,
        share=0.5,
    ),
]
