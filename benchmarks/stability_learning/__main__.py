"""Print the tables of private learning via stability.

python -m benchmarks.stability_learning            all tables
python -m benchmarks.stability_learning online     some tables, by name
"""

from __future__ import annotations

import sys

from benchmarks.stability_learning import privacy, utility

TABLES = {
    "online": privacy.online_table,
    "gap": privacy.gap_table,
    "sparse": privacy.sparse_table,
    "calibrated": privacy.calibrated_table,
    "soft": privacy.soft_table,
    "overlap": privacy.overlap_table,
    "accuracy": privacy.accuracy_table,
    **utility.TABLES,
}


def main() -> None:
    """Print the tables that are named on the command line, or all."""
    chosen = sys.argv[1:] or list(TABLES)
    unknown = [name for name in chosen if name not in TABLES]
    if unknown:
        raise SystemExit(f"no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    for name in chosen:
        TABLES[name]()


if __name__ == "__main__":
    main()
