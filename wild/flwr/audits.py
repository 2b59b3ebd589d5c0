"""Flower 1.41.0: local differential privacy of the updates that clients send. Any two updates are neighbors."""

from __future__ import annotations

from audit import Local
from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("flwr", "flwr", "Flower 1.41.0", budget=8_000, own_randomness=False)
SAYS = 'LocalDpMod(clipping_norm, sensitivity, epsilon, delta): "Modifier for local differential privacy"'
AT = {"epsilon": 0.9, "delta": 1e-3, "relation": Local(), "tolerance": 1.5}
_ENOUGH = {"budget": 60_000}  # for a PASS at this tolerance


ENTRIES = [
    RELEASE.entry("LocalDpMod", [([-5.0, 1.0], [5.0, -1.0]), ([0.1, 0.0], [0.5, 0.0])], SAYS, **AT, **_ENOUGH),
    RELEASE.entry("LocalDpMod, one parameter", [([-0.5], [0.5]), ([0.1], [3.0])], SAYS, **AT, **_ENOUGH),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="flwrlabs/flower",
    not_audited=(
        "Central differential privacy (`DifferentialPrivacyServerSideFixedClipping` and its siblings): they take a "
        "noise multiplier and claim no epsilon.",
        "The Renyi accountant in `flwr.supercore.privacy_accounting`.",
        "Adaptive clipping, whose clients send a bit about their norm.",
        "Several rounds, and a `sensitivity` below twice the clipping norm.",
        "Metrics and the number of examples, which a client sends beside its update.",
    ),
)
