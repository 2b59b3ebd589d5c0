"""All programs of the zoo."""

from benchmarks.enumeration.zoo import control, hidden, kinds, linked, modules, order, outside, reads, sums

_ROOMS = (reads, modules, kinds, outside, order, control, hidden, linked, sums)
CASES = tuple(case for room in _ROOMS for case in room.CASES)
