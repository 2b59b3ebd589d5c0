"""Pictures of a certificate's checks as inline SVG, computed from the record of the check and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from audit.report.pictures.frame import Picture
from audit.report.pictures.privacy import privacy_pictures
from audit.report.pictures.randomness import randomness_pictures
from audit.report.pictures.utility import (
    consistency_pictures,
    guarantee_pictures,
    inequality_pictures,
    lower_bound_pictures,
    rate_pictures,
)

_DRAWN: Mapping[str, Callable[[Mapping[str, Any]], list[Picture]]] = {
    "privacy": privacy_pictures,
    "precision": privacy_pictures,
    "randomness": randomness_pictures,
    "consistency": consistency_pictures,
    "guarantee": guarantee_pictures,
    "inequality": inequality_pictures,
    "lower-bound": lower_bound_pictures,
    "rate": rate_pictures,
}


def pictures_of(record: Mapping[str, Any]) -> list[Picture]:
    """The pictures of a recorded check; a kind that has none yet is told in words and numbers."""
    draw = _DRAWN.get(record["kind"])
    return [] if draw is None else draw(record)
