"""Load a mutated module in place of its file, and judge it in a process of its own."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

from benchmarks.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
_TOO_LATE = 3  # the exit status of a process that had imported the module unmutated


class Mutated(importlib.abc.SourceLoader):
    """Load one module from a changed text."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    def get_filename(self, fullname: str) -> str:
        """Return the path of the original."""
        return self.path

    def get_data(self, path: Any) -> bytes:
        """Return the changed text."""
        return self.text.encode()

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        """Compile the changed text, whatever a cache holds."""
        return compile(self.text, self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Find the mutated module before all others."""

    def __init__(self, mutant: Mutant, text: str, package: str = "mechanisms") -> None:
        self.module = f"{package}." + mutant.file.removesuffix(".py").replace("/", ".")
        self.loader = Mutated(str(ROOT / package / mutant.file), text)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return the changed module."""
        return importlib.util.spec_from_loader(fullname, self.loader) if fullname == self.module else None


def load(mutant: Mutant, text: str, package: str = "mechanisms") -> None:
    """Import a module from a changed text, at once: pytest puts a finder of its own before those that it meets."""
    finder = Finder(mutant, text, package)
    if finder.module in sys.modules:
        raise SystemExit(_TOO_LATE)
    sys.meta_path.insert(0, finder)
    importlib.import_module(finder.module)


def told_apart(judge: Callable[[Mutant, Any], None], mutant: Mutant, seconds: float | None = None) -> str:
    """Return what a judge sends of a mutation from a forked process, within some seconds if given."""
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe()
    process = context.Process(target=judge, args=(mutant, its))
    process.start()
    its.close()
    if not mine.poll(seconds):
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        return "too slow"
    try:
        said = str(mine.recv())
    except EOFError:
        said = "killed by the end of its process"
    process.join()
    if process.exitcode == _TOO_LATE:
        raise SystemExit(f"{mutant.file} was imported before its change")
    return said
