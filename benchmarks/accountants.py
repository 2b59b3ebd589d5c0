"""Hold accountants of other libraries to certified brackets of the true epsilon.

`python -m benchmarks.accountants` prints two tables. The first has, for each accountant and event, the stated epsilon
over the bounds of the truth, the seconds of one call, and the verdict of `AccountingCheck`. The second has mismatches:
what an accountant says of one event while another one happens. An accountant that is not installed is listed as such;
`accountants.txt` beside this file pins them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant, privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

from audit import Substitution, check_accounting
from audit.extensions.training.accountants.brackets import ShuffledEpochs, epsilon_bracket

DELTA = 1e-5


def poisson(noise: float, rate: float, steps: int) -> dp_event.DpEvent:
    """Return the event of steps with Poisson-sampled Gaussian noise."""
    return dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise)), steps)


def terms(event: Any) -> tuple[float, float, int]:
    """Return noise multiplier, sampling rate and steps of such an event."""
    return event.event.event.noise_multiplier, event.event.sampling_probability, event.count


def pld(event: Any, delta: float) -> float:
    """Return what dp_accounting's privacy-loss distributions say."""
    return float(PLDAccountant().compose(event).get_epsilon(delta))


def rdp(event: Any, delta: float) -> float:
    """Return what dp_accounting's Renyi accountant says."""
    return float(RdpAccountant().compose(event).get_epsilon(delta))


def autodp(event: Any, delta: float) -> float:
    """Return what autodp's Renyi accountant says."""
    from autodp import rdp_acct, rdp_bank

    noise, rate, steps = terms(event)
    accountant = rdp_acct.anaRDPacct()
    accountant.compose_poisson_subsampled_mechanisms(
        lambda order: rdp_bank.RDP_gaussian({"sigma": noise}, order), rate, coeff=steps
    )
    return float(accountant.get_eps(delta))


def prv(event: Any, delta: float) -> float:
    """Return the upper bound of prv-accountant."""
    from prv_accountant.dpsgd import DPSGDAccountant

    noise, rate, steps = terms(event)
    accountant = DPSGDAccountant(noise, rate, steps, eps_error=0.05, delta_error=delta / 1_000)
    return float(accountant.compute_epsilon(delta, steps)[2])


def stepped(module: str, name: str, *kind: str, **settings: Any) -> Callable[[Any, float], float]:
    """Return an accountant that is told one step after the other."""

    def stated(event: Any, delta: float) -> float:
        noise, rate, steps = terms(event)
        accountant = getattr(importlib.import_module(module), name)(*kind)
        for _ in range(steps):
            accountant.step(noise_multiplier=noise, sample_rate=rate)
        return float(accountant.get_epsilon(delta=delta, **settings))

    return stated


def accelerator(event: Any, delta: float) -> float:
    """Return what dp-accelerator says."""
    from dp_accelerator import DPSGDAccountant

    noise, rate, steps = terms(event)
    size = 1_000_000
    return float(DPSGDAccountant(noise, round(rate * size), size).get_epsilon(steps, delta))


def jax_privacy(event: Any, delta: float) -> float:
    """Return what jax-privacy's accountant of training runs says."""
    from jax_privacy import accounting

    noise, rate, steps = terms(event)
    size = 1_000_000
    accountant = accounting.analysis.DpsgdTrainingAccountant(accounting.accountants.PldAccountantConfig())
    told = accounting.analysis.DpParams(
        noise_multipliers=noise, num_samples=size, delta=delta, batch_size=round(rate * size)
    )
    return float(accountant.compute_epsilon(steps, told))


STEPS = {
    "sigma 1, q .01, T 1000": poisson(1.0, 0.01, 1_000),
    "sigma .7, q .001, T 1000": poisson(0.7, 0.001, 1_000),
    "sigma 2, q .1, T 100": poisson(2.0, 0.1, 100),
}
OPACUS = ("opacus.accountants", "create_accountant")
ACCOUNTANTS: dict[str, tuple[str, Callable[[Any, float], float]]] = {  # package, accountant
    "dp-accounting PLD": ("dp_accounting", pld),
    "dp-accounting RDP": ("dp_accounting", rdp),
    "autodp RDP": ("autodp", autodp),
    "prv-accountant": ("prv_accountant", prv),
    "gdpnum PLD": ("gdpnum", stepped("gdpnum.dpsgd", "CTDAccountant")),
    "dp-accelerator": ("dp_accelerator", accelerator),
    "jax-privacy PLD": ("jax_privacy", jax_privacy),
    "riskcal PLD": ("riskcal", stepped("riskcal.accountants.ctd", "CTDAccountant")),
    "Opacus RDP": ("opacus", stepped(*OPACUS, "rdp")),
    "Opacus PRV": ("opacus", stepped(*OPACUS, "prv", eps_error=0.05)),
    "Opacus GDP": ("opacus", stepped(*OPACUS, "gdp")),
}


def accountants(names: list[str]) -> None:
    """Print the table of accountants."""
    print(f"{'accountant':26} {'event':27} {'stated':>8} {'/ upper':>8} {'/ lower':>8} {'seconds':>8}  verdict")
    for name in names or ACCOUNTANTS:
        package, accountant = ACCOUNTANTS[name]
        if importlib.util.find_spec(package) is None:
            print(f"{name:26} not installed", flush=True)
            continue
        for label, event in STEPS.items():
            lower, upper = epsilon_bracket(event, DELTA)
            started = time.perf_counter()
            found: list[float] = []
            result = check_accounting(
                lambda event, delta, say=accountant, found=found: found.append(say(event, delta)) or found[-1],
                [event],
                DELTA,
            )
            seconds = time.perf_counter() - started
            if not found:
                print(f"{name:26} {label:27} {result.reason[:70]}", flush=True)
                continue
            ratios = f"{found[0] / upper:8.3f} {found[0] / lower:8.3f}"
            print(f"{name:26} {label:27} {found[0]:8.4f} {ratios} {seconds:8.2f}  {result.verdict}", flush=True)


def mismatches() -> None:
    """Print the table of mismatches: the event that the accountant is told, and what happens."""
    noise, rate, steps = 1.0, 0.01, 1_000
    told = poisson(noise, rate, steps)
    both = privacy_loss_distribution.from_gaussian_mechanism(1.0, sampling_prob=0.5).self_compose(10)
    one_way = float(both._pmf_add.get_epsilon_for_delta(DELTA))
    gaussian = dp_event.GaussianDpEvent(1.0)
    drawn = dp_event.SampledWithoutReplacementDpEvent(10**6, round(rate * 10**6), gaussian)
    rows = (
        ("a shuffled epoch as Poisson (sigma .7, T 1000)", pld(poisson(0.7, 1e-3, 1_000), DELTA),
         epsilon_bracket(ShuffledEpochs(0.7, 1_000), DELTA)),
        ("a fixed size as Poisson (sigma 1, q .01, T 1000)", pld(told, DELTA),
         epsilon_bracket(dp_event.SelfComposedDpEvent(drawn, steps), DELTA)),
        ("substitution, Poisson accounted as add/remove", pld(told, DELTA),
         epsilon_bracket(told, DELTA, Substitution())),
        ("substitution, Gaussian accounted as add/remove", pld(gaussian, DELTA),
         epsilon_bracket(gaussian, DELTA, Substitution())),
        ("one direction composed (sigma 1, q .5, T 10)", one_way,
         epsilon_bracket(poisson(1.0, 0.5, 10), DELTA)),
        ("n in place of n / b steps (sigma 1, q .01, T 1000 not 100)", pld(poisson(1.0, 0.01, 100), DELTA),
         epsilon_bracket(told, DELTA)),
    )  # fmt: skip
    print(f"\n{'mismatch':60} {'stated':>8} {'true >=':>8} {'true <=':>8}  verdict")
    for name, stated, (lower, upper) in rows:
        result = check_accounting(
            lambda event, delta, stated=stated: stated,
            [gaussian],
            DELTA,
            lambda event, delta, ends=(lower, upper): ends,
        )
        ends = f"{lower:8.2f} {upper:8.2f}" if math.isfinite(upper) else f"{lower:8.2f} {'':8}"
        print(f"{name:60} {stated:8.2f} {ends}  {result.verdict}", flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("accountants", nargs="*", help="all, unless given, and then the mismatches")
    chosen = parser.parse_args().accountants
    accountants(chosen)
    if not chosen:
        mismatches()
