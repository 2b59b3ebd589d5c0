"""Evidence: what a check observed. Plain frozen data, from which a verdict is computed, live or from a file."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.base.arguments import closed_probability, nonnegative
from audit.base.errors import InvalidCertificate
from audit.claims import Point
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
    promise : float or None
        The epsilon that the training outputs promised; an estimate.
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
    promise: float | None

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
    keeps: bool | None = None
    detail: str = ""


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
class Evidence:
    """All that one check observed.

    Parameters
    ----------
    samples : int
        Outputs drawn, both sides and all stages together.
    exact : tuple of ExactEvidence
        One for each pair whose law is stated.
    game : GameEvidence or None
        The guess game at a fixed budget, when one was played.
    sequential : SequentialEvidence or None
        The sequential game, when one was played.
    oddities : mapping of str to int
        What was odd about the mechanism, with counts.
    failure : str or None
        Why the check ended early.
    tested : Point or None
        The (epsilon, delta) that was tested, chosen on training outputs where the claim implies a whole curve of
        them; the bounds of `exact` are stated there too. None means the claim's own.
    curve : LossCurve or None
        The profile of the worst pair, where laws are stated; for pictures.
    """

    samples: int
    exact: tuple[ExactEvidence, ...] = ()
    game: GameEvidence | None = None
    oddities: Mapping[str, int] = dataclasses.field(default_factory=dict)
    failure: str | None = None
    sequential: SequentialEvidence | None = None
    tested: Point | None = None
    curve: LossCurve | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinities become text."""
        plain: dict[str, Any] = _plain(dataclasses.asdict(self))
        return {**plain, "tested": None if self.tested is None else self.tested._asdict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evidence:
        """Rebuild evidence from `to_dict`; refuses what does not have its form."""
        try:
            game, sequential = data["game"], data["sequential"]
            return cls(
                samples=_count(data["samples"]),
                exact=tuple(_exact_from(part) for part in data["exact"]),
                game=None if game is None else _game_from(game),
                oddities={str(kind): _count(count) for kind, count in data["oddities"].items()},
                sequential=None if sequential is None else _sequential_from(sequential),
                failure=None if data["failure"] is None else str(data["failure"]),
                tested=_point_from(data.get("tested")),
                curve=_curve_from(data.get("curve")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidCertificate(f"evidence does not have its form: {error!r}") from error


def _point_from(data: Mapping[str, Any] | None) -> Point | None:
    if data is None:
        return None
    return Point(nonnegative(data["epsilon"], "epsilon"), closed_probability(data["delta"], "delta"))


def _curve_from(data: Mapping[str, Any] | None) -> LossCurve | None:
    if data is None:
        return None
    profile = tuple((float(epsilon), float(left), float(right)) for epsilon, left, right in data["profile"])
    return LossCurve(_count(data["pair"]), profile, data["tightness"])


def _exact_from(data: Mapping[str, Any]) -> ExactEvidence:
    part = ExactEvidence(**_numbers(data))
    if part.keeps not in (None, True, False):
        raise ValueError(f"{part.keeps!r} is not true, false or null")
    return part


def _game_from(data: Mapping[str, Any]) -> GameEvidence:
    fields = _numbers(data)
    fields["counts"] = GameCounts(**data["counts"])
    fields["coins"] = tuple(_count(number) for number in data["coins"])
    return GameEvidence(**fields)


def _sequential_from(data: Mapping[str, Any]) -> SequentialEvidence:
    outcome = _numbers(data["outcome"])
    for field in ("grid", "grid_log_wealth"):
        outcome[field] = tuple(float(number) for number in outcome[field])
    return SequentialEvidence(_count(data["pair"]), bool(data["complete"]), SequentialOutcome(**outcome))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `_plain` for the numeric fields: JSON has no infinity."""
    texts = {"inf": math.inf, "-inf": -math.inf}
    return {key: texts.get(value, value) if isinstance(value, str) else value for key, value in data.items()}


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value
