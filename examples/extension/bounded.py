"""Add a kind of check, a scorer and a command to dp-audit, without a change of the package."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import click
import numpy as np

from audit.api import (
    Command,
    Evidence,
    Interval,
    Judgment,
    Outputs,
    Plugin,
    Result,
    Score,
    Scorer,
    StatedCheck,
    Training,
    conclude,
    run_alone,
)  # fmt: skip

HERE = "bounded"


@dataclass(frozen=True)
class Bounds:
    """The numbers of the claim."""

    low: float
    high: float


@dataclass(frozen=True)
class Extremes(Evidence):
    """The smallest and the largest value of a function."""

    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True, kw_only=True)
class BoundedCheck(StatedCheck):
    """The claim that a function stays within bounds on given datasets: a sensitivity rests on it."""

    function: Callable[[Any], float]
    datasets: Sequence[Any]
    low: float
    high: float

    kind: ClassVar[str] = "bounded"
    callables: ClassVar = {"function": "(dataset)"}
    terms_type: ClassVar[type] = Bounds
    evidence_type: ClassVar[type[Evidence]] = Extremes
    summary = property(lambda self: f"values in [{self.low:g}, {self.high:g}]")

    def _validate(self) -> None:
        assert self.low <= self.high, "`low` must be at most `high`"
        assert len(self.datasets) > 0, "`datasets` must not be empty"

    def gather(self, allowance: Any) -> Extremes:
        values = [float(self.function(dataset)) for dataset in self.datasets]
        return Extremes(len(values), least=min(values), most=max(values), uses="evaluator")

    @staticmethod
    def decide(terms: Bounds, evidence: Extremes, significance: float) -> Judgment:
        found = (Interval("least", evidence.least, evidence.least), Interval("most", evidence.most, evidence.most))
        is_kept = terms.low <= evidence.least and evidence.most <= terms.high
        broken = None if is_kept else f"values from {evidence.least:g} to {evidence.most:g}"
        return conclude("computed", found, broken=broken, why_open=None, kept="all values are within the bounds")


def check_bounded(function: Callable[[Any], float], datasets: Sequence[Any], low: float, high: float) -> Result:
    """Check that a function stays within bounds on given datasets."""
    check = BoundedCheck(name="bounded", function=function, datasets=datasets, low=low, high=high)
    return run_alone(check, budget=2, significance=0.05, confirmation=None, seed=0)


class Fraction(Score):
    """How far a number lies above the integer below it."""

    name = "fractions"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        return outputs.numbers - np.floor(outputs.numbers)


class Fractions(Scorer):
    """Propose the fraction of single numbers: noise that is added to an integer answer may hide all but that."""

    learned = False
    seeks = ("fractions",)

    def propose(self, training: Training) -> Sequence[Score]:
        return [Fraction()] if all(side.is_scalar and side.symbols is None for side in training.sides) else []


@click.command("bounded")
@click.argument("low", type=float)
@click.argument("high", type=float)
@click.argument("values", type=float, nargs=-1, required=True)
def bounded_command(low: float, high: float, values: Sequence[float]) -> int:
    """Test whether VALUES lie between LOW and HIGH."""
    result = check_bounded(float, values, low, high)
    click.echo(f"{result.verdict}: {result.reason}")
    return result.verdict.exit_status


PLUGIN = Plugin(
    name="bounded",
    kinds={"bounded": (f"{HERE}:BoundedCheck", f"{HERE}:check_bounded")},
    scorers=(f"{HERE}:Fractions",),
    commands={"bounded": Command(f"{HERE}:bounded_command", "Test whether values lie between two bounds.")},
)
