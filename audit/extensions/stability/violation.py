"""The pair that breaks a map or a domain: plain data, which a certificate holds."""

from dataclasses import dataclass

KINDS = ("loss", "domain", "exception", "rounding")


@dataclass(frozen=True)
class Violation:
    """A pair that breaks a map or a domain, with its outputs: the ground of a FAIL."""

    kind: str  # "loss", "rounding", "domain" or "exception"
    left: str  # the pair and its outputs as text
    right: str
    output_left: str
    output_right: str
    distance_in: float  # rounded up
    distance_out: float  # rounded up; 0 where none was measured
    bound: float  # of the map at this distance
    said: str = ""  # of a domain or an exception
