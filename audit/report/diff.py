"""Compare two certificates: what got worse from an old one to a new one, and what else changed.

Regressions are verdicts that stand worse, claims and expectations that were loosened, bounds that moved the wrong way
by more than noise, resolutions that got coarser, and checks that are gone. Certified bounds and simulated means are
noisy: they have moved when exact intervals of the rate of right guesses, or the recorded ones of the means, lie apart.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.claims import claim_of
from audit.game.guesses import GameCounts
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.wording import PRIVACY_KINDS, claimed, interval, number, standing_of

_SAME = 1e-4  # relative: computed numbers may differ in their last digits from machine to machine
_NOISE = 1e-4  # probability that either end of an interval of right guesses is wrong
_COARSER = 0.02  # relative: adding a check to a run takes that little from the resolution of the others
_LOOSER_IF_LARGER = ("tolerance", "slack", "margin", "constant_margin", "beta")

Record = Mapping[str, Any]
Found = Iterator[tuple[str, bool]]  # what changed, and whether that is for the worse


@dataclass(frozen=True)
class Change:
    """One difference: the check, what changed from what to what, and whether that is for the worse."""

    check: str
    what: str
    is_regression: bool = True

    def __str__(self) -> str:
        return f"{'worse' if self.is_regression else 'other'}  {self.check}: {self.what}"


def changes(old: Record, new: Record) -> list[Change]:
    """Return the differences of two certificates, regressions first."""
    before = {check["name"]: check for check in old["checks"]}
    after = {check["name"]: check for check in new["checks"]}
    lost = [Change(name, "no longer checked") for name in before if name not in after]
    more = [Change(name, "is new", False) for name in after if name not in before]
    both = [name for name in before if name in after]
    seen = [Change(name, *found) for name in both for found in _changed(before[name], after[name])]
    return sorted([*lost, *seen, *more], key=lambda change: not change.is_regression)


def _changed(old: Record, new: Record) -> Found:
    if old["kind"] != new["kind"]:
        yield f"was a check of kind {old['kind']}, is one of kind {new['kind']}", True
        return
    if (old["verdict"], old["basis"]) != (new["verdict"], new["basis"]):
        was, now = standing_of(old), standing_of(new)
        weaker = now is was and old["basis"] == "exact" and new["basis"] == "statistical"
        said = f"{old['verdict']} ({old['basis']}) became {new['verdict']} ({new['basis']}): {new['reason']}"
        yield said, now.severity > was.severity or weaker
    if old["expected"] != new["expected"]:
        yield f"expected {old['expected']}, now expected {new['expected']}", new["expected"] != "PASS"
    yield from _claim(old, new)
    before, after = (record["settings"].get("tolerance") for record in (old, new))
    if before != after:
        yield f"tolerance was {_plain(before)}, is {_plain(after)}", after is not None and after > (before or 0)
    if old["kind"] in PRIVACY_KINDS:
        yield from _epsilons(old, new)
    elif old["kind"] != "randomness":
        yield from _found(old, new)


def _claim(old: Record, new: Record) -> Found:
    was, now = ({**record["claim"], "source": ""} for record in (old, new))
    if was == now:
        return
    said = f"claimed {claimed(old)}, now {claimed(new)}"
    if old["kind"] in PRIVACY_KINDS:
        weaker, stronger = claim_of(old["claim"]), claim_of(new["claim"])  # tested where the old one is
        implied = all(stronger.profile(point.epsilon) <= point.delta * (1 + _SAME) for point in weaker.points)
        yield said, was["relation"] != now["relation"] or not implied
    elif was.get("terms") == now.get("terms"):
        yield said, False
    else:
        for key in sorted({*was["terms"], *now["terms"]}):
            before, after = was["terms"].get(key), now["terms"].get(key)
            if before != after:  # larger margins are looser; any other change has to be looked at
                tighter = key in _LOOSER_IF_LARGER and float(after or 0) < float(before or 0)
                yield f"{key} of the claim was {_plain(before)}, is {_plain(after)}", not tighter


def _epsilons(old: Record, new: Record) -> Found:
    if old["exact_epsilon"] is not None and new["exact_epsilon"] is not None:
        was, now = float(old["exact_epsilon"]), float(new["exact_epsilon"])
        if _apart(was, now):
            yield f"exact epsilon was {number(was, 6)}, is {number(now, 6)}", now > was
    before, after = _guesses(old), _guesses(new)
    if before and after and after[0] > before[1]:
        said = f"certified epsilon >= {number(old['epsilon_lower_bound'])}, now {number(new['epsilon_lower_bound'])}"
        yield f"{said}: right guesses were {interval(before)} of all, are {interval(after)}", True
    was, now = float(old["resolution"]), float(new["resolution"])
    if now > was * (1 + _COARSER):
        rests_on_it = (new["verdict"], new["basis"]) == ("PASS", "statistical")
        yield f"resolution was {number(was)}, is {number(now)}", rests_on_it


def _guesses(record: Record) -> tuple[float, float] | None:
    """Return an exact interval of the rate of right guesses; None without a game."""
    game = record["evidence"]["game"]
    if game is None:
        return None
    counts = GameCounts(**game["counts"])
    guesses = counts.correct, counts.correct + counts.wrong, _NOISE
    return (proportion_lower_bound(*guesses), proportion_upper_bound(*guesses)) if guesses[1] else None


def _found(old: Record, new: Record) -> Found:
    """Yield the quantities whose intervals lie apart."""
    before = {part["quantity"]: part for part in old["found"]}
    for part in new["found"]:
        quantity = part["quantity"]
        if quantity not in before:
            continue
        was, now = ((float(each["lower"]), float(each["upper"])) for each in (before[quantity], part))
        grown, shrunk = now[0] > was[1] and _apart(was[1], now[0]), now[1] < was[0] and _apart(was[0], now[1])
        if grown or shrunk:
            wanted_large = "exponent" in quantity or new["claim"]["terms"].get("sense") == ">="
            yield f"{quantity} was in {interval(was)}, is in {interval(now)}", shrunk if wanted_large else grown


def _apart(was: float, now: float) -> bool:
    return not math.isclose(was, now, rel_tol=_SAME, abs_tol=1e-9)


def _plain(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
