"""Measure the events that the engine chooses: the mean of the bound that they certify, one number per seed.

    python -m benchmarks.bugs.event_values --budget 1000000 --seeds 20 --only SVT1 SVT4

Only the choice is redone for each seed. Its events are judged on one large sample, the same for all seeds and for every
version of the engine, instead of on certifying outputs: their noise, which causes most of the scatter of medians of
bounds, is gone. The sample's own error is printed; it is shared, so that two versions can be told apart well below it.
At a budget of 100,000 these are the six mechanisms at epsilon 1, else the twenty of the benchmark.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from statistics import mean, median
from typing import NamedTuple

import numpy as np

from audit import Local, PrivacyCheck, PrivacyClaim
from audit.events.candidates import EventPair
from audit.evidence.base import Allowance
from audit.evidence.session import train
from audit.execution.seeds import Side, Stream
from audit.mechanism.call import Subject
from audit.outputs.encode import Outputs
from audit.statistics.bounds import GameCounts, game_epsilon_lower_bound
from benchmarks.bugs.at_one import BUDGET, JOBS, SIGNIFICANCE
from benchmarks.bugs.catalogue import BUGS

CLAIM = PrivacyClaim(0.0, 0.0, Local(), "nothing leaks")
REFERENCE = 1_000_000  # seed of the sample that judges: none of the seeds that choose


class EventValue(NamedTuple):
    """The value of the events that one seed chose."""

    bound: float
    error: float  # of the bound, by the judging sample
    scorer: str


def value_of_events(check: PrivacyCheck, budget: int, seed: int, reference: list[list[Outputs]]) -> EventValue:
    """Train with one seed and judge the events on the reference."""
    session = check.session(Allowance(budget, SIGNIFICANCE, Stream(seed)))
    session.open()
    choice = train(session).choice
    if choice is None:
        return EventValue(0.0, 0.0, "none")
    counted = np.array([_guesses(choice.events, side) for side in reference])
    total = counted.sum()
    shares = [round(choice.runs * count / total) for count in counted.ravel().tolist()]
    bound = game_epsilon_lower_bound(GameCounts(*shares), 0.0, SIGNIFICANCE)
    right, wrong = counted[0, 0] + counted[1, 1], counted[0, 1] + counted[1, 0]
    return EventValue(bound, math.sqrt(1 / max(1, right) + 1 / max(1, wrong)), choice.events.score.name)


def _guesses(events: EventPair, side: list[Outputs]) -> np.ndarray:
    guesses = np.concatenate([events.guess(outputs) for outputs in side])
    return np.array([np.count_nonzero(guesses == sign) for sign in (1, -1, 0)])


def draw_reference(check: PrivacyCheck, size: int) -> list[list[Outputs]]:
    """Return the sample that judges, both sides of the first pair in blocks."""
    subject, stream = Subject(check.mechanism), Stream(REFERENCE)
    return [
        [subject.draw(*block)[0] for block in Side(dataset, size, stream.child(side)).blocks()]
        for side, dataset in enumerate(check.pairs[0])
    ]


def checks(budget: int) -> Iterator[PrivacyCheck]:
    """Return the checks that are measured at a budget; the claim is that nothing leaks."""
    found = [(name, mechanism, pair) for name, (mechanism, pair, *_) in JOBS.items()]
    if budget != BUDGET:
        found = [(bug.name, bug.mechanism, bug.pair) for bug in BUGS]
    for name, mechanism, pair in found:
        yield PrivacyCheck(name=name, mechanism=mechanism, claim=CLAIM, pairs=[pair], method="fixed")


def row(check: PrivacyCheck, found: list[EventValue]) -> str:
    """Return one line: the bounds over the seeds, the error they share, and how often each scorer was chosen."""
    bounds = [one.bound for one in found]
    scorers = Counter(one.scorer for one in found).most_common()
    numbers = f"{mean(bounds):8.4f} {median(bounds):8.4f} {min(bounds):8.4f} {mean(one.error for one in found):7.4f}"
    return f"{check.name:19} {numbers}   {', '.join(f'{scorer} {count}' for scorer, count in scorers)}"


def main() -> None:
    """Print one row per mechanism."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=BUDGET, help="outputs per dataset, training included")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--outputs", type=int, default=4_000_000, help="judging outputs per dataset")
    parser.add_argument("--only", nargs="*", metavar="NAME")
    options = parser.parse_args()
    print(f"{'mechanism':19} {'mean':>8} {'median':>8} {'least':>8} {'error':>7}   chosen")
    for check in checks(options.budget):
        if options.only and check.name not in options.only:
            continue
        reference = draw_reference(check, options.outputs)
        found = [value_of_events(check, options.budget, seed, reference) for seed in range(options.seeds)]
        print(row(check, found), flush=True)


if __name__ == "__main__":
    main()
