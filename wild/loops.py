"""`python -m wild.loops`: audit training loops of Opacus itself, in an environment of its own.

`benchmarks/training/opacus_run.py` runs there, beside the auditor's own packages; torch is not installed here. What it
prints is a run as meant, and four with a mistake each. Exit status: 0 if the verdicts are those that are expected.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from wild.environments import prepare, python_of

LIBRARY = "opacus"


def main() -> None:
    prepare(LIBRARY)
    here = os.pathsep.join([str(Path.cwd()), sysconfig.get_paths()["purelib"]])
    command = [str(python_of(LIBRARY)), "-m", "benchmarks.training.opacus_run"]
    sys.exit(subprocess.run(command, env={**os.environ, "PYTHONPATH": here}, check=False).returncode)


if __name__ == "__main__":
    main()
