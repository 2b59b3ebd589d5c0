"""Do two implementations release the same law? The guess game between them, on one dataset.

Each run flips a fair coin and takes an output of the first or of the second implementation; events fixed beforehand
guess which. Were the laws equal, a guess would be right with probability 1/2: the claim epsilon = 0, delta = 0, with
"the same implementation or the other" in place of neighboring datasets. What refutes it certifies that the laws
differ, in finite samples, and by how much: a lower bound of their total variation. What does not refute it says nothing
about differences smaller than the resolution, which is stated.

Outputs are drawn once for all pairs of implementations. A game of R runs needs a Binomial(R, 1/2) number of each; R is
chosen so that the sample falls short with probability below 2e-12, and no statement is made where it does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import optimize, stats

from audit.base.arguments import open_probability
from audit.game.delta_bound import delta_lower_bound
from audit.game.events import EventPair, choose_events
from audit.game.guesses import GameCounts, game_epsilon_lower_bound
from audit.game.resolution import POWER, game_resolution
from audit.game.scorers import Training
from audit.game.thresholds import TestDesign
from audit.subjects import Outputs, Stream

_TRAINING = 0.25  # share of the outputs that choose the events
_MARGIN = 5.0  # times sqrt(outputs): 7 standard deviations of the number of runs on one side


@dataclass(frozen=True)
class LawTest:
    """What was certified about two laws.

    Parameters
    ----------
    differ : bool
        Whether the laws are certainly different; wrong with probability at most the significance.
    ratio : float
        Certified: on some event the probabilities are e^ratio apart, or more. 0 for none.
    variation : float
        Certified lower bound of the total variation of the two laws, with the same error probability.
    runs : int
    event : str
        What the guess "first" was based on.
    ratio_resolution : float or None
        The smallest log-ratio that would have been certified with power 0.8, on an event of probability 0.01; None when
        no ratio would have been.
    variation_resolution : float
        The smallest total variation that would have been certified with power 0.8, had the best events been found.
    """

    differ: bool
    ratio: float
    variation: float
    runs: int
    event: str
    ratio_resolution: float | None
    variation_resolution: float


def tell_apart(first: Outputs, second: Outputs, significance: float, stream: Stream) -> LawTest | None:
    """Play the game between two samples; None when the outputs cannot be read, or do not suffice.

    Parameters
    ----------
    first, second : Outputs
        Independent outputs of each implementation; their order carries no information.
    significance : float in (0, 1)
        Probability that equal laws are called different.
    stream : Stream
        Of the coins.
    """
    level = open_probability(significance, "significance")
    size = min(len(first), len(second))
    training = int(_TRAINING * size)
    left_out = size - training
    runs = 2 * (left_out - math.ceil(_MARGIN * math.sqrt(left_out)))
    on_first = int(stream.child(0).rng().binomial(runs, 0.5)) if runs > 0 else 0
    if runs < 2 or max(on_first, runs - on_first) > left_out:
        return None
    events = _events(first[:training], second[:training], level, runs)
    if events is None:
        return None
    counts = _play(events, first[training : training + on_first], second[training : training + runs - on_first])
    one_sided = events.plus_is_empty or events.minus_is_empty
    ratio, resolved = game_epsilon_lower_bound(counts, 0.0, level), game_resolution(0.0, 0.0, runs, level)
    return LawTest(
        differ=ratio > 0,
        ratio=ratio,
        variation=delta_lower_bound(counts, 0.0, level, stream.child(1).seed(), one_sided=one_sided),
        runs=runs,
        event=events.describe()[0 if not events.plus_is_empty else 1],
        ratio_resolution=resolved if math.isfinite(resolved) else None,
        variation_resolution=_variation_resolution(runs, level),
    )


def _events(first: Outputs, second: Outputs, significance: float, runs: int) -> EventPair | None:
    """Events that tell the two apart, chosen on outputs that the game does not use."""
    training = Training(first, second, None, (None, None))
    return choose_events(training, TestDesign(0.0, significance, len(first) + len(second), runs, 0.0))


def _play(events: EventPair, first: Outputs, second: Outputs) -> GameCounts:
    tallies = []
    for side in (first, second):
        guesses = events.guess(side)
        tallies += [int((guesses == value).sum()) for value in (1, -1, 0)]
    return GameCounts(*tallies)


def _variation_resolution(runs: int, significance: float) -> float:
    """The best events guess every run, right with probability (1 + variation) / 2."""
    needed = stats.binom.isf(significance, runs, 0.5)

    def lack(variation: float) -> float:
        return POWER - float(stats.binom.sf(needed, runs, (1 + variation) / 2))

    return 1.0 if lack(1.0) > 0 else float(optimize.brentq(lack, 0.0, 1.0, xtol=1e-5))
