"""Check a privacy claim about an object that is asked again by somebody who has read its answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from audit import PrivacyCheck, PrivacyClaim, PrivacyResult, Result, SubjectFailed, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    AnyMethod,
    InvalidArgument,
    PrivacyEvidence,
    claims,
    defaults,
    document_from,
    encode,
    run_alone,
    show,
    validate,
    walk,
)
from audit.extensions.interactive.conversation import Conversation, Moves, Plan, StatedConversation, analyst_of
from audit.extensions.interactive.ledger import Ledger, Transcript, Turn, overspent, rational

_LEDGER, _TELLING = 31, 32  # children of a check's stream
_RECORDED = 50  # conversations on each dataset whose ledger is read
_SOUGHT = 500  # conversations among which one is looked for that breaks a claim
_SHOWN = 120  # characters of a move or an answer


@dataclass(frozen=True, repr=False, eq=False)
class InteractiveResult(PrivacyResult):
    """The outcome of a check of conversations: that of a privacy check, with the conversation that breaks the claim.

    Examples
    --------
    >>> import audit
    >>> class Open:
    ...     def __init__(self, data, rng):
    ...         self.data = data
    ...     def ask(self, row):
    ...         return self.data[row]
    >>> result = audit.check_interactive(
    ...     Open, audit.PrivacyClaim(1.0), [([0], [1])], analyst=[("ask", 0)], budget=2_000)
    >>> [(turn.move, turn.answer) for turn in result.conversation]
    [('ask(0)', '0')]
    """

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The conversation that breaks the claim, turn by turn; empty where none does."""
        ledger, transcript = self.evidence.by(Ledger), self.evidence.by(Transcript)
        if self.verdict is not Verdict.FAIL:
            return ()
        return transcript.turns if transcript is not None else ledger.payments if ledger is not None else ()

    def details(self) -> Iterator[str]:
        """Yield setting and witness, and the conversation."""
        yield from super().details()
        transcript = self.evidence.by(Transcript)
        if transcript is not None and self.conversation:
            yield f"a conversation on {transcript.side} that breaks the claim:"
        for number, turn in enumerate(self.conversation, 1):
            cost = "" if turn.cost is None else f": costs {turn.cost}"
            cost += "" if turn.charged is None else f", charged {turn.charged} so far"
            yield f"{number}. {turn.move} -> {turn.answer}{cost}"


@dataclass(frozen=True, kw_only=True)
class InteractiveCheck(PrivacyCheck):
    """A privacy claim about a whole conversation with an object that answers, keeps a budget, and is asked again.

    The transcript is the output: every answer, and in place of an exception its type and text. Answers of the type of
    the object, or of `handles`, are objects to be asked in turn, and are recorded by the name of their type.

    Parameters
    ----------
    make : callable (dataset, rng) or (dataset)
        Opens the object under audit. For a stream, the dataset is the stream, and the object takes its next event at
        each move. `rng`, by this name or as a second argument that is required, is a `numpy.random.Generator`; without
        it the object draws its own randomness.
    claim : PrivacyClaim, GaussianClaim, RenyiClaim or ZeroConcentratedClaim
        The claim about the whole conversation. Streams that differ in one event are neighbors under
        `Substitution()`, streams that differ in k events of one user under `Group(k)`.
    analyst : generator function, sequence of moves, or Moves
        Who asks: `answer = yield move`, deterministic given the answers; exceptions come back as `audit.Refusal`. A
        move is `("method", argument, ...)`, `(object, "method", argument, ...)` for an object that was answered, or a
        callable that is given the object. For `audit.Moves` the auditor searches the worst conversation, on runs
        that certify nothing, and certifies it on fresh ones.
    law : callable (dataset, moves), optional
        The law of the answer to the last move, from `audit.laws`: the analyst is a list of moves, and answers are
        independent. A refusal is the outcome `Refusal(text)`. The verdict is then exact, and the object is tested
        against the laws turn by turn.
    cost : callable (move, answer), optional
        The cost of an answer by the object's own documentation: a number. Conversations whose answers cost more than
        `limit` are a FAIL without sampling; a refusal that used no noise costs 0. Sums are of fractions: 0.1 is 1/10.
    charged : callable (object), optional
        The object's own account of its charges so far. Less than the costs (by more than rounding) is a FAIL.
    limit : number >= 0, optional
        The allowed cost of a conversation: the epsilon of a pure claim unless given.
    handles : tuple of types, optional
        Types of answers that are objects to be asked in turn.
    name, pairs, datasets, method, tolerance, expected, budget, timeout
        See `audit.PrivacyCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.
    NotNeighboring
        For a pair that is not neighboring under the claim's relation.

    References
    ----------
    Vadhan and Wang (2021), Concurrent composition of differential privacy, definition 2: the view of an adversary.
    Rogers, Roth, Ullman and Vadhan (2016), Privacy odometers and filters: pay-as-you-go composition.
    """

    make: Any
    analyst: Any
    law: Callable[..., Any] | None = None
    cost: Callable[[Any, Any], Any] | None = None
    charged: Callable[[Any], Any] | None = None
    limit: Any | None = None
    handles: tuple[type, ...] = ()
    mechanism: Any = field(default=None, init=False)  # made of the others

    kind: ClassVar[str] = "interactive"
    noun: ClassVar[str] = "the object"
    result_type: ClassVar[type[Result]] = InteractiveResult

    def _validate(self) -> None:
        if not callable(self.make):
            raise InvalidArgument.of("make", "be callable as (dataset, rng)", self.make)
        object.__setattr__(self, "analyst", analyst_of(self.analyst))
        analyst = () if isinstance(self.analyst, Moves) else self.analyst
        parts = self.make, _needs_rng(self.make), analyst, self.handles
        conversation = Conversation(*parts)
        if self.law is not None:
            conversation = StatedConversation(*parts, stated=self.law)
        object.__setattr__(self, "mechanism", conversation)
        if isinstance(self.analyst, Moves):
            object.__setattr__(self, "parameters", {"plan": self.analyst.strategy()})
        elif self.parameters is not None:
            raise InvalidArgument("`parameters` must be left out: give analyst=audit.Moves(...)")
        if self.charged is not None and self.cost is None:
            raise InvalidArgument("`charged` needs `cost`: give cost=lambda move, answer: ..., the cost of an answer")
        if self.cost is not None:
            _ = self._limit
        super()._validate()

    @property
    def _limit(self) -> Any:
        if self.limit is not None:
            return rational(self.limit)
        if isinstance(self.claim, PrivacyClaim) and self.claim.delta == 0:
            return rational(self.claim.epsilon)
        raise InvalidArgument("`limit` must be given with `cost` unless the claim is pure: type limit=1.0, for example")

    def at(self, setting: Mapping[str, Any]) -> Self:
        """Return the check with the analyst that makes these moves."""
        if not isinstance(self.analyst, Moves):
            return self
        plan = Plan(tuple(map(tuple, setting["plan"])))
        return replace(self, analyst=plan, parameters=None)

    def gather(self, allowance: Allowance) -> PrivacyEvidence:
        """Read ledgers, gather evidence as for a privacy check, and tell the conversation that breaks the claim."""
        if isinstance(self.analyst, Moves):  # a search comes first, and then the check that it found
            return super().gather(allowance)
        samples, ways = 0, list[Any]()
        try:
            if self.cost is not None:
                ledger, samples = self._ledger(allowance)
                ways.append(ledger)
                if overspent(ledger.payments, self._limit):
                    return PrivacyEvidence(samples, tuple(ways))
            evidence = super().gather(allowance)
            if (game := evidence.game) is not None and game.events is not None:
                judged = self.judge(self.terms(), evidence, allowance.significance)
                if judged.verdict is Verdict.FAIL:
                    transcripts, drawn = self._find_transcript(evidence, allowance)
                    samples, ways = samples + drawn, [*ways, *transcripts]
        except SubjectFailed as failure:
            return PrivacyEvidence(samples, tuple(ways), failure=f"the object {failure}")
        return replace(evidence, samples=evidence.samples + samples, ways=(*ways, *evidence.ways))

    def _ledger(self, allowance: Allowance) -> tuple[Ledger, int]:
        """Return the ledger of the conversation that was worst for the budget, and how many were held."""
        found = [
            (self._converse(dataset, rng)[0], index, side)
            for index, pair in enumerate(self.pairs)
            for number, (side, dataset) in enumerate(zip(("left", "right"), pair, strict=True))
            for rng in [allowance.stream.child(_LEDGER, index, number).rng()] * _RECORDED
        ]
        excess = [
            (bool(overspent(paid, self._limit)), sum(rational(each.cost or 0) for each in paid)) for paid, _, _ in found
        ]
        payments, index, side = found[excess.index(max(excess))]
        return Ledger(len(found), index, side, str(self._limit), payments), len(found)

    def _find_transcript(self, evidence: PrivacyEvidence, allowance: Allowance) -> tuple[list[Transcript], int]:
        """Return a conversation of the event that breaks the claim, and how many were held to find it."""
        game = evidence.game
        assert game is not None
        assert game.events is not None
        counts, size = game.counts, min(_SOUGHT, allowance.budget // 10)
        sign, side = (1, 0) if counts.leads_left else (-1, 1)
        dataset, streams = self.pairs[game.pair][side], allowance.stream.child(_TELLING)
        held = [self._converse(dataset, streams.child(run).rng()) for run in range(size)]
        event = game.events.guess(encode([answers for _, answers in held], size)) == sign
        turns = next((turns for (turns, _), is_in in zip(held, event, strict=True) if is_in and turns), ())
        return [Transcript(game.pair, ("left", "right")[side], turns)] if turns else [], size

    def _converse(self, dataset: Any, rng: Any) -> tuple[tuple[Turn, ...], Any]:
        """Hold one conversation, and return its turns as text, with their costs, and its transcript."""
        try:
            opened = self.mechanism.open(dataset, rng)
        except Exception as error:
            return (), walk.Raised(error)
        turns, answers = list[Turn](), list[Any]()
        for move, answer in self.mechanism.turns(opened):
            cost = None if self.cost is None else str(rational(self.cost(move, answer)))
            charged = None if self.charged is None else str(rational(self.charged(opened)))
            turns.append(Turn(_move(move, answers), _text(self.mechanism.read(answer, opened)), cost, charged))
            answers.append(answer)
        return tuple(turns), tuple(self.mechanism.read(answer, opened) for answer in answers)


def _needs_rng(make: Any) -> bool:
    """Return whether a callable needs a second argument, whatever its name; of a class that forwards, its base says."""
    try:
        for each in make.__mro__ if inspect.isclass(make) else (make,):
            signature = inspect.signature(each)
            if all(part.kind is not part.VAR_POSITIONAL for part in signature.parameters.values()):
                named = list(signature.parameters.values())[1:2]
                return bool(named) and (named[0].name == "rng" or named[0].default is named[0].empty)
    except (TypeError, ValueError):  # without a signature
        pass
    return False


def _move(move: Any, answers: list[Any]) -> str:
    """Return a move as text; an argument that repeats an earlier answer is named so."""
    if callable(move):
        return str(getattr(move, "__name__", type(move).__name__))
    target, name, *arguments = ("", *move) if isinstance(move[0], str) else (f"{type(move[0]).__name__}.", *move[1:])
    earlier = {answer: f"answer {turn}" for turn, answer in enumerate(answers, 1) if isinstance(answer, float)}
    said = (earlier.get(each) or _text(each) if isinstance(each, float) else _text(each) for each in arguments)
    return f"{target}{name}({', '.join(said)})"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else show(value, _SHOWN)


@document_from(InteractiveCheck)
def check_interactive(
    make: Any,
    claim: claims.Claim,
    pairs: Sequence[tuple[Any, Any]] = (),
    *,
    analyst: Any,
    law: Callable[..., Any] | None = None,
    cost: Callable[[Any, Any], Any] | None = None,
    charged: Callable[[Any], Any] | None = None,
    limit: Any | None = None,
    handles: tuple[type, ...] = (),
    datasets: Any | None = None,
    method: AnyMethod = "auto",
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS, name: str | None = None, budget: validate.Budget = defaults.DEFAULT_BUDGET,
    significance: float = defaults.DEFAULT_SIGNIFICANCE, confirmation: float | None = defaults.DEFAULT_CONFIRMATION,
    seed: int = 0, timeout: float | None = None, workers: int | None = None,
) -> InteractiveResult:  # fmt: skip
    """Test a privacy claim about whole conversations with an object that answers.

    Examples
    --------
    >>> import audit
    >>> class Counts:  # charges after it has answered: two answers at 0.9 under a claim of 1
    ...     def __init__(self, data, rng):
    ...         self.data, self.rng, self.spent = data, rng, 0.0
    ...     def ask(self, epsilon):
    ...         if self.spent > 1.0:
    ...             raise PermissionError("the budget is spent")
    ...         self.spent += epsilon
    ...         return self.data[0] + self.rng.laplace(scale=1 / epsilon)
    >>> result = audit.check_interactive(
    ...     Counts, audit.PrivacyClaim(1.0), [([0], [1])], analyst=[("ask", 0.9)] * 3,
    ...     cost=lambda move, answer: 0 if isinstance(answer, audit.Refusal) else move[1])
    >>> print(result.verdict, result.reason)
    FAIL the 3 turns of a conversation cost 9/5 (1.8), and 1 is claimed (taking the costs for granted)
    """
    return run_alone(
        InteractiveCheck(
            name=name or UNNAMED, make=make, claim=claim, pairs=pairs, analyst=analyst, law=law, cost=cost,
            charged=charged, limit=limit, handles=handles, datasets=datasets, method=method, tolerance=tolerance,
            expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed, workers=workers,
    )  # fmt: skip
