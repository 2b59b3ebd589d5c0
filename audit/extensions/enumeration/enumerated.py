"""Look at a mechanism by the enumerated output laws of its code: gather them, and judge a privacy claim in rationals.

The table of a dataset holds a lower bound of the probability of each output. The rest of probability 1 is the residual:
it may belong to any output, and counts against the claim on either side of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Annotated, Any, ClassVar

from audit import Verdict
from audit.api import Case, Finding, Judgment, Way, claims, leave_open, validate, walk
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw, Table, bracket_exponential, delta_bracket
from audit.extensions.enumeration.real_outputs import FEWER, OUTPUTS, contradiction, hold

TOLERANCE = Fraction(1, 2**40)  # of delta: thresholds of 53 bits cannot meet the numbers of a claim
_BITS = 256  # a fraction with more digits than 2^-256 has is rounded down
_SHOWN = 5  # outputs of an event
_HALVINGS = 40  # of an interval of epsilon
LARGEST = 64.0  # no epsilon is looked for beyond

Ratio = Annotated[str, validate.Limits(pattern="[0-9]+(/[1-9][0-9]*)?", longest=200)]


@dataclass(frozen=True)
class DatasetLaw:
    """Hold the law on one dataset as a table of texts, and outputs of the code with its real generator beside it."""

    law: tuple[tuple[str, Ratio], ...]  # output, and a lower bound "n/d" of its probability
    states: int
    merges: int  # ways into a state that another way had found
    merges_tested: int  # those of them that were tested by going on
    behind: tuple[str, ...]  # acts of the code behind the back of the source; bar a verdict
    not_followed: tuple[str, ...]  # why there is a residual
    assumed: tuple[str, ...]  # of the code, and not tested on it; bars the word "proof"
    outputs: tuple[
        tuple[str, validate.Count], ...
    ] = ()  # those that the law does not have, together, under the empty text

    @property
    def sample_size(self) -> int:
        """The number of outputs."""
        return sum(count for _, count in self.outputs)

    def table(self) -> Table:
        """Return the law; raise `ValueError` for one that is none."""
        texts = {text: Fraction(probability) for text, probability in self.law}
        residual = 1 - sum(texts.values(), Fraction(0))
        if residual < 0 or len(texts) < len(self.law) or len(dict(self.outputs)) < len(self.outputs):
            raise ValueError("an output is listed twice, or probabilities add up to more than 1")
        return Table(texts, residual)


@dataclass(frozen=True)
class Enumerated(Way):
    """Hold the law on each dataset, and the pairs of them."""

    laws: Annotated[tuple[DatasetLaw, ...], validate.Limits(shortest=1)]
    pairs: Annotated[
        tuple[tuple[validate.Count, validate.Count], ...], validate.Limits(shortest=1)
    ]  # by the numbers of their datasets

    way: ClassVar[str] = "enumeration"

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield that it is not of each pair, or that laws and pairs do not fit together."""
        if record["evidence"]["failure"]:
            return
        if len(self.pairs) != len(record["pairs"]) or {*range(len(self.laws))} != {*chain(*self.pairs)}:
            yield "does not prove of each pair"
        texts: dict[int, str] = {}
        for sides, pair in zip(self.pairs, record["pairs"], strict=False):
            for side, text in zip(sides, (pair["left"], pair["right"]), strict=True):
                if texts.setdefault(side, text) != text:
                    yield "a law is of two datasets"
        if len({*self.pairs}) < len(self.pairs):
            yield "a pair is listed twice"
        if any({text for text, _ in part.outputs} - {"", *(text for text, _ in part.law)} for part in self.laws):
            yield "its outputs are named otherwise than those of its law"
        if any(part.outputs and part.sample_size != OUTPUTS and FEWER not in part.assumed for part in self.laws):
            yield "a law was held to another number of outputs"
        if any(not min(1, part.merges) <= part.merges_tested <= part.merges for part in self.laws):
            yield "it tested other merges than there are"
        try:
            [part.table() for part in self.laws]
        except ValueError as error:  # no enumeration gives such numbers
            yield str(error)

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

    def decide(self, point: claims.Point) -> Judgment:
        """Judge the laws of all pairs at one (epsilon, delta)."""
        if not point.epsilon <= LARGEST:  # a claim there would take its time, and promise nothing
            return leave_open(f"no claim beyond epsilon = {LARGEST:g} is judged by enumeration")
        if said := self._disagreement():
            return leave_open(f"its enumerated law is not that of the code: {said}")
        if behind := sorted({name for part in self.laws for name in part.behind}):
            return leave_open(f"its law is not known: behind the back of its source it uses {', '.join(behind)}")
        outputs = [text for part in self.laws for text, _ in part.law]
        if outputs and all(text.startswith(walk.Raised.begins) for text in outputs):
            return leave_open(f"the mechanism {outputs[0]}, in every run")
        lower, upper = self.delta(point.epsilon)
        allowed = Fraction(point.delta)
        epsilon = f"epsilon = {point.epsilon:g}"
        if lower > allowed + TOLERANCE:
            said = f"by its exact output law delta >= {number(lower)} at {epsilon}, claimed {point.delta:g}"
            return Judgment(Verdict.FAIL, self.basis, said)
        if upper > allowed + TOLERANCE:
            causes = "; ".join(sorted({name for part in self.laws for name in part.not_followed}))
            said = f"delta is between {number(lower)} and {number(upper)} at {epsilon}: too much was left over"
            return leave_open(f"{said} ({causes})")
        listed = f"for {len(self.pairs)} pair{'s' * (len(self.pairs) > 1)}"
        drawn = min(part.sample_size for part in self.laws)
        scope = [f"{drawn:,} outputs with the real generator have the law, on each of {len(self.laws)} datasets"]
        scope += [] if any(part.merges for part in self.laws) else ["no states were merged"]
        scope += sorted({f"assumed: {said}" for part in self.laws for said in part.assumed})
        how = "proved" if self.basis == "proof" else "computed under assumptions"
        if upper <= allowed:
            said = f"{how} at {epsilon}, delta = {point.delta:g}, {listed}"
            return Judgment(Verdict.PASS, self.basis, said, scope=tuple(scope))
        exact = f"; delta is at least {number(lower)} there" if lower > allowed else ""
        said = f"{how} up to delta = {number(upper)} at {epsilon}{exact}, {listed}"
        return Judgment(Verdict.PASS, self.basis, said, scope=tuple(scope))

    def find_event(self, point: claims.Point) -> tuple[int, str, str] | None:
        """Return the outputs of one pair that are more likely on one dataset than the claim allows."""
        if self._is_open:
            return None
        tables = [part.table() for part in self.laws]
        sides = [(number, *pair) for number, pair in enumerate(self.pairs)]
        found = [(number, "left", left, right) for number, left, right in sides]
        found += [(number, "right", right, left) for number, left, right in sides]
        number, direction, above, below = max(
            found, key=lambda each: delta_bracket(tables[each[2]], tables[each[3]], point.epsilon)[0]
        )
        return number, direction, _describe_event(tables[above], tables[below], point.epsilon)

    @property
    def basis(self) -> str:
        """The word "proof", or "computed" where something about the code is only assumed."""
        is_held = all(part.sample_size >= OUTPUTS and not part.assumed for part in self.laws)
        return "proof" if is_held else "computed"

    def _disagreement(self) -> str | None:
        """Return how the outputs of the code differ from a law; None if they do not."""
        found = (contradiction(part.table(), dict(part.outputs)) for part in self.laws)
        return next(filter(None, found), None)

    def delta(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """Return the bracket of delta over all pairs and both directions."""
        tables = [part.table() for part in self.laws]
        brackets = [
            delta_bracket(tables[above], tables[below], epsilon)
            for left, right in self.pairs
            for above, below in ((left, right), (right, left))
        ]
        return max(lower for lower, _ in brackets), max(upper for _, upper in brackets)

    def epsilon_lower_bound(self, delta: float) -> float:
        """Return the largest epsilon at which the bracket of delta exceeds `delta`."""
        return 0.0 if self._is_open else self._epsilons(delta, 0)[0]

    @property
    def _is_open(self) -> bool:
        return any(part.behind for part in self.laws)

    def _epsilons(self, delta: float, end: int) -> tuple[float, float | None]:
        allowed = Fraction(delta) + TOLERANCE
        return _largest(lambda epsilon: self.delta(epsilon)[end] > allowed)


def _describe_event(above: Table, below: Table, epsilon: float) -> str:
    """Return the outputs that lose more than epsilon, the likeliest first, and their probabilities."""
    _, bound = bracket_exponential(epsilon)
    lost = {text: p for text, p in above.texts.items() if p > bound * below.texts.get(text, Fraction(0))}
    shown = sorted(lost, key=lambda text: -lost[text])
    more = f" or one of {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    least, most = (
        sum(lost.values(), Fraction(0)),
        sum((below.texts.get(text, Fraction(0)) for text in lost), Fraction(0)),
    )
    often = f"probability {number(least)}, and {number(most + below.residual)} at most on the other dataset"
    return f"output {', '.join(shown[:_SHOWN])}{more}: {often}"


def enumerate_pairs(
    mechanism: Any, pairs: Sequence[tuple[Any, Any]], settings: Mapping[str, Any]
) -> tuple[Enumerated, int]:
    """Return the laws of each pair, held to outputs of the code, and the number of runs."""
    from audit.extensions.enumeration.enumerate import enumerate_alone  # a replay does without

    datasets = {id(side): side for pair in pairs for side in pair}
    laws = [enumerate_alone(mechanism, dataset, **settings) for dataset in datasets.values()]
    if not any(law.behind for law in laws):
        laws = hold(laws, mechanism, list(datasets.values()), settings["time_limit"], settings["rng"])
    at = {key: number for number, key in enumerate(datasets)}
    numbers = tuple((at[id(left)], at[id(right)]) for left, right in pairs)
    return Enumerated(tuple(map(_record, laws)), numbers), sum(law.runs for law in laws)


def _record(law: EnumeratedLaw) -> DatasetLaw:
    return DatasetLaw(
        tuple((walk.shorten(text), _text(probability)) for text, probability in law.texts.items()),
        law.states,
        law.merges,
        law.merges_tested,
        law.behind,
        tuple(law.not_followed),
        law.assumed,
        tuple((walk.shorten(text), count) for text, count in law.outputs.items()),
    )


def _text(probability: Fraction) -> str:
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
