"""eeprivacy 0.0.5: any quantile."""

from hypothesis import strategies as st

from audit import AddRemove, PrivacyClaim
from wild.searched import Release


def _claim(quantile: float) -> PrivacyClaim:
    said = 'eeprivacy 0.0.5, docstring of PrivateQuantile: "Find quantiles privately"'
    return PrivacyClaim(1.0, 0.0, AddRemove(), said)


CHECKS = [
    Release("eeprivacy", "eeprivacy", "eeprivacy 0.0.5", own_randomness=False).search(
        "PrivateQuantile",
        lambda quantile: [([0.5, 1.5, 2.5], [0.5, 1.5, 2.5, 0.5]), ([1.5, 1.5], [1.5, 1.5, 2.5])],
        _claim,
        named="eps=1, any quantile",
        parameters={"quantile": st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])},
    )
]
