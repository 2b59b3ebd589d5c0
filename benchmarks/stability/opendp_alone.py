"""Hand a query of OpenDP's data frames to `check_privacy` with a strategy of datasets alone: no pair is given.

`python -m benchmarks.stability.opendp_alone [seed ...]` prints a line for each seed, in the environment that
`opendp_queries.txt` describes. The query is that of opendp/opendp issue 2944: codes of categories follow the order of
rows. A call takes half a millisecond, so that pairs are screened with few outputs before one is audited.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

os.environ["RUST_BACKTRACE"] = "0"  # before the import
os.environ.setdefault("POLARS_MAX_THREADS", "1")

MOST = 100  # rows


def measurement() -> Any:
    """Return the query as a measurement."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib", "honest-but-curious")
    codes = pl.col("x").cut([1.0]).to_physical()
    domain = dp.lazyframe_domain([dp.series_domain("x", dp.atom_domain(T=float, nan=False))])
    return dp.m.make_private_lazyframe(
        dp.with_margin(domain, dp.polars.Margin(max_length=MOST + 1)),
        dp.frame_distance(dp.symmetric_distance()),
        dp.max_divergence(),
        pl.LazyFrame(schema={"x": pl.Float64}).select(codes.dp.sum((0, 1), scale=1.0)),
    )


def checked(seed: int) -> Any:
    """Return the result of one check, at what the library's own accountant claims."""
    import opendp.prelude as dp
    import polars as pl

    from audit import AddRemove, PrivacyClaim, check_privacy, columns, numbers, per_call

    query = measurement()

    def released(column: Sequence[float]) -> Any:
        return query(pl.LazyFrame({"x": list(column)}, schema={"x": pl.Float64})).collect().item()

    claim = PrivacyClaim(query.map([dp.polars.Bound(per_group=1)]), relation=AddRemove())
    return check_privacy(per_call(released), claim, datasets=columns(numbers(0.0, 2.0), max_size=MOST), seed=seed)


def main() -> None:
    """Print a line for each seed."""
    for seed in map(int, sys.argv[1:] or ["0"]):
        started = time.process_time()
        result = checked(seed)
        spent = time.process_time() - started
        print(f"seed {seed}: {result.verdict!s:13} {result.samples:7,} outputs {spent:6.1f} CPU s  {result.reason}")


if __name__ == "__main__":
    main()
