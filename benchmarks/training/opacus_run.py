"""Audit Opacus in its own configurations: as its authors mean them, and with mistakes. Needs torch and opacus.

`python -m benchmarks.training.opacus_run [TEXT] [--out report]` trains a small network on the digits with what
`PrivacyEngine.make_private` returns, in all configurations whose names begin with TEXT; three lines follow the loop.
`--cost` compares CPU time and peak memory with those of the training alone, at 300,000 parameters. `opacus.txt` beside
it pins both packages; the tests of each commit try the hooks on optimizers with the same methods.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import opacus  # type: ignore[import-not-found,unused-ignore]
import torch  # type: ignore[import-not-found,unused-ignore]
from opacus.optimizers import DPOptimizer  # type: ignore[import-not-found,unused-ignore]
from opacus.utils.batch_memory_manager import (  # type: ignore[import-not-found,unused-ignore]
    BatchMemoryManager,
)

import audit
from audit import Verdict
from audit.extensions import training
from benchmarks.training.loops import digits

STEPS, BATCH, NOISE, CLIP = 100, 90, 1.0, 1.0
_TURNS, _COST_STEPS = 3, 24  # of the costs
RIGHT = {
    "flat": {}, "batch memory manager": {"physical": 32}, "functorch": {"mode": "functorch"},
    "frozen body": {"frozen": True}, "Adam": {"optimizer": torch.optim.Adam}, "dropout": {"dropout": 0.2},
    "per layer": {"clipping": "per_layer"}, "AdaClip": {"clipping": "adaptive"}, "ghost": {"mode": "ghost"},
    "ghost in parts": {"mode": "ghost", "physical": 32}, "bfloat16": {"bfloat16": True}, "sum": {"reduction": "sum"},
    "empty batches": {"batch": 3}, "momentum, decay": {"settings": {"momentum": 0.9, "weight_decay": 1e-3}},
    "two optimizers": {"parts": 2}, "schedule of the rate": {"schedule": True},
}  # fmt: skip
WRONG = {
    "shuffled batches": {"poisson": False}, "noise / 4": {"noise": NOISE / 4}, "clip x 4": {"clip": 4.0},
    "seed of the step": {"fault": "seed"}, "raw gradient": {"fault": "raw"}, "BatchNorm": {"norm": True},
    "centered gradients": {"fault": "center"}, "drawn size": {"fault": "size"}, "clamped sum": {"fault": "clamp"},
    "two optimizers, C each": {"parts": 2, "clips": (CLIP, CLIP)}, "truncated batches": {"fault": "cut"},
    "clipping by coordinate": {"fault": "coordinate"}, "noise of a table": {"fault": "table"},
    "noise kept": {"fault": "kept"}, "layer without noise": {"fault": "bare"}, "one step more": {"steps": STEPS + 1},
    "raw step beside": {"fault": "beside"},
}  # fmt: skip


def claim(batch: int = BATCH, reduction: str = "mean", records: int = 1797) -> audit.TrainingClaim:
    """Return what the accountant is told: the rate is one over the number of batches, and the divisor is rounded."""
    rate = 1 / -(-records // batch)
    divisor = int(records * rate) if reduction == "mean" else 1.0
    return audit.TrainingClaim(
        noise_multiplier=NOISE, steps=STEPS, clip=CLIP, rate=rate, divisor=divisor, source="the loop"
    )


def network(dropout: float, norm: bool, width: int = 24) -> Any:
    """Return a network of two layers."""
    parts = [torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(width, 10)]
    return torch.nn.Sequential(*(parts if not norm else [torch.nn.BatchNorm1d(64, affine=False), *parts]))


def spoil(optimizer: Any, fault: str) -> None:
    """Make one mistake at each step."""
    if fault == "raw":

        def add(inner: Any, given: Any, named: Any) -> None:
            for p in optimizer.params:
                p.grad += p.grad_sample.mean(dim=0)

        optimizer.original_optimizer.register_step_pre_hook(add)
    table = [torch.randn(p.shape) for p in optimizer.params]
    wrapped = {name: getattr(optimizer, name) for name in ("clip_and_accumulate", "add_noise")}

    def clip() -> None:
        for p in optimizer.params:
            if fault == "center" and len(p.grad_sample):
                p.grad_sample = p.grad_sample - p.grad_sample.mean(dim=0)
        wrapped["clip_and_accumulate"]()
        for p in optimizer.params:
            if fault == "clamp":
                p.summed_grad = p.summed_grad.clamp(-0.2, 0.2)
            if fault == "coordinate":
                p.summed_grad = p.grad_sample.clamp(-0.02, 0.02).sum(dim=0)

    def noise() -> None:
        wrapped["add_noise"]()
        for p, kept in zip(optimizer.params, table, strict=True):
            if fault in ("kept", "table"):
                drawn = kept if fault == "kept" else kept.flatten()[torch.randperm(kept.numel())].view_as(kept)
                p.grad = p.summed_grad + NOISE * CLIP * drawn
        if fault == "bare":
            optimizer.params[-1].grad = optimizer.params[-1].summed_grad.clone()

    if fault in ("center", "clamp", "coordinate"):
        optimizer.clip_and_accumulate = clip
    if fault in ("kept", "table", "bare"):
        optimizer.add_noise = noise


def train(
    rng: np.random.Generator, *, mode: str = "hooks", clipping: str = "flat", physical: int = 0, frozen: bool = False,
    optimizer: Any = torch.optim.SGD, settings: Any = None, dropout: float = 0.0, bfloat16: bool = False,
    reduction: str = "mean", batch: int = BATCH, poisson: bool = True, noise: float = NOISE, clip: float = CLIP,
    clips: Any = (CLIP / 2**0.5,) * 2, norm: bool = False, fault: str = "", steps: int = STEPS, schedule: bool = False,
    width: int = 24, follow: bool = True, records: int = 1797, parts: int = 1,
) -> training.Recorder:  # fmt: skip
    """Train, and return the record of the run."""
    torch.manual_seed(int(rng.integers(2**31)))
    X, y = (torch.from_numpy(part) for part in digits())
    X, model = X.float()[:records], network(dropout, norm, width)
    if frozen:
        model[0].requires_grad_(False)
    data = torch.utils.data.TensorDataset(X, y[:records])
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)
    trained = [p for p in model.parameters() if p.requires_grad]
    engine, criterion = opacus.PrivacyEngine(), torch.nn.CrossEntropyLoss(reduction=reduction)
    bounds: Any = [clip / len(trained) ** 0.5] * len(trained) if clipping == "per_layer" else clip
    adaptive = {
        "target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.2, "max_clipbound": 10.0, "min_clipbound": 0.1,
        "unclipped_num_std": 9.0,
    }  # fmt: skip
    made = engine.make_private(
        module=model, optimizer=optimizer(trained, lr=0.5 if reduction == "mean" else 0.005, **(settings or {})),
        data_loader=loader, noise_multiplier=noise, max_grad_norm=bounds, poisson_sampling=poisson, clipping=clipping,
        grad_sample_mode=mode, criterion=criterion, loss_reduction=reduction,
        **(adaptive if clipping == "adaptive" else {}),
    )  # fmt: skip
    model, private, criterion, loader = made if len(made) == 4 else (made[0], made[1], criterion, made[2])
    group = [private]
    if parts > 1:
        group = [
            DPOptimizer(
                torch.optim.SGD(layer.parameters(), lr=0.5), noise_multiplier=NOISE * CLIP / each, max_grad_norm=each,
                expected_batch_size=int(records / len(loader)),
            )
            for each, layer in zip(clips, (model._module[0], model._module[3]), strict=True)
        ]  # fmt: skip
    recorder = training.Recorder(claim(batch, reduction, records), records)
    for one in group if follow else []:
        if fault:
            spoil(one, fault)
        recorder.attach(one, module=model, loss=criterion, data=loader if one is group[0] else None)
    torch.optim.lr_scheduler.StepLR(private.original_optimizer, 20, 0.9 if schedule else 1.0)
    taken = 0
    while taken < steps:
        manager: Any = nullcontext(loader)
        if physical:
            manager = BatchMemoryManager(data_loader=loader, max_physical_batch_size=physical, optimizer=private)
        with manager as inner:
            taken = _epoch(inner, model, criterion, group, fault, bfloat16, taken, steps, physical)
    return recorder


def _epoch(
    loader: Any, model: Any, criterion: Any, group: Any, fault: str, bfloat16: bool, taken: int, steps: int, cut: int
) -> int:  # fmt: skip
    for X, y in loader:
        if taken >= steps:
            break
        if fault == "cut":
            X, y = X[:95], y[:95]
        if fault == "seed":
            torch.manual_seed(taken)
        for one in group:
            one.zero_grad()
            if fault == "size":
                one.expected_batch_size = max(1, len(y))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16):
            value = criterion(model(X), y)
        value.backward()
        raw = [p.grad_sample.mean(dim=0) for p in group[0].params] if fault == "beside" else []
        for one in group:
            one.step()
        with torch.no_grad():
            for p, part in zip(group[0].params, raw, strict=False):
                p -= 0.1 * part
        taken += not (cut and group[0]._is_last_step_skipped)
    return taken


def cost(width: int) -> None:
    """Print CPU time and peak memory with the recorder and without, of processes that take turns."""
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})  # waiting threads take CPU time
    os.environ["MALLOC_MMAP_THRESHOLD_"] = "65536"  # freed memory goes back, so that peaks are comparable
    spawn = multiprocessing.get_context("spawn")
    taken: dict[str, list[tuple[float, float]]] = {"alone": [], "recorded": []}
    for name in [*taken] * _TURNS:
        with spawn.Pool(1) as pool:
            taken[name].append(pool.apply(_measured, (width, name == "recorded")))
    seconds, most = ({name: min(each[of] for each in runs) for name, runs in taken.items()} for of in (0, 1))
    for name in taken:
        print(f"{name}: {seconds[name]:.1f} CPU s, at most {most[name]:.1f} MB")
    parameters = sum(p.numel() for p in network(0.0, False, width).parameters())
    copies = (most["recorded"] - most["alone"]) * 2**20 / (4 * parameters)
    print(f"{parameters} parameters: {seconds['recorded'] / seconds['alone']:.2f} times, {copies:.1f} copies more")


def _measured(width: int, follow: bool) -> tuple[float, float]:
    """Return the CPU seconds of a training, and the peak memory of its process in MB."""
    warnings.simplefilter("ignore")
    train(np.random.default_rng(0), steps=10, follow=True)  # imports and builds what is needed only once
    began = time.process_time()
    train(np.random.default_rng(0), width=width, steps=_COST_STEPS, follow=follow)
    return time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("text", nargs="?", default="", help="beginning of the names")
    parser.add_argument("--cost", type=int, nargs="?", const=4_000, help="width of the network, 4,000 by default")
    parser.add_argument("--out", default=None, help="folder of the certificate")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.cost:
        cost(options.cost)
        return
    checks = [
        audit.TrainingCheck(
            name=name, run=partial(train, **settings), expected=expected,
            claim=claim(settings.get("batch", BATCH), settings.get("reduction", "mean")),
            tolerance=0.3 if "batch" in settings else 0.1,
        )
        for kind, expected in ((RIGHT, Verdict.PASS), (WRONG, Verdict.FAIL))
        for name, settings in kind.items()
        if name.startswith(options.text)
    ]  # fmt: skip
    report = audit.run(checks, workers=0)
    for result in report.results:
        print(f"{result.name:24} {result.verdict:12} {result.seconds:4.1f} s  {result.reason}")
    if options.out:
        print(report.save(options.out))


if __name__ == "__main__":
    main()
