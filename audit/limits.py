"""Types of plain data with their limits: what a reader of a record refuses."""

import re
import sys
from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True)
class Limits:
    """Say which numbers, texts or lists are admitted; NaN keeps no limit."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    shortest: int | None = None  # of a text or a list
    longest: int | None = None
    pattern: str | None = None  # of a whole text

    def admits(self, value: Any) -> bool:
        """Return whether a value keeps the limits."""
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and (self.shortest is None or len(value) >= self.shortest)
            and (self.longest is None or len(value) <= self.longest)
            and (self.pattern is None or re.fullmatch(self.pattern, value) is not None)
        )

    def __repr__(self) -> str:
        return f"Limits({self})"

    def __str__(self) -> str:
        return ", ".join(f"{name} {limit}" for name, limit in vars(self).items() if limit is not None)


Count = Annotated[int, Limits(least=0, most=2**53)]  # also of an int without limits
Number = Annotated[int, Limits(least=1, most=2**53)]
Natural = Annotated[int, Limits(least=0)]  # of any size: a seed, a sample size
Finite = Annotated[float, Limits(least=0, most=sys.float_info.max)]
Nonnegative = Annotated[float, Limits(least=0)]  # infinity included
Positive = Annotated[float, Limits(above=0)]
Probability = Annotated[float, Limits(least=0, most=1)]
OpenProbability = Annotated[float, Limits(above=0, below=1)]
Name = Annotated[str, Limits(shortest=1)]
Digest = Annotated[str, Limits(pattern="[0-9a-f]{64}")]
