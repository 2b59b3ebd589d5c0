"""Say what a game would have caught by the violations planted in its training outputs, and what bars its PASS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.base.text import listed
from audit.claims import Point
from audit.game import tuning
from audit.game.plants import COUNTED, LARGEST, Claimed, Plants, event_size
from audit.subjects.pointers import COUNTS, SPENT

AS_NUMBERS = {  # what a PASS says of floating-point numbers
    "none": "",
    "real": ", as real numbers (floating point: not audited; set floats='audit')",
    "audited": " (floating point: PASS)",
}
NO_GENERAL = (
    "not refuted, but no score that competed sees every difference between outputs of this kind; give the mechanism a "
    "`law` or a `log_likelihood`, or audit parts of its outputs"
)


def claimed(point: Point, training: int, runs: int, significance: float) -> Claimed:
    """Return what decides the size of plants; interval events have a share of the significance."""
    return Claimed(point.epsilon, point.delta, training, runs, significance * tuning.SCAN_SHARE)


def lacking(plants: Plants, test: Claimed) -> str:
    """Return why what was found of the plants bars a PASS; empty if enough was."""
    if plants.kind == COUNTED:
        return ""
    advice = f"use budget={plants.budget}" if plants.budget else "use a larger budget"
    family = plants.lacking()
    if event_size(test, plants.columns) is None or (family is not None and not family.planted):
        return f"too few training outputs to find an interval of probability {LARGEST:g} at an unknown place: {advice}"
    if family is None:
        return ""
    found = f"{family.found} of {family.planted} planted violations were found of the family"
    return f"{found} {family.name!r} ({family.size}): {advice}"


def examined(plants: Plants, test: Claimed) -> str:
    """Return in one clause what would be found, and what was not examined."""
    size = event_size(test, plants.columns)
    return "every value was counted" if plants.kind == COUNTED or size is None else plants.scope(size)


def unread_reason(places: Sequence[str]) -> str:
    """Return why there is no PASS where some places of the output were not read, and what to do."""
    few = [place for place in places if "takes about" in place]
    if few:
        said = "values that the other dataset does not give: draw the noise from more random bits"
        return f"not refuted, but the noise is coarse in {listed(few)}, {said}"
    said = "return its numbers as numbers, and leave out what is not released"
    return f"not refuted, but no score reads what is in {listed(places)}: {said}"


def pointed_reason(anomalies: Iterable[str]) -> str | None:
    """Return which part of the outputs depends on earlier calls, and what to do; None where nothing points at one."""
    found = list(anomalies)
    if places := [kind.removeprefix(COUNTS) for kind in found if kind.startswith(COUNTS)]:
        return f"{listed(places)} counts the calls or tells the time: leave it out of what is audited"
    if spent := [kind.removeprefix(SPENT) for kind in found if kind.startswith(SPENT)]:
        fresh = "make the object anew in each call, as in audit.per_call(lambda data: make().release(data))"
        return f"{spent[0]}, as an object does whose budget is spent: {fresh}"
    return None
