"""What the calibration suite measured of this package: data that ships with it, and that every certificate cites."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

_FILE = "calibration.json"
_ROW = ("method", "kind", "mechanism", "audits", "alarms", "rate_lower_bound", "rate_upper_bound")


def calibration_summary() -> dict[str, Any] | None:
    """The worst rate of false alarms that was measured, its exact interval, and how much was measured; None if nothing.

    The rate is that of audits of claims that are kept with nothing to spare, over the randomness of the audits. Rows of
    the method "exact" are left out: their alarms are samplers wrongly said to misfit, not claims wrongly refuted.
    """
    data = _measured()
    rows = [] if data is None else [row for row in data["rows"] if row["method"] != "exact"]
    if data is None or not rows:
        return None
    worst = max(rows, key=lambda row: row["alarms"] / row["audits"])
    catalogue = data.get("catalogue")
    return {
        "version": data["version"],
        "significance": data["significance"],
        "confidence": data["confidence"],
        "rows": len(rows),
        "audits": sum(row["audits"] for row in rows),
        "above": sum(row["rate_lower_bound"] > data["significance"] for row in rows),
        "worst": {name: worst[name] for name in _ROW},
        "catalogue": catalogue and {key: catalogue[key] for key in ("checks", "audits", "fails", "significance")},
    }


@cache
def _measured() -> dict[str, Any] | None:
    file = resources.files("audit.report").joinpath(_FILE)
    if not file.is_file():
        return None
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded
