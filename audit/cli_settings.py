"""Define the settings that commands share."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from audit.defaults import (
    DEFAULT_BUDGET,
    DEFAULT_CONFIRMATION,
    DEFAULT_EXECUTOR,
    DEFAULT_SIGNIFICANCE,
    DEFAULT_TIMEOUT,
)


def _module_names(context: click.Context, parameter: click.Parameter, targets: Sequence[str]) -> tuple[str, ...]:
    from audit.discover import imported_name

    return tuple(map(imported_name, targets))


TARGETS = click.argument("targets", nargs=-1, metavar="TARGET...", callback=_module_names)
FOLDER = click.Path(file_okay=False, path_type=Path)


def setting(name: str, default: Any, text: str, **more: Any) -> Callable[..., Any]:
    return click.option(name, **{"default": default, "show_default": True, "help": text, **more})


_SETTINGS = (
    setting(
        "--budget",
        DEFAULT_BUDGET,
        "For each check that states no budget of its own: auto, as many outputs as resolve its claim; quick, at twice "
        "the tolerance; deep, at 0.4 of it; or a number of outputs per dataset (losses in all).",
        metavar="auto|quick|deep|N",
    ),
    setting(
        "--significance",
        DEFAULT_SIGNIFICANCE,
        "Probability that any true claim of the run is suspected, and tested again (compare: or two equal laws called "
        "different).",
    ),
    setting(
        "--confirmation", DEFAULT_CONFIRMATION, "Probability that any true claim of the run is judged FAIL.", type=float
    ),
    setting("--seed", 0, "The same seed gives the same evidence."),
    setting(
        "--executor",
        DEFAULT_EXECUTOR,
        "'processes' on this machine, 'serial' for this process, or dask://scheduler:port. The evidence is the same.",
        metavar="WHERE",
    ),
    setting(
        "--workers", None, "Worker processes; a cluster has its own number.", type=int, show_default="available cores"
    ),
    setting("--timeout", DEFAULT_TIMEOUT, "Seconds after which a check is stopped."),
)


def with_settings(command: Callable[..., int]) -> Callable[..., int]:
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def digest(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return a digest in lower case, or refuse what is none."""
    if value is not None and not re.fullmatch("[0-9a-f]{64}", value := value.strip().lower()):
        raise click.BadParameter("a digest is 64 hexadecimal digits")
    return value
