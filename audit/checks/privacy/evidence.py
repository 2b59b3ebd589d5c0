"""What a privacy check observed: the guess game, the sequential game, and what the stated law says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.base.arguments import closed_probability, integer, nonnegative
from audit.checks.base import Evidence
from audit.claims import Point
from audit.game.events import EventPair
from audit.game.guesses import GameCounts
from audit.game.sequential import SequentialOutcome


@dataclass(frozen=True)
class GameEvidence:
    """A guess game on one pair.

    Parameters
    ----------
    pair : int
        Index of the pair that was certified, chosen on training outputs.
    scorer : str
        Name of the score that won on training outputs.
    complete : bool
        Whether some score that competed sees every difference between two output laws, given enough outputs.
    plus, minus : str
        The events "guess left" and "guess right" in words.
    one_sided : bool
        True when one of the two events is empty.
    counts : GameCounts
        What came of the certifying runs.
    coins : tuple of int
        Entropy, then spawn key, of the uniforms behind virtual wrong guesses.
    training : int
        Training outputs a side for each pair.
    estimated_bound : float or None
        Lower bound of epsilon that the training outputs let expect; an estimate.
    """

    pair: int
    scorer: str
    complete: bool
    plus: str
    minus: str
    one_sided: bool
    counts: GameCounts
    coins: tuple[int, ...]
    training: int
    estimated_bound: float | None = field(metadata={"key": "promise"})

    def coin_seed(self) -> np.random.SeedSequence:
        """The seed sequence that `coins` names."""
        return np.random.SeedSequence(self.coins[0], spawn_key=self.coins[1:])


@dataclass(frozen=True)
class SequentialEvidence:
    """A sequential game on one pair.

    Parameters
    ----------
    pair : int
        Index of the pair.
    complete : bool
        Whether the experts see every difference between two output laws on outputs of this kind.
    outcome : SequentialOutcome
        Steps, reason for stopping, and wealth.
    """

    pair: int
    complete: bool
    outcome: SequentialOutcome


@dataclass(frozen=True)
class ExactEvidence:
    """What the stated law of one pair says, and how the sampler agrees with it.

    Parameters
    ----------
    pair : int
        Index of the pair.
    epsilon_upper_bound, epsilon_lower_bound : float
        Bracket of the pair's epsilon at the tested delta, both directions.
    delta_upper_bound, delta_lower_bound : float
        Bracket of the pair's delta at the tested epsilon, both directions.
    total_variation : float
        Upper bound of the total variation distance.
    mass_at_infinity : float
        Probability of an output that the other dataset cannot give, the larger direction.
    fit_pvalue : float or None
        Finite-sample p-value of the sampler against its stated law, both sides; None when it was not tested.
    fit_outputs : int
        Outputs a side behind the p-value.
    fit_resolution : float or None
        Distance in distribution that would have been noticed.
    keeps : bool or None
        For a claim about a whole curve: whether the law keeps it, by `judge_exactly`; None when that is open, and for
        an (epsilon, delta) claim, which the brackets decide.
    detail : str
        For a claim about a whole curve: the numbers behind `keeps`.
    """

    pair: int
    epsilon_upper_bound: float
    epsilon_lower_bound: float
    delta_upper_bound: float
    delta_lower_bound: float
    total_variation: float
    mass_at_infinity: float
    fit_pvalue: float | None
    fit_outputs: int
    fit_resolution: float | None
    keeps: bool | None = field(default=None, metadata={"since": "1.1"})
    detail: str = field(default="", metadata={"since": "1.1"})


@dataclass(frozen=True)
class LossCurve:
    """The privacy profile of one pair by its stated law, at a few points. No verdict rests on it.

    Parameters
    ----------
    pair : int
        Index of the pair with the largest epsilon.
    profile : tuple of (epsilon, delta, delta)
        Epsilon increasing; upper bounds of delta with the left and with the right law in the numerator, six digits.
    tightness : float or None
        Epsilon of the law over the tested one: how much of what was promised is used. None when either has no
        finite, positive value.
    """

    pair: int
    profile: tuple[tuple[float, float, float], ...]
    tightness: float | None


@dataclass(frozen=True)
class PrivacyEvidence(Evidence):
    """All that one privacy check observed.

    Parameters
    ----------
    samples : int
        Outputs drawn, both sides and all stages together.
    exact : tuple of ExactEvidence
        One for each pair whose law is stated.
    game : GameEvidence or None
        The guess game at a fixed budget, when one was played.
    anomalies : mapping of str to int
        What was odd about the mechanism, with counts.
    sequential : SequentialEvidence or None
        The sequential game, when one was played.
    tested : Point or None
        The (epsilon, delta) that was tested, chosen on training outputs where the claim implies a whole curve of
        them; the bounds of `exact` are stated there too. None means the claim's own.
    curve : LossCurve or None
        The profile of the worst pair, where laws are stated; for pictures.
    failure : str or None
        Why the check ended early.
    found_pair : (left, right) or None
        The pair that a search found; no record holds it here.
    events : EventPair or None
        The events of the game as code; no record holds them.
    """

    exact: tuple[ExactEvidence, ...] = ()
    game: GameEvidence | None = None
    anomalies: Mapping[str, int] = field(default_factory=dict, metadata={"key": "oddities"})
    sequential: SequentialEvidence | None = None
    tested: Point | None = field(default=None, metadata={"since": "1.1"})
    curve: LossCurve | None = field(default=None, metadata={"since": "1.1"})
    found_pair: tuple[Any, Any] | None = field(default=None, compare=False, metadata={"recorded": False})
    events: EventPair | None = field(default=None, compare=False, repr=False, metadata={"recorded": False})

    def __post_init__(self) -> None:
        super().__post_init__()
        for count in self.anomalies.values():
            integer(count, "oddities", at_least=0)
        if self.tested is not None:
            nonnegative(self.tested.epsilon, "epsilon")
            closed_probability(self.tested.delta, "delta")
