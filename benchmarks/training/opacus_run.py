"""Audit runs of Opacus through `Recorder.attach`: as meant, and with four mistakes. Needs torch and opacus.

`python -m benchmarks.training.opacus_run [--out report]` trains a logistic regression on the digits with the
`DPOptimizer` of `PrivacyEngine.make_private`. `opacus.txt` beside it pins both packages; the tests
of each commit try what they call on optimizers with the same methods, in `test_hooks.py`.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import audit
from audit import Verdict
from audit.extensions import training
from benchmarks.training.loop import digits

STEPS, BATCH, NOISE, CLIP, STEP_LENGTH = 100, 90, 1.0, 1.0, 0.5
MISTAKES = ("", "fixed size", "half the noise", "same noise", "drawn size")


def claim() -> audit.TrainingClaim:
    """Return what the accountant is told."""
    rate = BATCH / len(digits()[1])
    return audit.TrainingClaim(
        noise_multiplier=NOISE, steps=STEPS, clip=CLIP, rate=rate, divisor=BATCH, source="the loop"
    )


def train(rng: np.random.Generator, mistake: str = "") -> training.Recorder:
    """Train with at most one mistake, and return the record of the run."""
    import torch  # type: ignore[import-not-found,unused-ignore]
    from opacus import GradSampleModule  # type: ignore[import-not-found,unused-ignore]
    from opacus.optimizers import DPOptimizer  # type: ignore[import-not-found,unused-ignore]

    X, y = digits()
    torch.manual_seed(int(rng.integers(2**31)))
    model: Any = GradSampleModule(torch.nn.Linear(64, 10).double(), loss_reduction="mean")
    optimizer: Any = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=STEP_LENGTH),
        noise_multiplier=NOISE / 2 if mistake == "half the noise" else NOISE,
        max_grad_norm=CLIP,
        expected_batch_size=BATCH,
    )
    chosen = np.zeros(0, dtype=int)

    recorder = training.Recorder(claim(), len(y))
    recorder.attach(optimizer, batch=lambda: chosen)

    for _ in range(STEPS):
        chosen = np.flatnonzero(rng.random(len(y)) < BATCH / len(y))
        if mistake == "fixed size":
            chosen = rng.choice(len(y), BATCH, replace=False)
        if mistake == "same noise":
            torch.manual_seed(7)
        if mistake == "drawn size":
            optimizer.expected_batch_size = max(1, len(chosen))
        optimizer.zero_grad()
        logits = model(torch.from_numpy(X[chosen]))
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(y[chosen])).backward()
        optimizer.step()
    return recorder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default=None, help="folder of the certificate")
    out = parser.parse_args().out
    checks = [
        audit.TrainingCheck(
            name=f"Opacus, {name or 'as meant'}",
            run=partial(train, mistake=name),
            claim=claim(),
            unchecked=("alone",),
            expected=Verdict.FAIL if name else Verdict.PASS,
        )
        for name in MISTAKES
    ]
    report = audit.run(checks, workers=0)
    for result in report.results:
        print(f"{result.name}\n  {result}\n")
    if out:
        print(report.save(out))
    raise SystemExit(report.verdict.exit_status)


if __name__ == "__main__":
    main()
