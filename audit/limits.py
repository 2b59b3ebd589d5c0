"""Types of plain data with their limits: what a reader of a record refuses, and what the schema says of it."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

_TEXTS = {"minimum": "least", "maximum": "most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}


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

    def schema(self, length: str = "Length") -> dict[str, Any]:
        """Return the limits as JSON Schema says them; `length` is "Length" for texts and "Items" for lists."""
        said = {word: getattr(self, name) for word, name in _TEXTS.items()}
        said |= {f"min{length}": self.shortest, f"max{length}": self.longest}
        said["pattern"] = None if self.pattern is None else f"^(?:{self.pattern})$"
        return {word: limit for word, limit in said.items() if limit is not None}

    def __repr__(self) -> str:
        return f"Limits({self})"

    def __str__(self) -> str:
        return ", ".join(f"{word} {limit}" for word, limit in self.schema().items())


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


def object_type(name: str, parts: Mapping[str, Any]) -> Any:
    """Return the type of an object with these parts."""
    make: Any = TypedDict
    return make(name, dict(parts))
