"""The server of one mechanism of a library, inside the library's environment: the protocol of `docs/programs.md`.

    python -I wild/serve.py wild/<library>/served.py NAME wild/<library>/requirements.txt

`served.py` has `MECHANISMS`, a dict of functions of any of these forms:

    (dataset, size, rng) -> array or list of `size` outputs
    (dataset, rng)       -> one output; called `size` times, and an exception is the output {"raised": its type}
    (dataset)            -> the same, of a library that draws from a generator of its own

`dataset` is what JSON holds: lists, or {"X": ..., "y": ...} for labeled data; `rng` is a numpy Generator, and the
generators of `random` and of `numpy.random` are seeded for each request. A search over parameters sends
{"dataset": ..., "setting": {...}}, and the setting becomes keyword arguments. Floats go out as
float64, bit by bit; everything else as JSON, NaN and infinities in words. What the library prints goes to standard
error. -I keeps this folder off `sys.path`, where the folders named like the libraries would hide them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported: an audit has its own workers

import importlib.util
import inspect
import json
import math
import random
import re
import sys
import warnings
from pathlib import Path

import numpy as np

PROTOCOL = 1
DESCRIBING = Path(__file__).resolve().parents[1] / "audit" / "mechanism" / "provenance.py"  # imports nothing else


def main(path: str, name: str, pins: str) -> None:
    """Answer requests until the input ends."""
    answers = _claim_standard_output()
    draw = batch_of(load(path)[name])
    audited = release_of(Path(pins))
    for line in sys.stdin.buffer:
        answers.write(answer(draw, json.loads(line), audited))
        answers.flush()


def release_of(requirements: Path) -> dict:
    """The audited release as it is installed here: the distribution of the first requirement."""
    if not (requirements.is_file() and DESCRIBING.is_file()):
        return {}
    lines = (line.strip() for line in requirements.read_text().splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "-"))), "")
    spec = importlib.util.spec_from_file_location("provenance", DESCRIBING)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look for their module
    spec.loader.exec_module(module)
    return module.describe_distribution(re.split(r"[\[=<>!~; ]", first)[0]) or {}


def load(path: str) -> dict:
    """The MECHANISMS of a file; modules beside it can be imported by it."""
    sys.path.append(str(Path(path).resolve().parent))
    spec = importlib.util.spec_from_file_location("served", path)
    module = importlib.util.module_from_spec(spec)
    warnings.simplefilter("ignore")  # `served.py` may make errors of those that matter
    spec.loader.exec_module(module)
    return module.MECHANISMS


def batch_of(mechanism):
    """The mechanism as a function of (dataset, size, rng)."""
    named = inspect.signature(mechanism).parameters
    if "size" in named:
        return lambda data, size, rng, **given: (
            mechanism(data, size, rng, **given) if size > 1 else [_one(mechanism, data, rng, given)]
        )
    if "rng" in named:
        return lambda data, size, rng, **given: [caught(mechanism, data, rng, **given) for _ in range(size)]
    return lambda data, size, rng, **given: [caught(mechanism, data, **given) for _ in range(size)]


def caught(function, *args, **given):
    """Return the function's output, or its exception, which can leak like any other output."""
    try:
        return function(*args, **given)
    except (Exception, SystemExit) as error:
        return {"raised": type(error).__name__}


def _one(mechanism, dataset, rng, given):
    return caught(lambda: mechanism(dataset, 1, rng, **given)[0])


def unpacked(dataset) -> tuple:
    """The dataset and the setting of the mechanism's parameters, which is empty where none are searched."""
    if isinstance(dataset, dict) and set(dataset) == {"dataset", "setting"}:
        return dataset["dataset"], dataset["setting"]
    return dataset, {}


def answer(draw, request: dict, audited: dict) -> bytes:
    """The answer to one request; that a whole batch raised is an error, after which single outputs are asked for."""
    number = request["request"]
    if request["protocol"] != PROTOCOL:
        return _line({"request": number, "error": f"protocol {request['protocol']} is not known"})
    rng = np.random.default_rng(request["seed"])
    np.random.seed(rng.integers(2**32))  # noqa: NPY002 - libraries draw from it
    random.seed(int(rng.integers(2**63)))
    try:
        dataset, setting = unpacked(request["dataset"])
        outputs = draw(dataset, request["size"], rng, **setting)
    except (Exception, SystemExit) as error:
        return _line({"request": number, "error": f"raised {type(error).__name__}: {error}"})
    array, head = as_floats(outputs), {"request": number, "audited": audited}
    if array is None:
        return _line({**head, "outputs": [plain(output) for output in outputs]})
    return _line({**head, "shape": array.shape}) + array.astype("<f8").tobytes()


def as_floats(outputs):
    """The outputs as an array of float64 of one or two axes, or None when they are something else."""
    if isinstance(outputs, np.ndarray):
        array = outputs
    elif all(isinstance(output, float) for output in outputs):  # float64 scalars of numpy are floats
        array = np.array(outputs)
    elif all(isinstance(output, np.ndarray) and output.dtype == np.float64 for output in outputs):
        shapes = {output.shape for output in outputs}
        array = np.array(outputs) if len(shapes) == 1 else None
    else:
        array = None
    fits = array is not None and array.dtype == np.float64 and array.ndim in (1, 2)
    return array if fits else None


def plain(value):
    """A value as JSON has it; floats that JSON does not have, in words."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _line(message: dict) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _claim_standard_output():
    """The stream for answers; standard output itself is turned to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(*sys.argv[1:])
