"""Two certificates compared: what got worse from an old one to a new one, and what else changed.

Regressions are verdicts that stand worse, claims and expectations that were loosened, bounds that moved the wrong way
by more than noise, resolutions that got coarser, and checks that are gone. Certified bounds and simulated means are
noisy: they have moved when exact intervals of the rate of right guesses, or the recorded ones of the means, lie apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from audit.base.verdict import Verdict, standing
from audit.claims import claim_of
from audit.game.guesses import GameCounts
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.wording import PRIVACY_KINDS, claimed, number

_SAME = 1e-4  # relative: computed numbers may differ in their last digits from machine to machine
_NOISE = 1e-4  # probability that either end of an interval of right guesses is wrong
_COARSER = 0.02  # relative: adding a check to a run takes that little from the resolution of the others
_LOOSER_IF_LARGER = ("tolerance", "slack", "margin", "constant_margin", "beta")

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One difference.

    Parameters
    ----------
    check : str
        Name of the check.
    what : str
        What changed, from what to what.
    is_regression : bool
        Whether that is for the worse.
    """

    check: str
    what: str
    is_regression: bool = True

    def __str__(self) -> str:
        return f"{'worse' if self.is_regression else 'other'}  {self.check}: {self.what}"


def changes(old: Record, new: Record) -> list[Change]:
    """What changed between two certificates, regressions first."""
    before = {check["name"]: check for check in old["checks"]}
    after = {check["name"]: check for check in new["checks"]}
    lost = [Change(name, "no longer checked") for name in before if name not in after]
    more = [Change(name, "is new", False) for name in after if name not in before]
    both = [(before[name], after[name]) for name in before if name in after]
    seen = chain.from_iterable(_changed(*pair) for pair in both)
    return sorted([*lost, *seen, *more], key=lambda change: not change.is_regression)


def _changed(old: Record, new: Record) -> Iterator[Change]:
    name = new["name"]
    if old["kind"] != new["kind"]:
        yield Change(name, f"was a check of kind {old['kind']}, is one of kind {new['kind']}")
        return
    for what, is_regression in chain(
        _verdict(old, new), _expectation(old, new), _claim(old, new), _tolerance(old, new), _bounds(old, new)
    ):
        yield Change(name, what, is_regression)


Found = Iterator[tuple[str, bool]]


def _verdict(old: Record, new: Record) -> Found:
    if (old["verdict"], old["basis"]) != (new["verdict"], new["basis"]):
        was, now = (standing(Verdict(record["verdict"]), Verdict(record["expected"])) for record in (old, new))
        weaker = now is was and old["basis"] == "exact" and new["basis"] == "statistical"
        said = f"{old['verdict']} ({old['basis']}) became {new['verdict']} ({new['basis']}): {new['reason']}"
        yield said, now.severity > was.severity or weaker


def _expectation(old: Record, new: Record) -> Found:
    if old["expected"] != new["expected"]:
        yield f"expected {old['expected']}, now expected {new['expected']}", new["expected"] != "PASS"


def _claim(old: Record, new: Record) -> Found:
    was, now = ({**record["claim"], "source": ""} for record in (old, new))
    if was == now:
        return
    said = f"claimed {claimed(old)}, now {claimed(new)}"
    if old["kind"] in PRIVACY_KINDS:
        yield said, was["relation"] != now["relation"] or not _implies(new, old)
    elif was.get("terms") != now.get("terms"):
        yield from _terms(was["terms"], now["terms"])
    else:
        yield said, False


def _implies(stronger: Record, weaker: Record) -> bool:
    """Whether one claim promises, at each point where the other is tested, no less."""
    new, old = claim_of(stronger["claim"]), claim_of(weaker["claim"])
    return all(new.profile(point.epsilon) <= point.delta * (1 + _SAME) for point in old.points)


def _terms(old: Record, new: Record) -> Found:
    """Terms of a utility claim: larger margins are looser; any other change has to be looked at."""
    for key in sorted({*old, *new}):
        was, now = old.get(key), new.get(key)
        if was != now:
            tighter = key in _LOOSER_IF_LARGER and float(now or 0) < float(was or 0)
            yield f"{key} of the claim was {_plain(was)}, is {_plain(now)}", not tighter


def _tolerance(old: Record, new: Record) -> Found:
    was, now = (record["settings"].get("tolerance") for record in (old, new))
    if was != now:
        yield f"tolerance was {_plain(was)}, is {_plain(now)}", now is not None and now > (was or 0)


def _bounds(old: Record, new: Record) -> Found:
    if old["kind"] in PRIVACY_KINDS:
        yield from _epsilons(old, new)
    elif old["kind"] != "randomness":
        yield from _found(old, new)


def _epsilons(old: Record, new: Record) -> Found:
    was, now = (_number(record["exact_epsilon"]) for record in (old, new))
    if was is not None and now is not None and _apart(was, now):
        yield f"exact epsilon was {number(was, 6)}, is {number(now, 6)}", now > was
    before, after = _guesses(old), _guesses(new)
    if before and after and after[0] > before[1]:
        said = f"certified epsilon >= {number(old['epsilon_lower_bound'])}, now {number(new['epsilon_lower_bound'])}"
        yield f"{said}: right guesses were {_span(before)} of all, are {_span(after)}", True
    was, now = (float(record["resolution"]) for record in (old, new))
    if now > was * (1 + _COARSER):
        rests_on_it = (new["verdict"], new["basis"]) == ("PASS", "statistical")
        yield f"resolution was {number(was)}, is {number(now)}", rests_on_it


def _guesses(record: Record) -> tuple[float, float] | None:
    """Exact interval of the rate of right guesses; None without a game."""
    game = record["evidence"]["game"]
    if game is None:
        return None
    counts = GameCounts(**game["counts"])
    guesses = counts.correct, counts.correct + counts.wrong, _NOISE
    return (proportion_lower_bound(*guesses), proportion_upper_bound(*guesses)) if guesses[1] else None


def _found(old: Record, new: Record) -> Found:
    """Intervals of one quantity that lie apart."""
    before = {part["quantity"]: part for part in old["found"]}
    sense = new["claim"]["terms"].get("sense")
    for part in new["found"]:
        quantity = part["quantity"]
        if quantity not in before:
            continue
        was, now = ((float(each["lower"]), float(each["upper"])) for each in (before[quantity], part))
        grown, shrunk = now[0] > was[1] and _apart(was[1], now[0]), now[1] < was[0] and _apart(was[0], now[1])
        if grown or shrunk:
            wanted_large = "exponent" in quantity or sense == ">="
            yield f"{quantity} was in {_span(was)}, is in {_span(now)}", shrunk if wanted_large else grown


def _apart(was: float, now: float) -> bool:
    return not math.isclose(was, now, rel_tol=_SAME, abs_tol=1e-9)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _plain(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _span(interval: tuple[float, float]) -> str:
    return f"[{number(interval[0])}, {number(interval[1])}]"
