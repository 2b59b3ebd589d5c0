"""Audit jax-privacy in its own modes, in one jitted step: as its authors mean them, and with mistakes of a user.

`python -m benchmarks.training.jax_run [NAME ...] [--out DIR]` trains a logistic regression on the digits in all modes
whose names begin with one of the given texts, and writes the certificate to DIR; needs the extra `jax`. Four lines
follow the loop: of `clipped_grad`, privatizer, optimizer, batches.

The noise is that of `gaussian_privatizer`, and the claim the event that the library's accountant is told, but for

* *banded*: all parts of `BandMFExecutionPlanConfig(...).plan`, with three bands, and its `dp_event`.
* *buffered*: noise of a `BufferedToeplitz` matrix, in epochs of a fixed order: each record returns after 20 steps.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import dp_accounting
import jax
import jax.numpy as jnp
import jax_privacy
import numpy as np
import optax
from dp_accounting import dp_event as events
from jax_privacy import noise_addition
from jax_privacy.batch_selection import CyclicPoissonSampling, FixedBatchSampling, PartitionType
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig
from jax_privacy.matrix_factorization import buffered_toeplitz, sensitivity, toeplitz

import audit
from audit import Verdict
from audit.extensions import training
from benchmarks.training.loops import digits

STEPS, BATCH, NOISE, CLIP, RECORDS, ROOM = 100, 90, 1.0, 0.5, 1797, 192
RATE = BATCH / RECORDS
BANDS, EPOCH = 3, 20  # bands, which are groups as well, and steps of an epoch
WEIGHTS, DECAYS = (0.3, 0.2), (0.9, 0.5)  # of the buffers
Loops = dict[str, dict[str, Any]]


class Shuffled:
    """Batches of epochs that are shuffled and cut."""

    def batch_iterator(self, records: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        for _ in range(6):
            yield from rng.permutation(records)[: 19 * BATCH].reshape(19, BATCH)


def claim_of(rate: float = RATE, is_fixed: bool = False, of_mean: bool = False) -> audit.TrainingClaim:
    """Return what the accountant is told."""
    noise: Any = events.GaussianDpEvent(NOISE)
    sampled = events.PoissonSampledDpEvent(rate, noise)
    if is_fixed:
        sampled = events.SampledWithoutReplacementDpEvent(RECORDS, BATCH, noise)
    scale = {"clip": CLIP / BATCH, "divisor": 1.0} if of_mean else {"clip": CLIP, "divisor": BATCH}
    return audit.TrainingClaim.of_event(events.SelfComposedDpEvent(sampled, STEPS), **scale)


def drop_state(step: int, states: list[Any]) -> Any:
    """Return the first state of the noise at each step."""
    return states[0]


FIXED = FixedBatchSampling(batch_size=BATCH, iterations=STEPS)
RARE = CyclicPoissonSampling(sampling_prob=0.0015, iterations=STEPS)
RIGHT: Loops = {
    "jitted": {}, "eager": {"is_traced": False}, "microbatches": {"grad": {"microbatch_size": 32}},
    "normalize_by": {"grad": {"normalize_by": BATCH}}, "unit norm": {"grad": {"rescale_to_unit_norm": True}},
    "values returned": {"grad": {"return_values": True, "return_grad_norms": True}},
    "augmentation": {"copies": 4}, "key of the loss": {"dropout": 0.2}, "bfloat16": {"grad": {"dtype": jnp.bfloat16}},
    "Adam and its mean": {"optimizer": optax.adam(0.05)}, "chained": {"is_chained": True},
    "scan over two steps": {"inner": 2}, "empty batches": {"claim": claim_of(rate=0.0015), "selection": RARE},
    "fixed size": {"claim": claim_of(is_fixed=True), "selection": FIXED},
    "claim of the mean": {"claim": claim_of(of_mean=True), "grad": {"normalize_by": BATCH}},
}  # fmt: skip
WRONG: Loops = {
    "key of the step": {"fault": "key"}, "folded key": {"fault": "fold"}, "state dropped": {"resume": drop_state},
    "noise / 4": {"noise": NOISE / 4}, "clip x 4": {"grad": {"l2_clip_norm": 4 * CLIP}}, "raw": {"fault": "raw"},
    "raw added": {"fault": "added"}, "drawn size": {"fault": "size"}, "fixed as Poisson": {"selection": FIXED},
    "truncated batches": {"fault": "cut"}, "shuffled as Poisson": {"selection": Shuffled()},
    "unit norm, old noise": {"grad": {"rescale_to_unit_norm": True}, "fault": "unit"},
    "noise by batch": {"fault": "by batch"}, "bare leaf": {"fault": "bare"}, "one step more": {"steps": STEPS + 1},
    "same key for leaves": {"fault": "leaves"}, "moved beside": {"fault": "beside"},
}  # fmt: skip


def make_privatizer(noising: Any, deviation: float) -> Callable[[int], Any]:
    """Return a function that makes a privatizer of a matrix by hand."""
    return lambda seed: noise_addition.matrix_factorization_privatizer(noising, stddev=deviation, prng_key=seed)


def banded() -> tuple[Loops, Loops]:
    """Return the loop of the library's plan, with banded noise and cyclic Poisson sampling; and faulty ones."""
    steps = 120  # 40 rounds, which are told from a fixed size at 1e-8
    coefficients, rate = toeplitz.optimal_max_error_strategy_coefs(BANDS), BATCH * BANDS / RECORDS

    def plan(seed: int = 0) -> Any:
        return BandMFExecutionPlanConfig(
            iterations=steps,
            strategy=coefficients,
            epsilon=None,
            delta=None,
            noise_multiplier=NOISE,
            l2_clip_norm=CLIP,
            rescale_to_unit_norm=False,
            sampling_prob=rate,
            partition_type=PartitionType.INDEPENDENT,
            accountant=dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE),
            noise_seed=seed,
        ).plan

    parts = plan()
    sampled = parts.dp_event.event  # composed with itself, once a round
    claim = audit.TrainingClaim(
        noise_multiplier=sampled.event.noise_multiplier,
        steps=steps,
        clip=CLIP,
        sampling="cyclic",
        rate=sampled.sampling_probability,
        separation=BANDS,
        strategy=coefficients,
        divisor=BATCH,
        source="jax_privacy, the event of the plan",
    )
    right = {
        "claim": claim,
        "steps": steps,
        "selection": parts.batch_selection_strategy,
        "privatizer": lambda seed: plan(seed).noise_addition_transform,
        "clipped_grad": parts.clipped_grad,
    }
    inverse = toeplitz.inverse_as_streaming_matrix(coefficients)
    strategy = toeplitz.materialize_lower_triangular(coefficients, steps)
    deviation = NOISE * CLIP * float(jnp.linalg.norm(coefficients))
    two = CyclicPoissonSampling(sampling_prob=rate * 2 / BANDS, iterations=steps, cycle_length=2)
    changes: Loops = {
        "all records": {"selection": CyclicPoissonSampling(sampling_prob=rate / BANDS, iterations=steps)},
        "two groups": {"selection": two},
        "norm forgotten": {"privatizer": make_privatizer(inverse, NOISE * CLIP)},
        "strategy as noise": {"privatizer": make_privatizer(strategy, deviation)},
        "state dropped": {"resume": drop_state},
        "state restored": {"resume": lambda step, states: states[steps // 4 if step == steps // 2 else -1]},
    }
    return {"banded": right}, {f"banded: {name}": right | change for name, change in changes.items()}


def buffered() -> tuple[Loops, Loops]:
    """Return a loop with noise of a buffered Toeplitz matrix and epochs of a fixed order; and faulty ones."""
    matrix = buffered_toeplitz.BufferedToeplitz.build(DECAYS, WEIGHTS, dtype=jnp.float32)
    coefficients, inverse = matrix.toeplitz_coefs(STEPS), matrix.inverse_as_streaming_matrix()
    norm = math.sqrt(float(toeplitz.minsep_sensitivity_squared(coefficients, min_sep=EPOCH)))
    column = float(sensitivity.single_participation_sensitivity(matrix.materialize(STEPS)))
    claim = audit.TrainingClaim(
        noise_multiplier=NOISE,
        steps=STEPS,
        clip=CLIP,
        sampling="separated",
        separation=EPOCH,
        strategy=coefficients,
        divisor=BATCH,
        source="jax_privacy, toeplitz.minsep_sensitivity_squared",
    )
    right = {
        "claim": claim,
        "selection": CyclicPoissonSampling(sampling_prob=1.0, iterations=STEPS, cycle_length=EPOCH),
        "privatizer": make_privatizer(inverse, NOISE * CLIP * norm),
    }
    several = NOISE * CLIP * column * math.sqrt(-(-STEPS // EPOCH))
    changes: Loops = {
        "one participation": {"privatizer": make_privatizer(inverse, NOISE * CLIP * column)},
        "no separation": {"selection": FixedBatchSampling(batch_size=RECORDS // EPOCH, iterations=STEPS)},
        "restarted": {"resume": lambda step, states: states[-1 if step % EPOCH else 0]},
        "column norm": {"privatizer": make_privatizer(inverse, several)},
    }
    return {"buffered": right}, {f"buffered: {name}": right | change for name, change in changes.items()}


def train(
    rng: np.random.Generator, *, claim: audit.TrainingClaim | None = None, grad: Any = None, is_traced: bool = True,
    copies: int = 1, dropout: float = 0.0, optimizer: Any = None, is_chained: bool = False, inner: int = 1,
    selection: Any = None, privatizer: Any = None, clipped_grad: Any = None, resume: Any = None, noise: float = NOISE,
    fault: str = "", steps: int = STEPS,
) -> training.Recorder:  # fmt: skip
    """Train, and return the record of the run."""
    X, y = digits()
    X, given = X.astype(np.float32), {} if clipped_grad else {"l2_clip_norm": CLIP, **(grad or {})}
    recorder = training.Recorder(claim or claim_of(), RECORDS)

    def loss(weights: Any, X: Any, y: Any, key: Any) -> Any:
        if copies > 1:  # each copy is moved a little
            X = X + 0.01 * jax.random.normal(key, (copies, *X.shape))
        keep = jax.random.bernoulli(key, 1 - dropout, X.shape[-1:]) if dropout else 1.0
        logits = (X * keep) @ weights["weights"] + weights["intercepts"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, jnp.broadcast_to(y, logits.shape[:-1])).mean()

    scale = 1 / given.get("normalize_by", 1.0)
    if given.get("rescale_to_unit_norm") and fault != "unit":
        scale /= CLIP
    made = (clipped_grad or jax_privacy.clipped_grad)(loss, batch_argnums=(1, 2), prng_argnum=3, **given)
    summed = recorder.clipped_grad(made)
    seed = int(rng.integers(2**31))
    plain = noise_addition.gaussian_privatizer(stddev=noise * CLIP * scale, prng_key=seed)
    private = privatizer(seed) if privatizer else plain
    blur = recorder.privatizer(private)
    inner_optimizer = recorder.optimizer(optimizer or optax.sgd(0.5))
    chain = optax.chain(blur, optax.scale(given.get("normalize_by", 1.0) / BATCH), inner_optimizer)
    weights = {"weights": jnp.zeros((64, 10)), "intercepts": jnp.zeros(10)}

    def blurred(total: Any, state: Any, params: Any = None, *, number: Any, size: Any) -> Any:
        if fault in ("key", "fold"):
            key = jax.random.PRNGKey(number) if fault == "key" else jax.random.fold_in(jax.random.PRNGKey(0), number)
            state = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=key).init(total)
        if fault == "leaves":
            drawn = jax.random.normal(jax.random.fold_in(jax.random.PRNGKey(91), number), (64, 10))
            extra = {"weights": drawn, "intercepts": drawn[0]}
            return jax.tree.map(lambda a, b: a + NOISE * CLIP * b, total, extra), state
        noisy, after = private.update(total, state)
        if fault == "by batch":
            noisy = jax.tree.map(lambda a, b: b + (a - b) * size / BATCH, noisy, total)
        if fault == "bare":
            noisy = {**noisy, "intercepts": total["intercepts"]}
        return noisy, after

    if fault:
        blur = recorder.privatizer(optax.GradientTransformationExtraArgs(private.init, blurred))

    def step(weights: Any, states: Any, X: Any, y: Any, padding: Any, key: Any, number: Any) -> Any:
        total = summed(weights, X, y, key, is_padding_example=padding)
        total = total[0] if made.has_aux else total
        if is_chained:
            moves, chained = chain.update(total, states, weights)
            return optax.apply_updates(weights, moves), chained
        size = jnp.maximum(1, (~padding).sum())
        noisy, state = (
            blur.update(total, states[0], number=number, size=size) if fault else blur.update(total, states[0])
        )
        divisor = size if fault == "size" else BATCH / given.get("normalize_by", 1.0)
        shown = jax.tree.map(lambda part: part / divisor, total if fault == "raw" else noisy)
        if fault == "added":
            shown = jax.tree.map(lambda a, b: a + 0.1 * b / BATCH, shown, total)
        moves, other = inner_optimizer.update(shown, states[1], weights)
        weights = optax.apply_updates(weights, moves)
        if fault == "beside":
            weights = jax.tree.map(lambda a, b: a - 0.01 * b / BATCH, weights, total)
        return weights, (state, other)

    def steps_of(weights: Any, states: Any, *parts: Any) -> Any:
        if inner == 1:
            return step(weights, states, *(part[0] for part in parts))
        return jax.lax.scan(lambda at, part: (step(*at, *part), 0.0), (weights, states), parts)[0]

    run = jax.jit(steps_of) if is_traced else steps_of
    states: Any = chain.init(weights) if is_chained else (private.init(weights), inner_optimizer.init(weights))
    drawn = selection or CyclicPoissonSampling(sampling_prob=RATE, iterations=steps)
    batches: Any = itertools.islice(drawn.batch_iterator(RECORDS, rng=rng), steps)
    if fault == "cut":
        batches = (batch[:95] for batch in batches)
    taken: list[Any] = []
    past = [states[0]]
    for number, batch in enumerate(recorder.batches(batches)):
        padded, padding = np.resize(batch, ROOM) if len(batch) else np.zeros(ROOM, int), np.arange(ROOM) >= len(batch)
        taken.append((X[padded], y[padded], padding, jax.random.fold_in(jax.random.key(7), number), number))
        if len(taken) == inner:
            given_states = (resume(number, past), states[1]) if resume else states
            weights, states = run(weights, given_states, *map(_stacked, zip(*taken, strict=True)))
            past.append(states[0])
            taken = []
        if fault == "twice" and number == 3:  # beside the steps
            summed(weights, X[padded], y[padded], jax.random.key(7), is_padding_example=padding)
    return recorder


def _stacked(parts: Any) -> Any:
    return jnp.stack([jnp.asarray(part) for part in parts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[""], help="beginnings of names; all unless given")
    parser.add_argument("--out", default=None, help="folder of the certificate")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    right, wrong = zip((RIGHT, WRONG), banded(), buffered(), strict=True)
    checks = [
        audit.TrainingCheck(
            name=name, run=partial(train, **settings), claim=settings.get("claim") or claim_of(), expected=expected,
            tolerance=0.3 if name == "empty batches" else 0.1,
        )
        for loops, expected in ((right, Verdict.PASS), (wrong, Verdict.FAIL))
        for name, settings in [pair for each in loops for pair in each.items()]
        if name.startswith(tuple(options.names))
    ]  # fmt: skip
    report = audit.run(checks, workers=0)
    for result in report.results:
        print(f"{result.name:28} {result.verdict:12} {result.seconds:4.1f} s  {result.reason}", flush=True)
    if options.out:
        print(report.save(options.out))


if __name__ == "__main__":
    main()
