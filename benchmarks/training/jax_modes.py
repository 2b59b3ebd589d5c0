"""Audit jax-privacy in its own modes, in one jitted step: as its authors mean them, and with mistakes of a user.

`python -m benchmarks.training.jax_modes [TEXT]` trains a logistic regression on the digits in all modes whose names
begin with TEXT; needs the extra `jax`. Four lines follow the loop: of `clipped_grad`, privatizer, optimizer, batches.
"""

from __future__ import annotations

import argparse
import warnings
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
from audit import Verdict
from audit.extensions import training
from benchmarks.training.loop import digits

STEPS, BATCH, NOISE, CLIP, RECORDS, ROOM = 100, 90, 1.0, 0.5, 1797, 192
RATE = BATCH / RECORDS
RIGHT = {
    "jitted": {}, "eager": {"is_traced": False}, "microbatches": {"grad": {"microbatch_size": 32}},
    "normalize_by": {"grad": {"normalize_by": BATCH}}, "unit norm": {"grad": {"rescale_to_unit_norm": True}},
    "values returned": {"grad": {"return_values": True, "return_grad_norms": True}},
    "augmentation": {"copies": 4}, "key of the loss": {"dropout": 0.2}, "bfloat16": {"grad": {"dtype": jnp.bfloat16}},
    "Adam and its mean": {"optimizer": optax.adam(0.05)}, "chained": {"is_chained": True},
    "scan over two steps": {"inner": 2}, "empty batches": {"rate": 0.0015, "tolerance": 0.3},
    "fixed size": {"selection": "fixed"}, "claim of the mean": {"grad": {"normalize_by": BATCH}, "of_mean": True},
}  # fmt: skip
WRONG = {
    "key of the step": {"fault": "key"}, "folded key": {"fault": "fold"}, "state dropped": {"fault": "state"},
    "noise / 4": {"noise": NOISE / 4}, "clip x 4": {"grad": {"l2_clip_norm": 4 * CLIP}}, "raw": {"fault": "raw"},
    "raw added": {"fault": "added"}, "drawn size": {"fault": "size"}, "fixed as Poisson": {"wrong": "fixed"},
    "truncated batches": {"fault": "cut"}, "shuffled as Poisson": {"wrong": "shuffled"},
    "unit norm, old noise": {"grad": {"rescale_to_unit_norm": True}, "fault": "unit"},
    "noise by batch": {"fault": "by batch"}, "bare leaf": {"fault": "bare"}, "one step more": {"steps": STEPS + 1},
    "same key for leaves": {"fault": "leaves"}, "moved beside": {"fault": "beside"},
}  # fmt: skip


def claim(selection: str = "", rate: float = RATE, of_mean: bool = False, **_: Any) -> audit.TrainingClaim:
    """Return what the accountant is told."""
    noise: Any = events.GaussianDpEvent(NOISE)
    sampled = events.PoissonSampledDpEvent(rate, noise)
    if selection:
        sampled = events.SampledWithoutReplacementDpEvent(RECORDS, BATCH, noise)
    told = {"clip": CLIP / BATCH, "divisor": 1.0} if of_mean else {"clip": CLIP, "divisor": BATCH}
    return audit.TrainingClaim.of_event(events.SelfComposedDpEvent(sampled, STEPS), **told)


def train(
    rng: np.random.Generator, *, grad: Any = None, is_traced: bool = True, copies: int = 1, dropout: float = 0.0,
    optimizer: Any = None, is_chained: bool = False, inner: int = 1, rate: float = RATE, selection: str = "",
    wrong: str = "", of_mean: bool = False, noise: float = NOISE, fault: str = "", steps: int = STEPS,
) -> training.Recorder:  # fmt: skip
    """Train, and return the record of the run."""
    X, y = digits()
    X, given = X.astype(np.float32), {"l2_clip_norm": CLIP, **(grad or {})}
    recorder = training.Recorder(claim(selection, rate, of_mean), RECORDS)

    def loss(weights: Any, X: Any, y: Any, key: Any) -> Any:
        if copies > 1:  # each copy is moved a little
            X = X + 0.01 * jax.random.normal(key, (copies, *X.shape))
        keep = jax.random.bernoulli(key, 1 - dropout, X.shape[-1:]) if dropout else 1.0
        logits = (X * keep) @ weights["weights"] + weights["intercepts"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, jnp.broadcast_to(y, logits.shape[:-1])).mean()

    scale = 1 / given.get("normalize_by", 1.0)
    if given.get("rescale_to_unit_norm") and fault != "unit":
        scale /= CLIP
    made = jax_privacy.clipped_grad(loss, batch_argnums=(1, 2), prng_argnum=3, **given)
    summed = recorder.clipped_grad(made)
    private = noise_addition.gaussian_privatizer(stddev=noise * CLIP * scale, prng_key=int(rng.integers(2**31)))
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
        return noisy, (state if fault == "state" else after)

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
    kind = wrong or selection
    drawn: Any = batch_selection.CyclicPoissonSampling(sampling_prob=rate, iterations=steps)
    if kind == "fixed":
        drawn = batch_selection.FixedBatchSampling(batch_size=BATCH, iterations=steps)
    batches: Any = drawn.batch_iterator(RECORDS, rng=rng)
    if kind == "shuffled":
        orders = [rng.permutation(RECORDS)[: 19 * BATCH].reshape(19, BATCH) for _ in range(6)]
        batches = iter(np.concatenate(orders)[:steps])
    if fault == "cut":
        batches = (batch[:95] for batch in batches)
    taken: list[Any] = []
    for number, batch in enumerate(recorder.batches(batches)):
        padded, padding = np.resize(batch, ROOM) if len(batch) else np.zeros(ROOM, int), np.arange(ROOM) >= len(batch)
        taken.append((X[padded], y[padded], padding, jax.random.fold_in(jax.random.key(7), number), number))
        if len(taken) == inner:
            weights, states = run(weights, states, *map(_stacked, zip(*taken, strict=True)))
            taken = []
    return recorder


def _stacked(parts: Any) -> Any:
    return jnp.stack([jnp.asarray(part) for part in parts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("text", nargs="?", default="", help="beginning of the names")
    text = parser.parse_args().text
    warnings.simplefilter("ignore")
    for kind, expected in ((RIGHT, Verdict.PASS), (WRONG, Verdict.FAIL)):
        for name, settings in kind.items():
            if name.startswith(text):
                parts = {key: value for key, value in settings.items() if key != "tolerance"}
                check = audit.TrainingCheck(
                    name=name, run=partial(train, **parts), claim=claim(**parts), expected=expected,
                    tolerance=settings.get("tolerance", 0.1),
                )  # fmt: skip
                (result,) = audit.run([check], workers=0).results
                print(f"{name:22} {result.verdict:12} {result.seconds:4.1f} s  {result.reason}", flush=True)


if __name__ == "__main__":
    main()
