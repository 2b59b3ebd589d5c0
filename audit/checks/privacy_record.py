"""State the types of the parts that only records of privacy and precision checks have."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict, Union

from audit.checks.base import Settings
from audit.checks.methods import CoreMethod, Method
from audit.claims import claim_types
from audit.limits import Count, Limits, Positive

Floats = Literal["real", "audit"]


def ways_of(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ways in which a privacy check looked, by name, as they are recorded; none for other evidence."""
    return {way["way"]: way for way in evidence.get("ways", ())}


class PrivacySettings(Settings):
    """Settings of a privacy check."""

    method: Method | CoreMethod
    tolerance: Positive | None
    floats: NotRequired[Literal["audit"]]


class PairRecord(TypedDict):
    """The beginnings of two neighboring datasets."""

    left: str
    right: str


class WitnessRecord(TypedDict):
    """An event that breaks the claim, the pair as code, and the dataset whose outputs the event catches too often."""

    pair: Count
    left: str
    right: str
    direction: Literal["left", "right"]
    event: str


def privacy_types() -> dict[str, Any]:
    """Return the types of claim, settings and inputs."""
    return {
        "claim": Union[*claim_types()],
        "settings": PrivacySettings,
        "pairs": Annotated[tuple[PairRecord, ...], Limits(shortest=1)],
        "witness": WitnessRecord | None,
    }
