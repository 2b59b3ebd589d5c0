"""A module with parts that programs of the zoo write to."""

from benchmarks.enumeration.zoo.holder import inner as inner

x = 0


def zero() -> int:
    """Return 0."""
    return 0


answer = zero
