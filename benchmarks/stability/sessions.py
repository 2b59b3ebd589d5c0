"""Hold what sessions of libraries say they have spent to certified brackets of what their parts cost together.

`python -m benchmarks.stability.sessions [--root .wild]` asks each session in the environment of its library, which is
ROOT/NAME, and prints a line for each: parts are released one after the other, the session says epsilon at a delta, and
`audit.check_accounting` compares that with the noise that the library adds, or computes, for the parts.
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


SESSIONS: Mapping[str, tuple[str, Callable[[], Iterator[Spent]]]] = {  # environment, releases
    "opendp, context": ("queries", opendp_context),
    "opendp, odometer": ("queries", opendp_odometer),
    "opendp, composition": ("queries", opendp_composition),
    "smartnoise-sql, odometer": ("smartnoise_sql", smartnoise_sql),
    "diffprivlib, accountant": ("diffprivlib", diffprivlib),
    "pipeline_dp, budget": ("pipeline_dp", pipeline_dp),
}


def held(spent: Sequence[Spent]) -> Any:
    """Return the result of a check of what a session says."""
    from dp_accounting.dp_event import ComposedDpEvent, GaussianDpEvent, LaplaceDpEvent

    from audit import check_accounting
    from audit.training.accountants.brackets import epsilon_bracket

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
    parser.add_argument("--root", default=".wild", help="folder of environments")
    root = parser.parse_args().root
    for name, (environment, _) in SESSIONS.items():
        command = [f"{root}/{environment}/bin/python", "-m", "benchmarks.stability.sessions", "ask", name]
        asked = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
        started = time.process_time()
        result = held(json.loads(asked.stdout.splitlines()[-1]))
        print(f"{name:26}{result.verdict!s:14}{time.process_time() - started:6.2f} CPU s  {result.reason}", flush=True)


if __name__ == "__main__":
    main()
