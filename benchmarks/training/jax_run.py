"""Audit training runs of jax-privacy end to end: as its authors mean them, and with mistakes of a user.

Run as `python -m benchmarks.training.jax_run [independent | banded | buffered ...] [--out DIR]`; needs the extra `jax`.
A logistic regression on the digits is trained with `clipped_grad`, a privatizer and a batch selection of the library.
It prints each verdict with its reason, and writes the certificate of all runs to DIR.

independent: `gaussian_privatizer`; the claim is the event that the library's accountant is told.

* *fixed size*: `FixedBatchSampling` is accounted as Poisson.
* *unit norm*: gradients are rescaled to unit norm, and the noise is that of the clipping norm.
* *state dropped*: the privatizer is initialized at each step, so that its noise is the same at each.
* *drawn size*: the noisy sum is divided by the size of the batch.

banded: all parts of `BandMFExecutionPlanConfig(...).plan`, with three bands, and its `dp_event`.

* *all records*: Poisson batches of all records in place of groups that take turns.
* *two groups* take turns, for three bands.
* *norm forgotten*: a privatizer made by hand, without the norm of the columns of the strategy.
* *strategy as noise*: the noise is multiplied by the strategy in place of its inverse.
* *state dropped*, as above.
* *state restored* from the step of a checkpoint.

buffered: noise of a `BufferedToeplitz` matrix, in epochs of a fixed order: each record returns after 20 steps.

* *one participation*: the noise for records that take part once.
* *no separation*: `FixedBatchSampling`.
* *restarted*: the state of the privatizer is initialized at each epoch.
* *column norm*: the noise of `single_participation_sensitivity` times the root of the participations.

The recorder follows the loop by three lines, which the source marks.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dp_accounting
import jax
import jax.numpy as jnp
import jax_privacy
import numpy as np
import optax
from dp_accounting import dp_event as events
from jax_privacy import batch_selection, noise_addition
from jax_privacy.batch_selection import CyclicPoissonSampling, FixedBatchSampling
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig
from jax_privacy.matrix_factorization import buffered_toeplitz, sensitivity, toeplitz

import audit
from audit import Verdict
from audit.extensions import training
from audit.extensions.training import Strategy
from benchmarks.training.loop import digits

STEPS, BATCH, NOISE, CLIP, STEP_LENGTH = 100, 90, 1.0, 0.5, 0.5
ROOM = 192  # records of a padded batch; a larger one has probability 1e-20
RECORDS = 1_797
BANDS, EPOCH = 3, 20  # bands, which are groups as well, and steps of an epoch
WEIGHTS, DECAYS = (0.3, 0.2), (0.9, 0.5)  # of the buffers
CLIPPED = partial(jax_privacy.clipped_grad, l2_clip_norm=CLIP)


@dataclass(frozen=True)
class Loop:
    """A claim, and the parts of the library that are run."""

    claim: audit.TrainingClaim
    selection: Any
    privatizer: Callable[[int], Any]  # of a seed
    clipped_grad: Callable[..., Any] = CLIPPED
    resume: Callable[[int, list[Any]], Any] = lambda step, states: states[-1]  # the state of the noise at a step
    is_divided_by_drawn_size: bool = False


def loss(parameters: Any, X: Any, y: Any) -> Any:
    """Return the mean cross entropy of a batch."""
    logits = X @ parameters["weights"] + parameters["intercepts"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def train(rng: np.random.Generator, loop: Loop) -> training.Recorder:
    """Train, and return the record of the run."""
    X, y = digits()  # of NumPy: to index an array of jax is compiled for each size of a batch
    clipped_grad = loop.clipped_grad(loss, batch_argnums=(1, 2))
    privatizer = loop.privatizer(int(rng.integers(2**31)))
    parameters = {"weights": jnp.zeros((64, 10)), "intercepts": jnp.zeros(10)}
    privatizer = optax.GradientTransformation(privatizer.init, jax.jit(privatizer.update))
    optimizer, gradient, chosen = optax.sgd(STEP_LENGTH), jax.jit(jax.grad(loss)), np.zeros(0, dtype=int)
    recorder = training.Recorder(
        loop.claim, len(y), gradient=lambda at, record: gradient(at, X[record][None], y[record][None])
    )
    # what a loop adds to be recorded
    summed = recorder.clipped_grad(jax.jit(clipped_grad), batch=lambda: chosen)
    privatizer = recorder.privatizer(privatizer)
    optimizer = recorder.optimizer(optimizer)

    states, moved = [privatizer.init(parameters)], optimizer.init(parameters)
    for step, batch in enumerate(loop.selection.batch_iterator(len(y), rng=rng)):
        chosen = np.asarray(batch, dtype=int)
        padded = np.resize(chosen, ROOM)  # one shape, so that it is compiled once
        total = summed(parameters, X[padded], y[padded], is_padding_example=np.arange(ROOM) >= len(chosen))
        noisy, state = privatizer.update(total, loop.resume(step, states))
        states.append(state)
        divisor = max(1, len(chosen)) if loop.is_divided_by_drawn_size else BATCH
        released = jax.tree.map(lambda leaf, by=divisor: leaf / by, noisy)
        moves, moved = optimizer.update(released, moved, parameters)
        parameters = optax.apply_updates(parameters, moves)
    return recorder


def independent(steps: int) -> Iterator[tuple[str, Loop]]:
    """Yield loops with independent noise: the right one first."""
    sampled = events.PoissonSampledDpEvent(BATCH / RECORDS, events.GaussianDpEvent(NOISE))
    told = events.SelfComposedDpEvent(sampled, steps)
    right = Loop(
        audit.TrainingClaim.of_event(told, clip=CLIP, divisor=BATCH, source="dp_accounting, the event of the loop"),
        CyclicPoissonSampling(sampling_prob=BATCH / RECORDS, iterations=steps),
        lambda seed: noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=seed),
    )
    yield "as meant", right
    yield "fixed size", replace(right, selection=FixedBatchSampling(batch_size=BATCH, iterations=steps))
    yield "unit norm", replace(right, clipped_grad=partial(CLIPPED, rescale_to_unit_norm=True))
    yield "state dropped", replace(right, resume=lambda step, states: states[0])
    yield "drawn size", replace(right, is_divided_by_drawn_size=True)


def _privatizer(noising: Any, deviation: float) -> Callable[[int], Any]:
    """Return what makes a privatizer by hand."""
    return lambda seed: noise_addition.matrix_factorization_privatizer(noising, stddev=deviation, prng_key=seed)


def banded(steps: int) -> Iterator[tuple[str, Loop]]:
    """Yield loops with banded noise and cyclic Poisson sampling: that of the library's plan first."""
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
            partition_type=batch_selection.PartitionType.INDEPENDENT,
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
        strategy=Strategy("banded", tuple(np.asarray(coefficients, dtype=float))),
        divisor=BATCH,
        source="jax_privacy, the event of the plan",
    )
    right = Loop(
        claim,
        parts.batch_selection_strategy,
        lambda seed: plan(seed).noise_addition_transform,
        parts.clipped_grad,
    )
    yield "as meant", right
    yield "all records", replace(right, selection=CyclicPoissonSampling(sampling_prob=rate / BANDS, iterations=steps))
    two = CyclicPoissonSampling(sampling_prob=rate * 2 / BANDS, iterations=steps, cycle_length=2)
    yield "two groups", replace(right, selection=two)
    inverse = toeplitz.inverse_as_streaming_matrix(coefficients)
    yield "norm forgotten", replace(right, privatizer=_privatizer(inverse, NOISE * CLIP))
    norm = float(jnp.linalg.norm(coefficients))
    strategy = toeplitz.materialize_lower_triangular(coefficients, steps)
    yield "strategy as noise", replace(right, privatizer=_privatizer(strategy, NOISE * CLIP * norm))
    yield "state dropped", replace(right, resume=lambda step, states: states[0])
    half, quarter = steps // 2, steps // 4
    yield "state restored", replace(right, resume=lambda step, states: states[quarter if step == half else -1])


def buffered(steps: int) -> Iterator[tuple[str, Loop]]:
    """Yield loops with noise of a buffered Toeplitz matrix and epochs of a fixed order: the right one first."""
    matrix = buffered_toeplitz.BufferedToeplitz.build(DECAYS, WEIGHTS, dtype=jnp.float32)
    coefficients, inverse = matrix.toeplitz_coefs(steps), matrix.inverse_as_streaming_matrix()
    norm = math.sqrt(float(toeplitz.minsep_sensitivity_squared(coefficients, min_sep=EPOCH)))
    column = float(sensitivity.single_participation_sensitivity(matrix.materialize(steps)))
    numbers = tuple(number for pair in zip(WEIGHTS, DECAYS, strict=True) for number in pair)
    claim = audit.TrainingClaim(
        noise_multiplier=NOISE,
        steps=steps,
        clip=CLIP,
        sampling="separated",
        separation=EPOCH,
        strategy=Strategy("buffered", numbers),
        divisor=BATCH,
        source="jax_privacy, toeplitz.minsep_sensitivity_squared",
    )
    right = Loop(
        claim,
        CyclicPoissonSampling(sampling_prob=1.0, iterations=steps, cycle_length=EPOCH),
        _privatizer(inverse, NOISE * CLIP * norm),
    )
    yield "as meant", right
    yield "one participation", replace(right, privatizer=_privatizer(inverse, NOISE * CLIP * column))
    yield "no separation", replace(right, selection=FixedBatchSampling(batch_size=RECORDS // EPOCH, iterations=steps))
    yield "restarted", replace(right, resume=lambda step, states: states[-1 if step % EPOCH else 0])
    several = NOISE * CLIP * column * math.sqrt(-(-steps // EPOCH))
    yield "column norm", replace(right, privatizer=_privatizer(inverse, several))


KINDS = {"independent": independent, "banded": banded, "buffered": buffered}


def checks(kinds: list[str], steps: int = STEPS) -> list[audit.TrainingCheck]:
    """Return a check of each run."""
    loops = [(f"{kind}, {name}", loop) for kind in kinds for name, loop in KINDS[kind](steps)]
    return [
        audit.TrainingCheck(
            name=f"jax-privacy, {name}",
            run=partial(train, loop=loop),
            claim=loop.claim,
            expected=Verdict.PASS if name.endswith("as meant") else Verdict.FAIL,
        )
        for name, loop in loops
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="of noise; all unless given")
    parser.add_argument("--out", default=None, help="folder of the certificate")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    report = audit.run(checks(options.kinds or [*KINDS], options.steps), workers=0)
    for result in report.results:
        print(f"{result.name} ({result.seconds:.0f} s)\n  {result}\n")
    if options.out:
        print(report.save(options.out))


if __name__ == "__main__":
    main()
