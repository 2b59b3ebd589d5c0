"""Add a kind of check, a scorer and a command to dp-audit, without a change of the package."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from audit import Result, api


@dataclass(frozen=True)
class Largest(api.Evidence):
    """The largest absolute value of a function."""

    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class BoundedCheck(api.StatedCheck):
    """The claim that a function stays in [-1, 1] on given datasets: a sensitivity rests on it."""

    function: Callable[[Any], float]
    datasets: Sequence[Any]
    kind, callables = "bounded", {"function": "(dataset)"}
    evidence_type, summary = Largest, "values in [-1, 1]"

    def _validate(self) -> None:
        assert len(self.datasets) > 0, "give at least one dataset"

    def gather(self, allowance: Any) -> Largest:
        values = [abs(float(self.function(dataset))) for dataset in self.datasets]
        return Largest(len(values), value=max(values), uses="evaluator")

    @staticmethod
    def decide(terms: Any, evidence: Largest, significance: float) -> api.Judgment:
        broken = f"a value of {evidence.value:g}" if evidence.value > 1 else None
        found = (api.Interval("largest", evidence.value, evidence.value),)
        return api.conclude("computed", found, broken=broken, why_open=None, kept="all values are in [-1, 1]")


def check_bounded(function: Callable[[Any], float], datasets: Sequence[Any]) -> Result:
    """Check that a function stays in [-1, 1] on given datasets."""
    check = BoundedCheck(name="bounded", function=function, datasets=datasets)
    return api.run_alone(check, budget=2, significance=0.05, confirmation=None, seed=0)


class Fraction(api.scorers.Score):
    """How far a number lies above the integer below it: noise on an integer answer may hide all but that."""

    name = "fractions"

    def __call__(self, outputs: api.Outputs) -> Any:
        return outputs.numbers % 1


class Fractions(api.scorers.Scorer):
    """Propose the fraction of single numbers."""

    learned = False

    def propose(self, training: api.scorers.Training) -> Sequence[api.scorers.Score]:
        return [Fraction()] if all(side.is_scalar and side.symbols is None for side in training.sides) else []


@click.command("bounded")
@click.argument("values", type=float, nargs=-1, required=True)
def bounded_command(values: Sequence[float]) -> int:
    """Test whether VALUES are in [-1, 1]."""
    result = check_bounded(float, values)
    click.echo(f"{result.verdict}: {result.reason}")
    return result.verdict.exit_status


PLUGIN = api.Plugin(
    name="bounded",
    kinds={"bounded": ("bounded:BoundedCheck", "bounded:check_bounded")},
    scorers=("bounded:Fractions",),
    commands={"bounded": api.Command("bounded:bounded_command", "Test whether values are in [-1, 1].")},
)
