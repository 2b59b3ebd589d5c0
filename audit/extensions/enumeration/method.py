"""The method `Enumeration` of privacy checks: how far the code is followed, and how its laws are gathered.

A certificate is data, and whoever writes one can invent tables and counts that agree. So the code is asked: its laws
are enumerated again, and fresh outputs drawn. Claim, pairs, domain and settings must be those of the check, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from audit.api import (
    Allowance,
    Claim,
    InvalidArgument,
    Method,
    PrivacyCheck,
    PrivacyEvidence,
    describe_mechanism,
    from_plain,
    integer,
    number,
    positive,
    shorten,
    show,
    to_plain,
)
from audit.extensions.enumeration.domains import AllPairs
from audit.extensions.enumeration.enumerated import LARGEST, Enumerated, enumerate_datasets, enumerate_pairs
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw, Table, contradicted

Source = Literal["numpy", "random", "random_state", "bytes"]
_RESIDUAL = 2.0**-42  # so that the rest on both sides stays within the tolerance of a judge


@dataclass(frozen=True, kw_only=True)
class Enumeration(Method):
    """Follow every random choice of the code: how far, and from which source it draws.

    `check_privacy(..., method=Enumeration(...))`; `method="enumerate"` is short for `method=Enumeration()`. The verdict
    rests on the law of the code, and no budget is needed.

    Parameters
    ----------
    residual : float > 0
        Probability that may be left over in each law. Above 2^-41 it may leave a claim without delta undecided.
    time_limit : float > 0
        Seconds of the processor for each law. The part enumerated by then is used: it may refute the claim.
    states : int >= 1
        Number of states in each law.
    rng : {"numpy", "random", "random_state", "bytes"}
        The type of the source that the mechanism is given.
    generator : str, optional
        Name of the attribute that holds the generator, where the mechanism is given none.

    Raises
    ------
    InvalidArgument
        For an argument outside its admissible set.

    References
    ----------
    Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy: samplers with an exact law.

    Examples
    --------
    >>> import audit
    >>> def flipped(data, rng):
    ...     return data ^ (rng.getrandbits(2) == 0)
    >>> claim = audit.PrivacyClaim(1.1, relation=audit.Local())
    >>> method = audit.Enumeration(rng="random")
    >>> result = audit.check_privacy(audit.per_call(flipped), claim, [(False, True)], method=method)
    >>> result.verdict, result.basis
    (<Verdict.PASS: 'PASS'>, 'proof')
    """

    residual: float = _RESIDUAL
    time_limit: float = 60.0
    states: int = 200_000
    rng: Source = "numpy"
    generator: str | None = None

    way: ClassVar[str] = "enumerate"

    def __post_init__(self) -> None:
        for name in ("residual", "time_limit"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        object.__setattr__(self, "states", integer(self.states, "states", at_least=1))
        if self.rng not in get_args(Source):
            raise InvalidArgument.of("rng", f"be one of {', '.join(get_args(Source))}", self.rng)
        if not (self.generator is None or isinstance(self.generator, str)):
            raise InvalidArgument.of("generator", "be the name of an attribute", self.generator)

    @property
    def words(self) -> str:
        said = "the output law of the code itself, by following every random choice"
        return f"{said}, up to a residual of {number(self.residual)}"

    def require_claim(self, claim: Claim) -> None:
        """Raise for a claim about a curve: one point of it would prove less than is claimed."""
        if claim.is_curve:
            raise InvalidArgument.of("claim", "be an (epsilon, delta) claim for method 'enumerate'", claim)
        epsilon = getattr(claim, "epsilon", 0.0)
        if epsilon > LARGEST:
            raise InvalidArgument.of("claim", f"have an epsilon of at most {LARGEST:g} for method 'enumerate'", epsilon)

    def list_pairs(self, datasets: Any, claim: Claim) -> AllPairs:
        """Return every neighboring pair of a list of datasets."""
        return AllPairs.of(datasets, claim)

    def gather(self, check: PrivacyCheck, allowance: Allowance) -> PrivacyEvidence:
        """Return the laws of all pairs."""
        found, runs = enumerate_pairs(check.mechanism, check.pairs, asdict(self))
        for part in found.laws:
            if part.law and all(output.startswith("raised ") for output, *_ in part.law):
                return PrivacyEvidence(runs, failure=f"the mechanism {part.law[0][0]}, whatever it drew")
        return PrivacyEvidence(runs, (found,))

    def replay_in_code(self, check: Any, record: Mapping[str, Any], seed: int) -> CodeReplay | None:
        """Return how the code of a check differs from the laws of a record; `check` is None where none is listed."""
        return replay_code(check, record, seed) if record["evidence"]["ways"] else None

    def find_epsilon(self, mechanism: Any, pair: tuple[Any, Any], delta: float) -> float:
        """Return the largest epsilon at which the law of the code exceeds delta for certain."""
        return enumerate_pairs(mechanism, [pair], asdict(self))[0].epsilon_lower_bound(delta)


@dataclass(frozen=True)
class CodeReplay:
    """Parts of a stated proof that the code shows again, and the differences of the code."""

    check: str
    laws: int  # that were enumerated again
    outputs: int  # that were drawn beside them
    problems: tuple[str, ...]

    def __str__(self) -> str:
        """Return the counts of the replay."""
        return f"{self.check}: {self.laws} laws enumerated again, {self.outputs:,} outputs drawn"


def replay_code(check: Any, record: Mapping[str, Any], seed: int) -> CodeReplay:
    """Compare the laws in a record with the code of a check.

    Parameters
    ----------
    check : PrivacyCheck
        The check as its module lists it; its mechanism is run.
    record : mapping
        The record of a check with enumerated laws.
    seed : int
        Of the outputs that are drawn. Whoever forges a law must not know it.
    """
    if not isinstance(check, PrivacyCheck):
        return CodeReplay(record["name"], 0, 0, ("no such check is listed there",))
    problems = list(_differences(check, record))
    if problems:
        return CodeReplay(check.name, 0, 0, tuple(problems))
    (data,) = (way for way in record["evidence"]["ways"] if way["way"] == Enumerated.way)
    stated: Enumerated = from_plain(Enumerated, data)
    settings = to_plain(check.method)
    settings.pop("way")
    laws = enumerate_datasets(check.mechanism, check.pairs, settings, seed)
    if len(laws) != len(stated.outputs):
        problems = [f"the check has {len(laws)} datasets, {len(stated.outputs)} are stated"]
    else:
        problems = [f"dataset {at}: {said}" for at, law in enumerate(laws) for said in _against(law, at, stated)]
    drawn = sum(sum(law.outputs.values()) for law in laws)
    return CodeReplay(check.name, len(laws), drawn, tuple(problems))


def _differences(check: PrivacyCheck, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a check is not the one that was recorded."""
    domain = getattr(check.pairs, "domain", None)
    (data,) = (way for way in record["evidence"]["ways"] if way["way"] == Enumerated.way)
    subject = check.subject
    while isinstance(subject, partial):
        subject = subject.func
    due = {
        "mechanism": (describe_mechanism(subject), record["mechanism"]),
        "claim": (check.recorded_claim(), record["claim"]),
        "pairs": ([{"left": show(left), "right": show(right)} for left, right in check.pairs], record["pairs"]),
        "domain": (None if domain is None else to_plain(domain), data["covers"]),
        "method": (check.recorded_settings()["method"], record["settings"]["method"]),
    }
    for part, (own, stated) in due.items():
        if own != stated:
            yield f"{part} is {shorten(str(own))}, the certificate says {shorten(str(stated))}"


def _against(law: EnumeratedLaw, at: int, stated: Enumerated) -> Iterator[str]:
    """Yield how a law of the code is another one than stated: brackets that exclude one another, or an output."""
    part = next(part for part in stated.laws if at in part.datasets)
    table = part.tables()[part.datasets.index(at)]
    yield from (said for said in law.behind if said not in part.behind)
    found = Table({shorten(text): probability for text, probability in law.texts.items()}, law.residual)
    for text in contradicted(found, table):
        own, said = (float(each.texts.get(text, 0)) for each in (found, table))
        yield f"{text} has probability {own:.6g}, stated is {said:.6g}"
