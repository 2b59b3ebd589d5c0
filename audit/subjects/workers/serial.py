"""In this process: nothing is started, and a subject that hangs or dies ends the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit.subjects.workers.executor import Executor


class Serial(Executor):
    """One call after the other, here; limits of time are not kept."""

    forms = ("serial",)
    width = 1

    def __init__(self, address: str = forms[0], workers: int | None = None) -> None:
        pass

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None) -> Any:
        """Call the function."""
        return function(*arguments)
