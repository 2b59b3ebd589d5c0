"""Flower 1.41.0: local differential privacy of the updates that clients send. Any two updates are neighbors."""

from __future__ import annotations

from audit import Local, PrivacyClaim
from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of
from wild.searched import EVERY_SETTING, gaussian

RELEASE = Release("flwr", "flwr", "Flower 1.41.0", budget=8_000, own_randomness=False)
_SAYS = 'LocalDpMod(clipping_norm, sensitivity, epsilon, delta): "Modifier for local differential privacy"'
_AT = {"epsilon": 0.9, "delta": 1e-3, "relation": Local(), "tolerance": 1.5}
_ENOUGH = {"budget": 60_000}  # for a PASS at this tolerance


def _local(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, Local(), f"Flower 1.41.0, {_SAYS}")


ENTRIES = [
    RELEASE.entry("LocalDpMod", [([-5.0, 1.0], [5.0, -1.0]), ([0.1, 0.0], [0.5, 0.0])], _SAYS, **_AT, **_ENOUGH),
    RELEASE.entry("LocalDpMod, one parameter", [([-0.5], [0.5]), ([0.1], [3.0])], _SAYS, **_AT, **_ENOUGH),
    RELEASE.entry(
        "LocalDpMod, update of zeros",
        [([0.0], [0.5])],
        _SAYS,
        **_AT,
        refuted="`clip_inputs_inplace` in `flwr/supercore/differential_privacy.py` divides by the norm of the update: "
        "where it is 0, the mod raises ZeroDivisionError, and the server gets an error in place of the noisy update. "
        "It learns which clients' training changed nothing. To mend it, leave an update of norm 0 as it is and add the "
        "noise. The documentation has no caveat.",
    ),
    RELEASE.entry(
        "LocalDpMod, one parameter",
        [([0.1], [0.3])],
        _SAYS,
        epsilon=0.9,
        delta=1e-3,
        relation=Local(),
        bits=True,
        query=lambda update: update[0],
        tolerance=2.0,
        refuted="`flwr/supercore/differential_privacy.py: add_gaussian_noise_inplace` adds doubles of "
        "`numpy.random.normal` to the parameters: the last bits of the sum tell the update. The documentation has no "
        "caveat. Parameters of 32 bits are rounded after that, and were not audited.",
    ),
    RELEASE.entry(
        "LocalDpMod, update with NaN",
        [([None], [0.5])],
        _SAYS,
        **_AT,
        refuted="`clip_inputs_inplace` in `flwr/supercore/differential_privacy.py` scales by "
        "`min(1, clipping_norm / input_norm)`, which is 1 in Python when the norm is NaN: an update with NaN is "
        "neither clipped nor refused, and NaN plus noise is NaN. The server learns which clients' training diverged. "
        "To mend it, replace such an update by zeros before the noise. The documentation has no caveat.",
    ),
    RELEASE.entry(
        "LocalDpMod searched",
        [([-0.5], [0.5])],
        "",
        claim=_local,
        mechanism=gaussian("flwr", "LocalDpMod searched", "deviation"),
        **EVERY_SETTING,
        refuted="`flwr/supercore/differential_privacy.py: add_localdp_gaussian_noise_to_params` takes the deviation "
        "sensitivity sqrt(2 log(1.25 / delta)) / epsilon for every epsilon; it is proved for epsilon < 1 and too small "
        "for large ones. The mod accepts every epsilon >= 0, and its documentation names no limit.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="adap/flower",
    access={"*, bits *": ALL_BITS, "*": "what one client sends to the server"},
    not_audited=(
        "Central differential privacy (`DifferentialPrivacyServerSideFixedClipping` and its siblings): they take a "
        "noise multiplier and claim no epsilon.",
        "The Renyi accountant in `flwr.supercore.privacy_accounting`.",
        "Adaptive clipping, whose clients send a bit about their norm.",
        "Several rounds, and a `sensitivity` below twice the clipping norm, which the mod accepts.",
        "Metrics and the number of examples, which a client sends beside its update.",
    ),
)
