"""The example programs as implementations; none where the machine lacks their interpreter or compiler.

The one in C is compiled once into the user's cache folder, under the digest of its source.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit import Implementation
from audit.extensions.adapters import Documented, Program
from audit.laws import Law

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def laplace_count(law_of: Callable[[Any], Law]) -> list[Implementation]:
    """`examples/laplace_count.c` with scale 1; an empty list without compiler or source."""
    binary = compiled(EXAMPLES / "laplace_count.c")
    note = "examples/laplace_count.c, SplitMix64 and 52-bit uniforms, through a pipe"
    return _program("C program", binary and (str(binary),), law_of, note)


def randomized_response(law_of: Callable[[Any], Law]) -> list[Implementation]:
    """`examples/randomized_response.js` with epsilon = 1; an empty list without node or source."""
    node, source = shutil.which("node"), EXAMPLES / "randomized_response.js"
    note = "examples/randomized_response.js, mulberry32, through a pipe"
    return _program("JavaScript program", (node, str(source)) if node and source.exists() else None, law_of, note)


def _program(name: str, command: Any, law_of: Callable[[Any], Law], note: str) -> list[Implementation]:
    if command is None:
        return []
    return [Implementation(name=name, mechanism=Documented(Program((*command, "1")), law_of), note=note)]


def compiled(source: Path) -> Path | None:
    """The program of a C source; None without source or compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not source.exists():
        return None
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dp-audit"
    binary = cache / f"{source.stem}-{digest}"
    if not binary.exists():
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = binary.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-O2", "-o", unfinished, source, "-lm"], check=True)
        unfinished.replace(binary)  # whole or not there, whoever else compiles it now
    return binary
