"""Find the output law of code: run it along every path of its random choices, the likeliest first."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

from audit.api import InvalidArgument, validate
from audit.extensions.enumeration.apart import Clock, law_apart
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, EnumeratedLaw
from audit.extensions.enumeration.exploring import Explorer
from audit.extensions.enumeration.following import Follower
from audit.extensions.enumeration.real_outputs import Source, hold, plain_call
from audit.extensions.enumeration.sources import ForkingGenerator, ForkingRandom, ForkingRandomState
from audit.extensions.enumeration.states import StateReader
from audit.extensions.enumeration.watching import Watch

_STAND_INS: dict[str, Any] = {"numpy": ForkingGenerator, "random": ForkingRandom, "random_state": ForkingRandomState}


def enumerate_law(
    mechanism: Any,
    dataset: Any,
    *,
    residual: float = 1e-12,
    time_limit: float = 60.0,
    rng: Source = "numpy",
) -> EnumeratedLaw:
    """Return the exact output law of code on one dataset, by following every random choice that it can make.

    Parameters
    ----------
    mechanism : callable
        `(dataset, rng)`, `(dataset)`, `audit.per_call` of such a function, or a mechanism `(dataset, size, rng)`, whose
        first output in a call of size 1 is meant. It must behave alike in every call.
    dataset : object
        Argument of the mechanism; the call must not change it.
    residual : float > 0
        Probability that may be left over. A code that can be followed to its end leaves none.
    time_limit : float > 0
        Seconds of the processor after which the rest is left over.
    rng : {"numpy", "random", "random_state"}
        The type of the stand-in that the mechanism is given: `numpy.random.Generator`, `random.Random` or
        `numpy.random.RandomState`.

    Returns
    -------
    EnumeratedLaw
        Lower bounds of all probabilities, and the residual; 10,000 outputs with the real generator have this law, or
        `behind` says how they differ.

    Raises
    ------
    InvalidArgument
        For arguments outside their admissible sets.

    References
    ----------
    Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy: samplers that draw on nothing but
    integers, to whose running code this applies. Grassmann, Taksar & Heyman (1985): elimination of states of a chain.

    Examples
    --------
    >>> import audit
    >>> def die(sides, rng):
    ...     while (face := rng.getrandbits(3)) >= sides:  # it may go on for ever, with probability 0
    ...         pass
    ...     return face + 1
    >>> law = audit.enumerate_law(die, 6, rng="random")
    >>> str(law.probabilities[3]), str(law.residual)
    ('1/6', '0')
    """
    law = enumerate_alone(mechanism, dataset, residual=residual, time_limit=time_limit, rng=rng)
    return law if law.behind else hold([law], mechanism, [dataset], time_limit, rng, elsewhere=False)[0]


def enumerate_alone(mechanism: Any, dataset: Any, *, residual: float, time_limit: float, rng: Source) -> EnumeratedLaw:
    """Return the law that an enumeration gives, not yet held to outputs of the code."""
    if not callable(mechanism):
        raise InvalidArgument.of("mechanism", "be callable", mechanism)
    if rng not in get_args(Source):
        raise InvalidArgument.of("rng", f"be one of {', '.join(get_args(Source))}", rng)
    seconds, least = validate.positive(time_limit, "time_limit"), validate.positive(residual, "residual")

    def explore_calls(clock: Clock) -> EnumeratedLaw:
        follower = Follower()
        call = plain_call(mechanism, dataset, _STAND_INS[rng](follower))
        with Watch(follower) as watch:
            explorer = Explorer(call, follower, least, clock, StateReader(call, watch), watch)
            explorer.explore()
            solved = explorer.solve()  # in here no garbage is collected, which would go through the whole graph
        return _law(explorer, *solved)

    return law_apart(explore_calls, seconds)


def _law(explorer: Explorer, texts: dict[str, Fraction], lost: dict[str, Fraction]) -> EnumeratedLaw:
    ordered = dict(sorted(texts.items(), key=lambda item: (-item[1], item[0])))
    return EnumeratedLaw(
        _by_value(ordered, explorer.values),
        1 - sum(ordered.values(), Fraction(0)),
        ordered,
        states=len(explorer.nodes),
        runs=explorer.runs,
        behind=tuple(sorted(explorer.watch.behind)),
        assumed=(HASHES_ASSUMED,),
        merges=explorer.merges,
        merges_tested=explorer.merges_tested,
        not_followed={reason: mass for reason, mass in sorted(lost.items()) if mass},
        notes=tuple(sorted(explorer.reader.notes)),
        seconds=explorer.clock.seconds,
    )


def _by_value(texts: dict[str, Fraction], values: dict[str, Any]) -> dict[Any, Fraction]:
    """Return the law by output, or by text where outputs cannot be keys or are equal to one another."""
    try:
        found = {values[text]: probability for text, probability in texts.items()}
    except TypeError:
        return dict(texts)
    return found if len(found) == len(texts) else dict(texts)
