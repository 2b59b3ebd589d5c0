"""The command `check`: an audit of one function, without a module of checks."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from audit import PrivacyCheck, Substitution, per_call
from audit.api import InvalidArgument, claims, cli, defaults, discover, errors
from audit.extensions.files.commands import run_one, take_claim
from audit.extensions.files.tables import is_table, read_rows


@click.command(
    "check",
    options_metavar="--left JSON --right JSON [OPTIONS]",
    epilog="Example: dp-audit check mylib:count --epsilon 1 --left '[0, 0]' --right '[0, 1]'",
)
@click.argument("target", metavar="MODULE:FUNCTION")
@click.option("--left", metavar="JSON", help="A dataset, as in '[0, 0]', or a file: left.csv, left.json.")
@click.option("--right", metavar="JSON", help="Its neighbor.")
@click.option(
    "--datasets",
    metavar="STRATEGY",
    help="Search the worst pair: a Hypothesis strategy, as in 'lists(floats(0, 1))', or MODULE:STRATEGY.",
)
@click.option("--arrays", is_flag=True, help="Pass lists as NumPy arrays.")
@click.option("--frames", is_flag=True, help="Pass lists as pandas data frames.")
@take_claim
@cli.setting(
    "--budget",
    defaults.DEFAULT_BUDGET,
    "As many outputs as resolve the claim, or a number.",
    metavar="auto|quick|deep|N",
)
@cli.setting(
    "--significance", defaults.DEFAULT_SIGNIFICANCE, "Probability that a true claim is suspected; FAIL needs 1e-6."
)
@cli.setting("--seed", 0, "The same seed gives the same evidence.")
@cli.setting("--timeout", defaults.DEFAULT_TIMEOUT, "Seconds after which the drawing ends.")
def function_command(
    target: str, left: str | None, right: str | None, datasets: str | None, arrays: bool, frames: bool,
    claim: claims.Claim, budget: Any, significance: float, seed: int, timeout: float, **shown: Any,
) -> int:  # fmt: skip
    """Audit one function on two neighboring datasets, --left and --right.

    The function takes (dataset), (dataset, rng) or (dataset, size, rng), and returns one output, or `size` of them.
    A table with several columns is a list of dicts, one for each row.
    """
    if (left is None or right is None) == (datasets is None) or (datasets is not None and (left or right)):
        raise click.UsageError("give --left JSON and --right JSON, or --datasets STRATEGY")
    function, convert = load_object(target), load_converter(arrays, frames)
    mechanism = function if takes_size(function) else per_call(function)
    if datasets is not None:
        searched = load_strategy(datasets)
        inputs: dict[str, Any] = {"datasets": searched.map(convert)}
    else:
        pair = (convert(read_dataset(str(left), "--left")), convert(read_dataset(str(right), "--right")))
        if isinstance(claim.relation, Substitution) and are_of_other_lengths(*pair):
            raise click.UsageError("the datasets have different lengths: add --relation add/remove")
        inputs = {"pairs": [pair]}
    check = PrivacyCheck(name=target, mechanism=mechanism, claim=claim, **inputs)
    return run_one(check, budget, significance, seed, timeout=timeout, workers=None, **shown)


def load_object(text: str) -> Any:
    """Return the object that "module:name" or "file.py:name" names; raise `UnknownTarget` with the nearest name."""
    target, _, name = text.partition(":")
    if not name:
        module, _, last = target.rpartition(".")
        instead = f"{module}:{last}" if module and last != "py" else f"{target}:FUNCTION"
        raise errors.UnknownTarget(f"{text!r} names no function: type {instead}")
    found: Any = discover.import_target(target)
    for part in name.split("."):
        if not hasattr(found, part):
            there = [key for key, value in vars(found).items() if callable(value) and not key.startswith("_")]
            raise errors.UnknownTarget(f"{target} has no {part!r}: it has {', '.join(there) or 'no function'}")
        found = getattr(found, part)
    return found


def takes_size(function: Any) -> bool:
    """Return whether a function draws `size` outputs a call."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [part for part in parameters.values() if part.default is part.empty and part.kind in kinds]
    return "size" in parameters or len(required) >= 3


def load_converter(arrays: bool, frames: bool) -> Callable[[Any], Any]:
    """Return the function that makes the datasets of lists."""
    if frames:
        import pandas

        return pandas.DataFrame
    return np.asarray if arrays else lambda dataset: dataset


def read_dataset(text: str, option: str) -> Any:
    """Return a dataset of JSON, of a file of it, or of a table."""
    path = Path(text.removeprefix("@"))
    if is_table(path):
        return read_rows(path)
    is_file = text.startswith("@") or path.suffix.lower() == ".json"
    try:
        return json.loads(path.read_text(encoding="utf-8") if is_file else text)
    except OSError as error:
        raise InvalidArgument(f"{option}: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        held = f"{path}, which holds none: {error}" if is_file else repr(text)
        raise InvalidArgument(f"{option} must be JSON, as in '[0, 0]', or a file, got {held}") from error


def are_of_other_lengths(left: Any, right: Any) -> bool:
    """Return whether two lists differ in length by one, as under add/remove."""
    sized = all(hasattr(side, "__len__") for side in (left, right))
    return sized and abs(len(left) - len(right)) == 1


def load_strategy(text: str) -> Any:
    """Return a Hypothesis strategy: an expression of `hypothesis.strategies`, or the object "module:name"."""
    from hypothesis import strategies

    if ":" in text:
        return load_object(text)
    names = {name: getattr(strategies, name) for name in strategies.__all__}
    try:
        return eval(text, {"__builtins__": {}}, names)  # text of the command line, by whoever runs it
    except Exception as error:
        rule = "--datasets must be a strategy, as in 'lists(floats(0, 1))'"
        raise InvalidArgument(f"{rule}, got {text!r}: {type(error).__name__}: {error}") from error
