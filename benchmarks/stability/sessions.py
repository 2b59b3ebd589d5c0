"""Hold what sessions of libraries say they have spent to certified brackets of what their parts cost together.

`python -m benchmarks.stability.sessions [--root .wild] [NAME ...]` asks each session in the environment of its library,
which is ROOT/NAME, and prints a line for each: parts are released one after the other, the session says epsilon at a
delta, and `audit.check_accounting` compares that with the noise that the library adds, or computes, for the parts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Parts = list[tuple[str, float]]  # noise ("laplace" or "gaussian") and its scale, of a statistic of sensitivity 1
Spent = tuple[Parts, float]  # what was released, and the epsilon that the session says
SCALES: Sequence[Sequence[float]] = ([1.0], [2.0, 2.0], [0.7, 3.0, 11.0], [1e-3], [1e6] * 3, [20.0] * 60)
DELTA = 1e-9  # where a session says epsilon alone: the bracket at this delta is not above it


def opendp_context() -> Iterator[Spent]:
    """Yield releases of a context with an odometer, under pure differential privacy."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    for scales in SCALES:
        domain = dp.vector_domain(dp.atom_domain(T=int))
        loss, unit = dp.loss_of(epsilon=1e9), dp.unit_of(contributions=1)
        context = dp.Context.compositor(data=[1, 0, 1], privacy_unit=unit, privacy_loss=loss, domain=domain)
        for scale in scales:
            context.query().clamp((0, 1)).sum().laplace(scale=scale).release()
        yield [("laplace", scale) for scale in scales], context.current_privacy_loss()


def opendp_odometer() -> Iterator[Spent]:
    """Yield releases of a fully adaptive composition, under zero-concentrated differential privacy at a delta."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    for scales in SCALES:
        if min(scales) < 0.1:
            continue  # the library's conversion of so large a loss overflows
        odometer = dp.c.make_fully_adaptive_composition(*space, dp.zero_concentrated_divergence())(0.0)
        for scale in scales:
            odometer(dp.m.make_gaussian(*space, scale))
        rho = odometer.privacy_loss(1.0)
        whole = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, (1 / (2 * rho)) ** 0.5))
        yield [("gaussian", scale) for scale in scales], whole.map(1.0).epsilon(DELTA)


def opendp_composition() -> Iterator[Spent]:
    """Yield compositions that are built before anything is released."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    for scales in SCALES:
        whole = dp.c.make_composition([dp.m.make_laplace(*space, scale) for scale in scales])
        yield [("laplace", scale) for scale in scales], whole.map(1.0)


def smartnoise_sql() -> Iterator[Spent]:
    """Yield sums by a reader, whose odometer says epsilon at a delta; scales are those of its mechanisms."""
    import pandas as pd
    import snsql
    from snsql import Privacy

    table = {"max_ids": 1, "u": {"type": "int", "private_id": True}, "v": {"type": "float", "lower": 0, "upper": 1}}
    frame = pd.DataFrame({"u": [1, 2], "v": [0.5, 1.0]})
    for scales in SCALES:
        if min(scales) < 0.01:
            continue  # the search for a scale of this library ends above
        privacy = Privacy(epsilon=1 / scales[0], delta=2 * DELTA)
        reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"T": {"T": table}}})
        parts: Parts = []
        for _ in scales:
            query = "SELECT SUM(v) AS s FROM T.T"
            reader.execute(query)
            parts += [("laplace", each.scale) for each in reader._get_mechanisms(reader._rewrite(query)[0]) if each]
        yield parts, float(reader.odometer.spent[0])


def diffprivlib() -> Iterator[Spent]:
    """Yield sums under one accountant; it says epsilon at the slack of its delta."""
    import numpy as np
    from diffprivlib import BudgetAccountant, tools

    for scales in SCALES:
        accountant = BudgetAccountant(slack=DELTA)
        for scale in scales:
            tools.sum(np.array([0.5, 1.0]), epsilon=1 / scale, bounds=(0, 1), accountant=accountant)
        yield [("laplace", scale) for scale in scales], float(accountant.total()[0])


def pipeline_dp() -> Iterator[Spent]:
    """Yield shares of a budget by weight: the session's total, and the noise that each part is told to add."""
    import pipeline_dp as library

    for scales in SCALES:
        accountant = library.NaiveBudgetAccountant(total_epsilon=1 / scales[0], total_delta=0.0)
        laplace = library.aggregate_params.MechanismType.LAPLACE
        specs = [accountant.request_budget(laplace, weight=1 / scale) for scale in scales]
        specs.append(accountant.request_budget(laplace, count=2))
        accountant.compute_budgets()
        yield [("laplace", 1 / spec.eps) for spec in specs for _ in range(spec.count)], 1 / scales[0]


def pipeline_dp_losses() -> Iterator[Spent]:
    """Yield shares of a budget with a delta that is composed as privacy-loss distributions: the total, and noise."""
    yield from _shared(DELTA)


def pipeline_dp_pure() -> Iterator[Spent]:
    """Yield shares of the same budget without a delta."""
    yield from _shared(0.0)


def _shared(delta: float) -> Iterator[Spent]:
    import pipeline_dp as library

    kinds = library.aggregate_params.MechanismType
    for scales in SCALES:
        if not 0.5 < min(scales) < 100:
            continue  # a distribution in steps of 1e-4 is too long, or no epsilon is above 0 at this delta
        total = min(1 / scales[0], 3.0)
        accountant = library.PLDBudgetAccountant(total_epsilon=total, total_delta=delta)
        second = kinds.GAUSSIAN if delta else kinds.LAPLACE
        specs = [accountant.request_budget(kinds.LAPLACE, weight=1 / scale) for scale in scales[:3]]
        specs.append(accountant.request_budget(second, count=2))
        accountant.compute_budgets()
        parts: Parts = []
        for spec in specs:
            deviation = spec.noise_standard_deviation
            laplace = spec.mechanism_type is kinds.LAPLACE
            parts += [("laplace", deviation / 2**0.5) if laplace else ("gaussian", deviation)] * spec.count
        yield parts, total


def tmlt_accountant() -> Iterator[Spent]:
    """Yield measurements by an accountant of Tumult Core: what it says is left of a budget, before and after."""
    import numpy as np
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements.interactive_measurements import PrivacyAccountant, SequentialComposition
    from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise
    from tmlt.core.measures import PureDP
    from tmlt.core.metrics import AbsoluteDifference
    from tmlt.core.utils.exact_number import ExactNumber

    number = NumpyFloatDomain()
    whole = SequentialComposition(number, AbsoluteDifference(), PureDP(), d_in=1, privacy_budget=10**9)
    accountant = PrivacyAccountant.launch(whole, np.float64(3))
    for scales in SCALES:
        before = accountant.privacy_budget
        for scale in scales:
            accountant.measure(AddLaplaceNoise(number, ExactNumber.from_float(scale, round_up=False)))
        yield [("laplace", scale) for scale in scales], (before - accountant.privacy_budget).to_float(round_up=True)


SESSIONS: Mapping[str, tuple[str, Callable[[], Iterator[Spent]]]] = {  # environment, releases
    "opendp, context": ("queries", opendp_context),
    "opendp, odometer": ("queries", opendp_odometer),
    "opendp, composition": ("queries", opendp_composition),
    "smartnoise-sql, odometer": ("smartnoise_sql", smartnoise_sql),
    "diffprivlib, accountant": ("diffprivlib", diffprivlib),
    "pipeline_dp, budget": ("pipeline_dp", pipeline_dp),
    "pipeline_dp, PLD, delta": ("pipeline_dp_pld", pipeline_dp_losses),  # with dp-accounting beside it
    "pipeline_dp, PLD, pure": ("pipeline_dp_pld", pipeline_dp_pure),
    "tmlt.core, accountant": ("tmlt_core", tmlt_accountant),
}


def held(spent: Sequence[Spent]) -> Any:
    """Return the result of a check of what a session says."""
    from dp_accounting.dp_event import ComposedDpEvent, GaussianDpEvent, LaplaceDpEvent

    from audit import check_accounting
    from audit.extensions.training.accountants.brackets import epsilon_bracket

    kinds = {"laplace": LaplaceDpEvent, "gaussian": GaussianDpEvent}
    events = [ComposedDpEvent([kinds[noise](scale) for noise, scale in parts]) for parts, _ in spent]
    said = {repr(event): stated for event, (_, stated) in zip(events, spent, strict=True)}
    return check_accounting(lambda event, _: said[repr(event)], events, DELTA, epsilon_bracket)


def main() -> None:
    """Print a line for each session."""
    if sys.argv[1:2] == ["ask"]:
        print(json.dumps(list(SESSIONS[sys.argv[2]][1]())))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="sessions, all of them by default")
    parser.add_argument("--root", default=".wild", help="folder of environments")
    names, root = (asked := parser.parse_args()).names, asked.root
    for name, (environment, _) in SESSIONS.items():
        if names and name not in names:
            continue
        command = [f"{root}/{environment}/bin/python", "-m", "benchmarks.stability.sessions", "ask", name]
        asked = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
        started = time.process_time()
        result = held(json.loads(asked.stdout.splitlines()[-1]))
        print(f"{name:26}{result.verdict!s:14}{time.process_time() - started:6.2f} CPU s  {result.reason}", flush=True)


if __name__ == "__main__":
    main()
