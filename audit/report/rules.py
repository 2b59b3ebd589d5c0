"""State what the parts of a certificate have to do with each other: one rule per line, with what a breach of it says.

The rules hold for whatever a run writes. They reveal evidence that contradicts itself, its check, or the plan of its
run, but not invented evidence that agrees with itself. See docs/threat-model.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from pathlib import PurePosixPath
from typing import Any

from audit.checks.allowance import name_key
from audit.checks.confirm import CONFIRMING, LOOKS, confirming_level, growth
from audit.checks.plain import from_plain
from audit.checks.privacy.early_look import EARLY_SHARE
from audit.checks.privacy.enumerated import Enumerated
from audit.checks.privacy.guess_game import SHARES
from audit.checks.privacy.stated_law import UNEVALUATED
from audit.checks.privacy.unvaried import processes_due
from audit.checks.utility.guarantee import FIRST_LOOKS, looks_for
from audit.claims import claim_of, is_known_relation
from audit.game.fixed_budget import VIRTUAL
from audit.game.sought import unknown_words
from audit.report.call_rules import counts_its_calls, long_call_fits
from audit.report.certificate import digest, planned_terms
from audit.report.wording import is_privacy, ways_of
from audit.training.runs.recorder import RECORDED

_ROUNDING = 1e-9  # relative
_UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError)
_METHODS = {  # that look in a way
    "guess game": ("auto", "fixed"),
    "early look": ("auto",),
    "stated law": ("auto", "exact"),
    "sequential game": ("sequential",),
    "enumeration": ("enumerate",),
}

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A check of a certificate, with what its rules read."""

    check: Record
    run: Record  # the certificate
    look: int | None = None  # at fresh outputs; None for the first evidence

    def __getitem__(self, key: str) -> Any:
        """Return a way of looking, or a part of the evidence, settings or record; None if there is none."""
        return self._parts.get(key)

    @cached_property
    def _ways(self) -> Mapping[str, Any]:
        return ways_of(self.check["evidence"])

    @cached_property
    def _parts(self) -> Mapping[str, Any]:
        return {**self.check, **self.check["settings"], **self.check["evidence"], **self._ways}

    @property
    def played(self) -> int:
        """Outputs that the game counts, and those that trained it."""
        return int(sum(self["guess game"]["counts"].values()) + 2 * len(self["pairs"]) * self["guess game"]["training"])

    @property
    def outcome(self) -> Any:
        return (self["sequential game"] or self["early look"])["outcome"]

    @property
    def named_pairs(self) -> list[int]:
        law = self["stated law"] or {"laws": (), "curve": None}
        games = (self["guess game"], self["sequential game"], self["early look"])
        single = (*games, law["curve"], self["witness"], self["conversation"], self["forks"])
        return [part["pair"] for part in (*law["laws"], *single) if part]

    @property
    def laws(self) -> Any:
        return self["stated law"]["laws"]

    @property
    def proof(self) -> Any:
        return self._ways["enumeration"]  # settings have a part of this name, too

    @property
    def means(self) -> list[Record]:
        points = [*(self["points"] or ()), *(self["compared"] or ())]
        return [part for part in (*(point["sample"] for point in points), self["sample"]) if part]

    def has_own_coins(self) -> bool:
        """Test whether the coins follow from a seed and the name: the run's, or in a session of pytest a test's own."""
        seed, key, found = self.run["settings"]["seed"], name_key(self["name"]), self["guess game"]["coins"]
        own = seed if self["seed"] is None else self["seed"]
        last = [VIRTUAL] if self.look is None else [CONFIRMING + self.look, VIRTUAL]
        return found in ([seed, key, *last], [own + key, *last])

    def asked_as_many(self) -> bool:
        """Test whether a mechanism was called in new processes until one gave another value, or as often as is due."""
        found, due = self["new processes"], processes_due(claim_of(self["claim"]))
        if found["failure"]:
            return bool(found["processes"] == found["alike"] == 0)
        if found["alike"] == found["processes"]:
            return bool(found["processes"] == due)
        return bool(found["processes"] == found["alike"] + 1 <= due)

    def is_of_a_law(self) -> bool:
        """Test whether what went wrong may stand beside a game: only a law that cannot be evaluated ends no game."""
        return not self["guess game"] or self["failure"].startswith(UNEVALUATED)

    def is_one_sided(self) -> bool:
        game, counts = self["guess game"], self["guess game"]["counts"]
        return any(game[side] == "never" and not counts[f"left_{side}"] + counts[f"right_{side}"] for side in _SIDES)

    def has_own_witness(self) -> bool:
        witness, game, counts = self["witness"], self["guess game"], self["guess game"]["counts"]
        leads = counts["left_plus"] - counts["right_plus"] >= counts["right_minus"] - counts["left_minus"]
        due = [game["pair"], *(("left", game["plus"]) if leads else ("right", game["minus"]))]
        return [witness["pair"], witness["direction"], witness["event"]] == due and self["verdict"] == "FAIL"

    def is_fitted_as_finely(self, law: Record) -> bool:
        """Test whether a resolution is that of its outputs, at an equal share for each law and each test of it."""
        level = 2 * math.exp(-(law["fit_resolution"] ** 2) * 2 * law["fit_outputs"])
        tests = self["significance"] / len(self.laws) / level
        return tests > 0.5 and math.isclose(tests, round(tests), rel_tol=1e-6)

    def has_own_wealth(self) -> bool:
        """Test whether the wealth that decides is the one against the claim."""
        grid, tested = self.outcome["grid"], (self["tested"] or self["claim"])["epsilon"]
        wealth = dict(zip(grid, self.outcome["grid_log_wealth"], strict=True))
        return wealth[tested] == self.outcome["log_wealth"] and all(a < b for a, b in pairwise(grid))

    def has_batches_of_its_steps(self) -> bool:
        """Test whether batches are those of all steps; of rounds where groups take turns, and of one where bins do."""
        claimed, steps = self["claim"]["terms"], self["samples"]
        turns = claimed["separation"] or 1
        due = {"cyclic": steps // turns, "bins": min(steps, turns)}.get(claimed["sampling"], steps)
        return bool(sum(times for _, times in self["batches"]["sizes"]) == due)

    def has_inclusions_of_its_batches(self) -> bool:
        """Test whether records were included as often as batches held one; rounds and bins count some of them once."""
        batches = self["batches"]
        held, included = (sum(n * k for n, k in batches[part]) for part in ("sizes", "inclusions"))
        if self["claim"]["terms"]["sampling"] in ("cyclic", "bins") and batches["inclusions"]:
            return bool(included <= held <= included + batches["twice"] + batches["close"])
        return bool(included + batches["twice"] == held or not batches["inclusions"])

    def has_planned_looks(self) -> bool:
        taken, planned = [look["trials"] for look in self["looks"]], self["planned"]
        early = [looks_for(self["budget"], True, first)[1] for first in FIRST_LOOKS]
        plans = [*early, looks_for(self["budget"], False)[1]]
        return any((planned, taken) == (len(plan), plan[: len(taken)]) for plan in plans)


def _same(value: float, due: float) -> bool:
    return math.isclose(value, due, rel_tol=_ROUNDING)


def _bets_fit(sample: Record) -> bool:
    """Test whether losses in the support with this mean can bring the growth of every bet: logarithms are concave."""
    low, mean, high, count = (float(sample[key]) for key in ("low", "mean", "high", "count"))
    sides = (sample["above_low"], mean - low), (sample["below_high"], high - mean)
    grown = [(n, r, d) for bets, d in sides if bets for r, n in zip(bets["rates"], bets["growth"], strict=True)]
    room = _ROUNDING * max(1.0, abs(mean))
    return low - room <= mean <= high + room and all(n <= count * math.log1p(r * max(d, 0)) + 1e-6 for n, r, d in grown)


_SIDES = ("plus", "minus")
_ANOMALOUS = ("nan", "raised")
_COMPUTED = ("evaluator", "stated values", RECORDED)  # evidence that is not bounded by a budget
Rule = tuple[str, str, Callable[[Case], bool]]  # the part that it is about, what a breach of it says, the rule
# fmt: off
PRIVACY_RULES: tuple[Rule, ...] = (
    ("pairs", "speaks of a pair that is not listed", lambda c: max(c.named_pairs, default=0) < len(c["pairs"])),
    ("method", "its method brings no such evidence", lambda c: all(
        c["method"] in methods for part, methods in _METHODS.items() if c[part])),
    ("ways", "looked twice in one way", lambda c: len(c["ways"]) == len(ways_of(c["evidence"]))),
    ("anomalies", "has more anomalies than outputs", lambda c: (
        max(map(c["anomalies"].get, _ANOMALOUS, (0, 0))) <= c["samples"])),
    ("enumeration", "does not prove of each pair", lambda c: bool(c["failure"]) or (
        [p["pair"] for p in c.proof["laws"]] == list(range(len(c["pairs"]))))),
    ("enumeration", "its laws are not those of its graphs, or its pairs not those of its domain", lambda c: (
        bool(c["failure"]) or not from_plain(Enumerated, c.proof).contradiction(c["pairs"], c["claim"]["relation"]))),
    ("guess game", "its game counts more outputs than were drawn", lambda c: c.played <= c["samples"]),
    ("guess game", "its game counts more outputs than its budget has", lambda c: c.played <= 2 * c["budget"]),
    ("guess game", "no game is planned to have its share", lambda c: c["guess game"]["share"] in SHARES),
    ("guess game", "its coins are not those of its seed and its name", Case.has_own_coins),
    ("guess game", "its events are not those that were counted", lambda c: (
        c.is_one_sided() == c["guess game"]["one_sided"])),
    ("guess game", "its calls are not those of the runs that it counts", lambda c: counts_its_calls(c["guess game"])),
    ("guess game", "its long call is not one that was drawn", lambda c: (
        long_call_fits(c["guess game"]["calls"], c["samples"] - c.played))),
    ("guess game", "looked for what no score looks for", lambda c: not unknown_words(c["guess game"]["looked_for"])),
    ("failure", "ended early, and has a game all the same", Case.is_of_a_law),
    ("witness", "its witness is not the event by which a game refuted it", Case.has_own_witness),
    ("conversation", "tells of more conversations than were held, or of ones that came back", lambda c: all(
        p[side] >= q[side] for side in ("left", "right") for p, q in pairwise(
            [dict.fromkeys(("left", "right"), c["conversation"]["conversations"]), *c["conversation"]["turns"]]))),
    ("ledger", "read more conversations than were held", lambda c: c["ledger"]["conversations"] <= c["samples"]),
    ("forks", "opened more conversations than were held", lambda c: 2 * c["forks"]["conversations"] <= c["samples"]),
    ("stated law", "does not state the law of each pair", lambda c: (
        [p["pair"] for p in c.laws] == list(range(len(c["pairs"]))))),
    ("stated law", "fits more outputs than were drawn", lambda c: (
        2 * sum(p["fit_outputs"] for p in c.laws) <= c["samples"])),
    ("stated law", "its law was not tested as finely as it says", lambda c: all(map(c.is_fitted_as_finely, c.laws))),
    ("stated law", "has a delta beyond its own bound", lambda c: all(
        p["delta_lower_bound"] <= p["delta_upper_bound"] * (1 + _ROUNDING) + 1e-12 for p in c.laws)),
    ("sequential game", "took more steps than outputs were drawn", lambda c: 2 * c.outcome["steps"] <= c["samples"]),
    ("sequential game", "took more steps than its budget has", lambda c: c.outcome["steps"] <= c["budget"]),
    ("sequential game", "its wealth is not the one against its claim", Case.has_own_wealth),
    ("new processes", "was called in other processes than its claim needs", Case.asked_as_many),
    ("early look", "its wealth is not the one against its claim", Case.has_own_wealth),
    ("early look", "took more steps than outputs were drawn", lambda c: 2 * c.outcome["steps"] <= c["samples"]),
    ("early look", "its level is not its share of the confirmation", lambda c: _same(
        c["early look"]["level"] * len(c["pairs"]), EARLY_SHARE * c.check["settings"]["confirmation"])),
)
OTHER_RULES: tuple[Rule, ...] = (  # of randomness, training and utility checks
    ("evidence", "drew more than its budget has", lambda c: c["samples"] <= c["budget"] or c["uses"] in _COMPUTED),
    ("evidence", "uses more losses than were drawn", lambda c: sum(p["count"] for p in c.means) <= c["samples"]),
    ("evidence", "its bets do not fit the mean of their losses", lambda c: all(map(_bets_fit, c.means))),
    ("cases", "has more cases than values", lambda c: len(c["cases"]) <= c["samples"]),
    ("looks", "its looks are not those that its budget plans", Case.has_planned_looks),
    ("looks", "has more trials than were drawn", lambda c: c["looks"][-1]["trials"] <= c["samples"]),
    ("looks", "fails more often than it was tried", lambda c: all(p["failures"] <= p["trials"] for p in c["looks"])),
    ("looks", "loses failures", lambda c: all(p["failures"] <= q["failures"] for p, q in pairwise(c["looks"]))),
    ("batches", "has batches of other steps", Case.has_batches_of_its_steps),
    ("batches", "includes other records than its batches hold", Case.has_inclusions_of_its_batches),
    ("noise", "has noise of more steps than were taken", lambda c: c["noise"]["steps"] <= c["samples"]),
    ("noise", "counts other noise than it judges", lambda c: (
        sum(c["noise"]["histogram"]) == c["noise"]["shape_values"])),
    ("guessed", "guesses more coins than there are, or more right than it guesses", lambda c: all(
        p["right"] <= p["guesses"] <= c["canaries"] for p in c["guessed"])),
    ("guessed", "has groups of guesses that do not grow, or that weigh more the later they come", lambda c: all(
        p["right"] <= p["guesses"] <= c["canaries"] and q["guesses"] < p["guesses"] and q["points"] > p["points"] > 0
        for look in c["guessed"] for q, p in pairwise([{"guesses": 0, "points": math.inf}, *look["groups"]]))),
    ("guessed", "adds more points than it may draw", lambda c: all(
        0 <= p["added"] <= p["width"] + p["groups"][0]["points"] if p["groups"] else p["added"] == p["width"] == 0
        for p in c["guessed"])),
    ("guessed", "shares more than the whole of its significance", lambda c: sum(
        p["share"] for p in c["guessed"]) <= 1 + _ROUNDING),
    ("comparisons", "compares more outputs than were drawn", lambda c: all(
        p["won"] + p["lost"] + p["tied"] <= c["samples"] for p in c["comparisons"])),
)
# fmt: on


def broken_rules(certificate: Record) -> Iterator[str]:
    """Yield what contradicts a rule, one line each; the certificate must have the form of its schema."""
    names = Counter(check["name"] for check in certificate["checks"])
    yield from (f"{name}: listed {many} times" for name, many in names.items() if many > 1)
    for check in certificate["checks"]:
        rules = PRIVACY_RULES if is_privacy(check) else OTHER_RULES
        yield from (f"{check['name']}: {says}" for says in _breaches(Case(check, certificate), rules))
        looks = [list(_breaches(case, rules)) for case in _fresh(check, certificate)]
        if looks and all(looks):  # its fresh outputs are from none of the looks that there may be
            yield from (f"{check['name']}: on fresh outputs, {says}" for says in looks[0])
    yield from _unplanned(certificate)
    yield from _misplaced(certificate, names)


def _misplaced(certificate: Record, names: Iterable[str]) -> Iterator[str]:
    """Yield parts about checks that are not listed, and sources outside of the folders that readers have."""
    for part in ("isolation", "sources", "printed"):
        yield from (f"{part}: no check is called {name!r}" for name in certificate.get(part, {}) if name not in names)
    for name, source in certificate.get("sources", {}).items():
        file = PurePosixPath(source.get("file") or "")
        if file.is_absolute() or ".." in file.parts:
            yield f"{name}: its source is not below a folder of the run"


def _breaches(case: Case, rules: Iterable[Rule]) -> Iterator[str]:
    return (says for part, says, rule in rules if case[part] and not _keeps(case, rule))


def _fresh(check: Record, certificate: Record) -> Iterator[Case]:
    """Yield the evidence from fresh outputs as that of a check of its own, for each look that it may come from."""
    evidence, settings = check["evidence"], check["settings"]
    if (fresh := evidence.get("confirmation")) is None:
        return
    spent = EARLY_SHARE if "early look" in ways_of(evidence) else 0.0
    level = confirming_level(settings["significance"], settings["confirmation"], spent)
    times = 1.0 if level is None else growth(settings["significance"], level)
    drawn = {**fresh, "samples": evidence["samples"] + fresh["samples"]} if is_privacy(check) else fresh
    for look in range(LOOKS):
        longer = 1.0 if look == 0 and not is_privacy(check) else times
        budget = math.ceil(longer * settings["budget"])
        case = {**check, "evidence": drawn, "settings": {**settings, "budget": budget}, "witness": None}
        yield Case(case, certificate, look)


def _keeps(case: Case, rule: Callable[[Case], bool]) -> bool:
    try:
        return rule(case)
    except _UNREADABLE:  # text where a number is due, lists of different lengths: no run writes them
        return False


def _shares_confirmation(own: Record, settings: Record) -> bool:
    """Test whether a check has the part of the run's confirmation that it has of its significance."""
    whole, part = settings.get("confirmation"), own.get("confirmation")
    if whole is None or part is None:
        return whole == part
    return _same(part * settings["significance"], whole * own["significance"])


def _unplanned(certificate: Record) -> Iterator[str]:
    """Yield where the checks are not those of the plan, or the plan does not share out the run's significance."""
    plan, settings = certificate["plan"], certificate["settings"]
    nothing: dict[str, Any] = {}
    for entry, check in zip_longest(plan["checks"], certificate["checks"], fillvalue=nothing):
        if entry.get("check") != check.get("name"):
            yield f"plan: {entry.get('check', 'nothing')} was planned where {check.get('name', 'nothing')} is listed"
            break
        own, due = check["settings"], {**entry, "budget": entry["budget"] or settings["budget"]}
        if isinstance(due["budget"], str):  # a name, from which every check computes its own
            del due["budget"]
        found = {"budget": own["budget"], "share": own["significance"], **planned_terms(check)}
        if entry["claim"] is not None:  # a plan may also name the claim that a search found
            found["claim"] = digest(check["claim"])
        if not _shares_confirmation(own, settings):
            yield f"{check['name']}: its confirmation is not its share of the run's"
        keys = [key for key in due if due[key] != {**check, "check": check["name"], **found}[key]]
        yield from (f"{check['name']}: its {key} is not the planned one" for key in keys)
        if not is_known_relation(check["claim"].get("relation", "local")):
            yield f"{check['name']}: no known relation is called {check['claim']['relation']!r}"
    shares, whole = [entry["share"] for entry in plan["checks"]], settings["significance"]
    if plan["shared"] == "equally" and not all(_same(share * len(shares), whole) for share in shares):
        yield f"plan: its {len(shares)} shares are not equal parts of the significance {whole:g}"
    if not _same(sum(shares) + plan["unspent"], whole):
        yield f"plan: its shares and what was not spent add up to {sum(shares) + plan['unspent']:g}, not {whole:g}"
