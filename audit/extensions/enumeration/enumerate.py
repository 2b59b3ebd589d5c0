"""Find the output law of code: run it along every path of its random choices, the likeliest first."""

from __future__ import annotations

import platform
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from audit.api import FORKS, InvalidArgument, integer, positive
from audit.extensions.enumeration import frames
from audit.extensions.enumeration.apart import WatchState, law_apart
from audit.extensions.enumeration.calls import Calls
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, EnumeratedLaw
from audit.extensions.enumeration.exploring import Explorer, Limits
from audit.extensions.enumeration.following import Follower
from audit.extensions.enumeration.real_outputs import hold, plain_call
from audit.extensions.enumeration.replaced_code import with_restarts
from audit.extensions.enumeration.sources import (
    ForkingBytes,
    ForkingGenerator,
    ForkingRandom,
    ForkingRandomState,
    ForkingSystemRandom,
)
from audit.extensions.enumeration.states import StateReader
from audit.extensions.enumeration.watching import Watch

T = TypeVar("T")
Source = Literal["numpy", "random", "random_state", "bytes"]
_STAND_INS: dict[str, Any] = {
    "numpy": ForkingGenerator,
    "random": ForkingRandom,
    "random_state": ForkingRandomState,
    "bytes": ForkingBytes,
}


def enumerate_law(
    mechanism: Any,
    dataset: Any,
    *,
    residual: float = 1e-12,
    time_limit: float = 60.0,
    states: int = 200_000,
    rng: Source = "numpy",
    generator: str | None = None,
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
    states : int >= 1
        Number of states after which the rest is left over.
    rng : {"numpy", "random", "random_state", "bytes"}
        The type of the stand-in that the mechanism is given: `numpy.random.Generator`, `random.Random`,
        `numpy.random.RandomState`, or a stream of random bytes with a method `read(size)`.
    generator : str, optional
        Name of the attribute that holds the generator, of the object whose method `mechanism` is (or of `mechanism`).
        A stand-in of its type takes its place during the call.

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
    settings = {"time_limit": time_limit, "rng": rng, "generator": generator}
    law = enumerate_alone(mechanism, dataset, residual=residual, states=states, **settings)  # type: ignore[arg-type]
    return law if law.behind else hold([law], mechanism, [dataset], settings, elsewhere=False)[0]


def enumerate_alone(
    mechanism: Any,
    dataset: Any,
    *,
    residual: float,
    time_limit: float,
    states: int,
    rng: Source,
    generator: str | None,
) -> EnumeratedLaw:
    """Return the law that an enumeration gives, not yet held to outputs of the code."""
    if not callable(mechanism):
        raise InvalidArgument.of("mechanism", "be callable", mechanism)
    if rng not in get_args(Source):
        raise InvalidArgument.of("rng", f"be one of {', '.join(get_args(Source))}", rng)
    if generator is not None:
        _holder_of(mechanism, generator)
    seconds = positive(time_limit, "time_limit")
    limits = positive(residual, "residual"), integer(states, "states", at_least=1)

    def enumerated(gate: WatchState) -> EnumeratedLaw:
        return _enumerated(mechanism, dataset, Limits(*limits, gate), rng, generator)

    if FORKS:
        return law_apart(enumerated, seconds)
    gate = WatchState()
    gate.begin_here(seconds)
    return enumerated(gate)


def _enumerated(mechanism: Any, dataset: Any, limits: Limits, rng: Source, generator: str | None) -> EnumeratedLaw:
    """Return the law of code that runs in this process."""
    follower = Follower()
    calls = Calls(follower)

    def explored(call: Callable[[], Any]) -> EnumeratedLaw:
        return explore(call, follower, limits, calls)

    return _with_call(explored, mechanism, dataset, follower, rng, generator)


def _with_call(
    use: Callable[[Callable[[], Any]], T], mechanism: Any, dataset: Any, follower: Follower, rng: Source, generator: Any
) -> T:
    """Return the result of `use` on a call that draws from the follower's stand-ins."""
    if generator is None:
        call = plain_call(mechanism, dataset, _STAND_INS[rng](follower))
        return with_restarts(lambda: use(call))
    holder = _holder_of(mechanism, generator)
    kept = getattr(holder, generator)
    setattr(holder, generator, _stand_in_for(kept, follower))
    try:
        call = plain_call(mechanism, dataset, None)
        return with_restarts(lambda: use(call))
    finally:
        setattr(holder, generator, kept)


def _holder_of(mechanism: Any, generator: str) -> Any:
    """Return the object that has a generator as an attribute of this name."""
    holder = getattr(mechanism, "__self__", mechanism)
    try:
        kept = getattr(holder, generator)
    except AttributeError:
        raise InvalidArgument.of("generator", f"name an attribute of {type(holder).__name__}", generator) from None
    _stand_in_for(kept, Follower())
    return holder


def _stand_in_for(kept: Any, follower: Follower) -> Any:
    kinds = ((np.random.Generator, ForkingGenerator), (np.random.RandomState, ForkingRandomState))
    for kind, stand_in in (*kinds, (random.SystemRandom, ForkingSystemRandom), (random.Random, ForkingRandom)):
        if isinstance(kept, kind):
            return stand_in(follower)
    raise InvalidArgument.of("generator", "name an attribute that holds a generator of random or of NumPy", kept)


NOT_SEEN = (
    "addresses in the texts of objects",
    "entropy, clocks and files that C code asks the system for",
    "clocks that C code reads without a system call",
    "state that a C extension keeps for itself between two draws",
)
_NO_STATES = f"equal states: frames of Python {platform.python_version()} are not read, and no states are merged"


def explore(call: Callable[[], Any], follower: Follower, limits: Limits, calls: Calls) -> EnumeratedLaw:
    """Return the output law of a call that draws from the follower's stand-ins."""
    started = limits.gate.seconds()
    with Watch(follower, limits.gate) as watch:
        reader = StateReader(call, watch)
        explorer = Explorer(call, follower, limits, reader, watch)
        calls.attend(explorer)
        explorer.explore()
        explorer.repeat()
        seconds = limits.gate.seconds() - started
        solved = explorer.solve()  # in here no garbage is collected, which would go through the whole graph
    return _law(explorer, *solved, seconds)


def _law(explorer: Explorer, texts: dict[str, Fraction], lost: dict[str, Fraction], seconds: float) -> EnumeratedLaw:
    nodes, watch = explorer.nodes, explorer.watch
    ordered = dict(sorted(texts.items(), key=lambda item: (-item[1], item[0])))
    return EnumeratedLaw(
        _by_value(ordered, explorer.values),
        1 - sum(ordered.values(), Fraction(0)),
        ordered,
        states=len(nodes),
        draws=explorer.follower.draws,
        runs=explorer.runs,
        behind=tuple(sorted(watch.behind)),
        assumed=(HASHES_ASSUMED,),
        not_seen=NOT_SEEN if frames.IS_READABLE else (*NOT_SEEN, _NO_STATES),
        merges=explorer.merges.number,
        merges_tested=explorer.merges.tested,
        not_followed={reason: mass for reason, mass in sorted(lost.items()) if mass},
        notes=tuple(sorted(explorer.reader.notes)),
        seconds=seconds,
    )


def _by_value(texts: dict[str, Fraction], values: dict[str, Any]) -> dict[Any, Fraction]:
    """Return the law by output, or by text where outputs cannot be keys or are equal to one another."""
    try:
        found = {values[text]: probability for text, probability in texts.items()}
    except TypeError:
        return dict(texts)
    return found if len(found) == len(texts) else dict(texts)
