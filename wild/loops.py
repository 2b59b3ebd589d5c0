"""`python -m wild.loops [opacus | accountants]`: audit training of other libraries, in environments of their own.

opacus: `benchmarks/training/opacus_run.py` runs there, beside the auditor's own packages; torch is not installed here.
What it prints is a run as meant, and four with a mistake each. Exit status: 0 if the verdicts are those that are
expected. accountants: `benchmarks/accountants.py` runs here, beside the packages of two environments.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from wild.environments import prepare, python_of

COMMANDS = {  # the Python that runs a module, unless it is this one, and the environments whose packages it sees
    "opacus": (True, "benchmarks.training.opacus_run", ("opacus",)),
    "accountants": (False, "benchmarks.accountants", ("accountants", "opacus")),
}


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "opacus"
    is_there, module, libraries = COMMANDS[name]
    for library in libraries:
        prepare(library)
    pythons = [python_of(library) for library in libraries]
    packages = [str(found) for python in pythons for found in python.parents[1].glob("lib/python*/site-packages")]
    path = os.pathsep.join([str(Path.cwd()), sysconfig.get_paths()["purelib"], *packages])
    command = [str(pythons[0]) if is_there else sys.executable, "-m", module, *sys.argv[2:]]
    sys.exit(subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode)


if __name__ == "__main__":
    main()
