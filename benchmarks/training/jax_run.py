"""Audit a training run of jax-privacy end to end: as its authors mean it, and with four mistakes of a user.

Run as `python -m benchmarks.training.jax_run [--out DIR]`; needs the extra `jax`. A logistic regression on the digits
is trained with `clipped_grad`, `gaussian_privatizer` and a batch selection of the library. The claim is the event that
its accountant is told. It prints each verdict with its reason, and writes the certificate of all runs to DIR.

* *fixed size*: `FixedBatchSampling` is accounted as Poisson.
* *unit norm*: gradients are rescaled to unit norm, and the noise is that of the clipping norm.
* *state dropped*: the privatizer is initialized at each step, so that its noise is the same at each.
* *drawn size*: the noisy sum is divided by the size of the batch.

The recorder follows the loop by three lines, which the source marks.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax_privacy
import numpy as np
import optax
from dp_accounting import dp_event as events
from jax_privacy import batch_selection, noise_addition

import audit
from audit import Verdict, training
from benchmarks.training.loop import digits

STEPS, BATCH, NOISE, CLIP, STEP_LENGTH = 100, 90, 1.0, 0.5, 0.5
ROOM = 192  # records of a padded batch; a larger one has probability 1e-20
MISTAKES = ("", "fixed size", "unit norm", "state dropped", "drawn size")


def loss(parameters: Any, X: Any, y: Any) -> Any:
    """Return the mean cross entropy of a batch."""
    logits = X @ parameters["weights"] + parameters["intercepts"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def claim(steps: int = STEPS) -> audit.TrainingClaim:
    """Return what the accountant is told."""
    rate = BATCH / len(digits()[1])
    sampled = events.PoissonSampledDpEvent(rate, events.GaussianDpEvent(NOISE))
    told = events.SelfComposedDpEvent(sampled, steps)
    return audit.TrainingClaim.of_event(told, clip=CLIP, divisor=BATCH, source="dp_accounting, the event of the loop")


def train(rng: np.random.Generator, mistake: str = "", steps: int = STEPS) -> training.Recorder:
    """Train with at most one mistake, and return the record of the run."""
    X, y = digits()  # of NumPy: to index an array of jax is compiled for each size of a batch
    clipped_grad = jax_privacy.clipped_grad(
        loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), rescale_to_unit_norm=mistake == "unit norm"
    )
    selection: Any = batch_selection.CyclicPoissonSampling(sampling_prob=BATCH / len(y), iterations=steps)
    if mistake == "fixed size":
        selection = batch_selection.FixedBatchSampling(batch_size=BATCH, iterations=steps)
    key = jax.random.key(int(rng.integers(2**31)))
    privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=key)
    parameters = {"weights": jnp.zeros((64, 10)), "intercepts": jnp.zeros(10)}
    privatizer = optax.GradientTransformation(privatizer.init, jax.jit(privatizer.update))
    optimizer, gradient, chosen = optax.sgd(STEP_LENGTH), jax.jit(jax.grad(loss)), np.zeros(0, dtype=int)
    recorder = training.Recorder(
        claim(steps), len(y), gradient=lambda at, record: gradient(at, X[record][None], y[record][None])
    )
    # what a loop adds to be recorded
    summed = recorder.clipped_grad(jax.jit(clipped_grad), batch=lambda: chosen)
    privatizer = recorder.privatizer(privatizer)
    optimizer = recorder.optimizer(optimizer)

    state, moved = privatizer.init(parameters), optimizer.init(parameters)
    for batch in selection.batch_iterator(len(y), rng=rng):
        chosen = np.asarray(batch, dtype=int)
        padded = np.resize(chosen, ROOM)  # one shape, so that it is compiled once
        total = summed(parameters, X[padded], y[padded], is_padding_example=np.arange(ROOM) >= len(chosen))
        if mistake == "state dropped":
            state = privatizer.init(parameters)
        noisy, state = privatizer.update(total, state)
        divisor = max(1, len(chosen)) if mistake == "drawn size" else BATCH
        released = jax.tree.map(lambda leaf, by=divisor: leaf / by, noisy)
        moves, moved = optimizer.update(released, moved, parameters)
        parameters = optax.apply_updates(parameters, moves)
    return recorder


def checks(steps: int = STEPS) -> list[audit.TrainingCheck]:
    """Return a check of each run."""
    runs = {name: partial(train, mistake=name, steps=steps) for name in MISTAKES}
    return [
        audit.TrainingCheck(
            name=f"jax-privacy, {name or 'as meant'}",
            run=run,
            claim=claim(steps),
            expected=Verdict.FAIL if name else Verdict.PASS,
        )
        for name, run in runs.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default=None, help="folder of the certificate")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    report = audit.run(checks(options.steps), workers=0)
    for result in report.results:
        print(f"{result.name} ({result.seconds:.0f} s)\n  {result}\n")
    if options.out:
        print(report.save(options.out))


if __name__ == "__main__":
    main()
