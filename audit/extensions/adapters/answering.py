"""Answer the requests of `audit.extensions.adapters.Program`, in Python 3.8 or later, without this package.

    python answering.py call MODULE:FUNCTION      function(dataset), with `size`, `seed`, `rng` where it takes them
    python answering.py once COMMAND...           a process for each output: the dataset is its input, in JSON

A value of NumPy or pandas becomes a list or a dictionary. Other prints go to standard error.
"""

import contextlib
import importlib
import inspect
import json
import os
import subprocess
import sys
from typing import Any


def load(text: str) -> Any:
    """Return a caller of a function of this environment: (dataset, size, seed) -> outputs."""
    sys.path[0] = os.getcwd()  # instead of the folder of this file, whose modules have the names of libraries
    module, _, name = text.partition(":")
    function: Any = importlib.import_module(module[:-3].replace("/", ".") if module.endswith(".py") else module)
    for part in name.split("."):
        function = getattr(function, part)
    taken: Any = {}
    with contextlib.suppress(TypeError, ValueError):  # some compiled callables have no signature
        taken = inspect.signature(function).parameters

    def outputs(dataset: Any, size: int, seed: int) -> Any:
        settings = {"rng": make_generator(seed)} if "rng" in taken else {}
        if "size" not in taken:
            return [function(dataset, **settings) for _ in range(size)]
        settings.update({"size": size, "seed": seed} if "seed" in taken else {"size": size})
        return list(function(dataset, **settings))

    return outputs


def make_generator(seed: int) -> Any:
    """Return a generator of NumPy; only a function that takes one needs it."""
    import numpy as np

    return np.random.default_rng(seed)


def start_once(command: Any) -> Any:
    """Return a caller that runs a command for each output: (dataset, size, seed) -> outputs."""

    def output(text: str) -> Any:
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"it ended with status {done.returncode}: {done.stderr[-200:].strip()}")
        try:
            return json.loads(done.stdout)
        except ValueError:
            return done.stdout.rstrip("\n")

    return lambda dataset, size, seed: [output(json.dumps(dataset)) for _ in range(size)]


def to_plain(value: Any) -> Any:
    """Return a value that JSON does not know as one that it does."""
    for name in ("tolist", "item", "to_dict"):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"JSON holds no {type(value).__name__}: return numbers, text, lists or dictionaries")


def main(mode: str, *rest: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    outputs = load(rest[0]) if mode == "call" else start_once(rest)
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"request": request["request"]}
        try:
            drawn = outputs(request["dataset"], request["size"], request["seed"])
            text = json.dumps({**answer, "outputs": drawn}, default=to_plain)
        except Exception as error:
            text = json.dumps({**answer, "error": f"{type(error).__name__}: {error}"})
        answers.write(text + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
