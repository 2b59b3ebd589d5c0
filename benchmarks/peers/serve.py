"""Run in a peer's environment: `python serve.py FOLDER OUTPUTS`, a JSON line for each file of outputs.

The folder holds `driver.py` with `verdict(left, right, epsilon, delta) -> (refuted or None, text)`. CPU seconds are
those of this process and its children.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np


def main(folder: str, outputs: str) -> None:
    """Answer for each file, in order of names."""
    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("driver", Path(folder) / "driver.py")
    driver = sys.modules["driver"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a tool prints goes to standard error
    for path in sorted(Path(outputs).glob("*.npz")):
        held = np.load(path)
        started = sum(os.times()[:4])
        try:
            refuted, text = driver.verdict(held["left"], held["right"], float(held["epsilon"]), float(held["delta"]))
        except Exception as error:
            refuted, text = None, f"raised {type(error).__name__}: {error}"
        seconds = sum(os.times()[:4]) - started
        answers.write(json.dumps({"file": path.stem, "refuted": refuted, "text": text, "seconds": seconds}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
