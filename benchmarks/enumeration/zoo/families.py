"""All programs of the zoo."""

from benchmarks.enumeration.zoo import control, hidden, kinds, linked, order, outside, reads

CASES = (*reads.CASES, *kinds.CASES, *outside.CASES, *order.CASES, *control.CASES, *hidden.CASES, *linked.CASES)
