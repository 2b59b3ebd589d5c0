"""The table of `audit.conformance` held to known truth: a library without faults, and one fault for each case."""

from mechanisms.conformance.faults import FAULTS, faulty
from mechanisms.conformance.reference import reference

__all__ = ["FAULTS", "faulty", "reference"]
