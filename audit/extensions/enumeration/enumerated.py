"""Look at a mechanism by the enumerated output laws of its code: gather them, and judge a privacy claim in rationals.

The table of a pair holds a lower bound of the probability of each output on either dataset. The rest of
probability 1 is the residual: it may belong to any output, and counts against the claim on either side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from audit.api import (
    RAISED,
    Case,
    Count,
    Finding,
    Judgment,
    Limits,
    Point,
    Verdict,
    Way,
    shorten,
    undecided,
)
from audit.extensions.enumeration.domains import Domain
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw, Table, delta_bracket
from audit.extensions.enumeration.real_outputs import OTHERS, OUTPUTS, contradiction, hold

TOLERANCE = Fraction(1, 2**40)  # of delta: thresholds of 53 bits cannot meet the numbers of a claim
_BITS = 256  # a fraction with more digits than 2^-256 has is rounded down
_HALVINGS = 40  # of an interval of epsilon
LARGEST = 64.0  # no epsilon is looked for beyond

Ratio = Annotated[str, Limits(pattern="[0-9]+(/[1-9][0-9]*)?", longest=200)]


@dataclass(frozen=True)
class PairTable:
    """Hold the laws of one pair, as a table of texts: an output, and lower bounds of its two probabilities."""

    pair: int
    law: tuple[tuple[str, Ratio, Ratio], ...]  # output, "n/d" on the left, "n/d" on the right
    states: int  # of both enumerations together
    draws: int
    behind: tuple[str, ...]  # acts of the code behind the back of the source; bar a verdict
    not_followed: tuple[str, ...]  # why there is a residual
    assumed: tuple[str, ...]  # of the code, and not tested on it; bars the word "proof"
    not_seen: tuple[str, ...]  # effects that are not looked for on this platform
    merges: int  # ways into a state, of both enumerations, of which other ways found more
    merges_tested: int  # those of them that were tested by going on so
    datasets: tuple[Count, Count] = (0, 1)  # by their numbers

    def tables(self) -> tuple[Table, Table]:
        """Return the two laws."""
        sides: tuple[dict[str, Fraction], dict[str, Fraction]] = {}, {}
        for text, *probabilities in self.law:
            for side, probability in zip(sides, probabilities, strict=True):
                if text in side or (value := Fraction(probability)) < 0:
                    raise ValueError(f"{text!r} is listed twice, or its probability is below 0")
                side[text] = value
        left, right = (Table(side, 1 - sum(side.values(), Fraction(0))) for side in sides)
        if min(left.residual, right.residual) < 0:
            raise ValueError("probabilities add up to more than 1")
        return left, right


@dataclass(frozen=True)
class RealOutputs:
    """Count outputs of the code with its real generator on one dataset: each of its law, and all others together."""

    counts: tuple[tuple[str, Count], ...]
    others: Count

    def by_text(self) -> dict[str, int]:
        """Return all counts, that of the others under the empty text."""
        return {**dict(self.counts), OTHERS: self.others}


@dataclass(frozen=True)
class Enumerated(Way):
    """Hold the laws of every pair, the domain of the pairs, and outputs of the code beside each law."""

    laws: Annotated[tuple[PairTable, ...], Limits(shortest=1)]
    covers: Domain | None = None  # the domain that all pairs together stand for, if that is more than the pairs
    outputs: tuple[RealOutputs, ...] = ()  # one for each dataset

    way: ClassVar[str] = "enumeration"

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield that it is not of each pair, or that laws, graphs, pairs and domain do not fit together."""
        if record["evidence"]["failure"]:
            return
        pairs = record["pairs"]
        if [part.pair for part in self.laws] != list(range(len(pairs))):
            yield "does not prove of each pair"
        try:
            said = self.contradiction(pairs, record["claim"]["relation"])
        except (LookupError, ValueError) as error:  # no enumeration gives such numbers
            said = str(error)
        if said:
            yield f"its laws, outputs, pairs or domain do not fit together: {said}"

    def finding(self, case: Case) -> Finding:
        """Return PASS or FAIL, proved or enumerated, or INCONCLUSIVE with the reason; and bounds of epsilon.

        Every event was examined, and every violation shows. The upper bound holds at delta + 2^-40.
        """
        delta = case.point.delta
        return Finding(
            exact=self.decide(case.point),
            lower_bound=self.epsilon_lower_bound(delta),
            upper_bound=None if self._is_open else self._epsilons(delta, 1)[1],
            resolution=case.point.epsilon,
            trained_on=math.inf,
        )

    def decide(self, point: Point) -> Judgment:
        """Judge the laws of all pairs at one (epsilon, delta)."""
        if not point.epsilon <= LARGEST:  # a claim there would take its time, and promise nothing
            return undecided(f"no claim beyond epsilon = {LARGEST:g} is judged by enumeration")
        if said := self._disagreement():
            return undecided(f"its enumerated law is not that of the code: {said}")
        if behind := sorted({name for part in self.laws for name in part.behind}):
            return undecided(f"its law is not known: behind the back of its source it uses {', '.join(behind)}")
        outputs = [text for part in self.laws for text, *_ in part.law]
        if outputs and all(text.startswith(RAISED) for text in outputs):
            return undecided(f"the mechanism {outputs[0]}, in every run")
        lower, upper = self.delta(point.epsilon)
        allowed = Fraction(point.delta)
        epsilon = f"epsilon = {point.epsilon:g}"
        if lower > allowed + TOLERANCE:
            said = f"by its exact output law delta >= {number(lower)} at {epsilon}, claimed {point.delta:g}"
            return Judgment(Verdict.FAIL, self.basis, said)
        if upper > allowed + TOLERANCE:
            causes = "; ".join(sorted({name for part in self.laws for name in part.not_followed}))
            said = f"delta is between {number(lower)} and {number(upper)} at {epsilon}: too much was left over"
            return undecided(f"{said} ({causes})")
        states = sum(part.states for part in self.laws)
        listed = f"for {len(self.laws)} pair{'s' * (len(self.laws) > 1)}, by {states:,} states of the code"
        scope = [str(self.covers)] if self.covers else []
        drawn = min((sum(each.by_text().values()) for each in self.outputs), default=0)
        scope.append(f"{drawn:,} outputs with the real generator have the law, on each dataset")
        scope += [] if any(part.merges for part in self.laws) else ["no states were merged"]
        scope += sorted({f"assumed: {said}" for part in self.laws for said in part.assumed})
        how = "proved" if self.basis == "proof" else "computed under assumptions"
        if upper <= allowed:
            said = f"{how} at {epsilon}, delta = {point.delta:g}, {listed}"
            return Judgment(Verdict.PASS, self.basis, said, scope=tuple(scope))
        exact = f"; delta is at least {number(lower)} there" if lower > allowed else ""
        said = f"{how} up to delta = {number(upper)} at {epsilon}{exact}, {listed}"
        return Judgment(Verdict.PASS, self.basis, said, scope=tuple(scope))

    @property
    def basis(self) -> str:
        """The word "proof", or "computed" where something about the code is only assumed."""
        is_held = self.outputs and min(sum(each.by_text().values()) for each in self.outputs) >= OUTPUTS
        return "computed" if not is_held or any(part.assumed for part in self.laws) else "proof"

    def _disagreement(self) -> str | None:
        """Return how the outputs of the code differ from a law; None if they do not."""
        laws = {at: law for part in self.laws for at, law in zip(part.datasets, part.tables(), strict=True)}
        found = (contradiction(laws[at], each.by_text()) for at, each in enumerate(self.outputs) if at in laws)
        return next(filter(None, found), None)

    def delta(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """Return the bracket of delta over all pairs and both directions."""
        brackets = [
            delta_bracket(above, below, epsilon)
            for left, right in (part.tables() for part in self.laws)
            for above, below in ((left, right), (right, left))
        ]
        return max(bracket.lower for bracket in brackets), max(bracket.upper for bracket in brackets)

    def contradiction(self, pairs: Sequence[Mapping[str, str]], relation: str) -> str | None:
        """Return why laws, outputs and pairs do not fit together; None if they do."""
        numbers = {number for part in self.laws for number in part.datasets}
        if numbers != set(range(len(self.outputs))):
            return "not each dataset has outputs"
        if any(len(dict(each.counts)) < len(each.counts) for each in self.outputs):
            return "an output is counted twice"
        known: dict[int, dict[str, Fraction]] = {}
        for part in self.laws:
            for number, law in zip(part.datasets, part.tables(), strict=True):
                texts = {text: mass for text, mass in law.texts.items() if mass}
                if known.setdefault(number, texts) != texts:
                    return "a dataset has two laws"
        return None if self.covers is None else self.covers.contradiction(pairs, relation)

    def epsilon_lower_bound(self, delta: float) -> float:
        """Return the largest epsilon at which the bracket of delta exceeds `delta`."""
        return 0.0 if self._is_open else self._epsilons(delta, 0)[0]

    @property
    def _is_open(self) -> bool:
        return any(part.behind for part in self.laws)

    def _epsilons(self, delta: float, end: int) -> tuple[float, float | None]:
        allowed = Fraction(delta) + TOLERANCE
        return _largest(lambda epsilon: self.delta(epsilon)[end] > allowed)


def enumerate_datasets(
    mechanism: Any, pairs: Sequence[tuple[Any, Any]], settings: Mapping[str, Any], seed: int = 0
) -> list[EnumeratedLaw]:
    """Return the law of each dataset, once if it is in several pairs, held to outputs of the code."""
    from audit.extensions.enumeration.enumerate import enumerate_alone  # a replay does without

    datasets = list({id(side): side for pair in pairs for side in pair}.values())
    laws = [enumerate_alone(mechanism, dataset, **settings) for dataset in datasets]
    if any(law.behind for law in laws):
        return laws
    return hold(laws, mechanism, datasets, settings, seed=seed)


def enumerate_pairs(
    mechanism: Any, pairs: Sequence[tuple[Any, Any]], settings: Mapping[str, Any]
) -> tuple[Enumerated, int]:
    """Return the laws of each pair, and the number of runs."""
    laws = enumerate_datasets(mechanism, pairs, settings)
    at = {key: number for number, key in enumerate({id(side): None for pair in pairs for side in pair})}
    found = tuple(
        _tabled(number, (at[id(left)], at[id(right)]), laws[at[id(left)]], laws[at[id(right)]])
        for number, (left, right) in enumerate(pairs)
    )
    outputs = tuple(
        RealOutputs(
            tuple((shorten(text), count) for text, count in law.outputs.items() if text != OTHERS),
            law.outputs.get(OTHERS, 0),
        )
        for law in laws
    )
    return Enumerated(found, getattr(pairs, "domain", None), outputs), sum(law.runs for law in laws)


def _tabled(number: int, datasets: tuple[int, int], left: EnumeratedLaw, right: EnumeratedLaw) -> PairTable:
    texts = dict.fromkeys([*left.texts, *right.texts])
    table = tuple((shorten(text), _text(left.texts.get(text)), _text(right.texts.get(text))) for text in texts)
    parts = ("behind", "not_followed", "assumed", "not_seen")
    behind, missing, assumed, not_seen = (
        tuple(sorted({*getattr(left, part), *getattr(right, part)})) for part in parts
    )
    states, draws = left.states + right.states, left.draws + right.draws
    merges, tested = left.merges + right.merges, left.merges_tested + right.merges_tested
    return PairTable(number, table, states, draws, behind, missing, assumed, not_seen, merges, tested, datasets)


def _text(probability: Fraction | None) -> str:
    if probability is None:
        return "0"
    if probability.denominator.bit_length() > _BITS + 1:
        probability = Fraction((probability.numerator << _BITS) // probability.denominator, 1 << _BITS)
    return str(probability)


def _largest(holds: Any) -> tuple[float, float | None]:
    """Return a number where a falling condition holds (or 0), and one above where it does not (None beyond 64)."""
    if not holds(0.0):
        return 0.0, 0.0
    if holds(LARGEST):
        return LARGEST, None
    low, high = 0.0, LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def number(value: Fraction) -> str:
    """Return a fraction whole where it is short, else its size."""
    return str(value) if value.denominator < 10**6 else f"{float(value):.4g}"
