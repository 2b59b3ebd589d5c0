"""The tests of enumerated laws, in processes of their own: what other tests have changed there would bar merging."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = sorted(path for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name)
PROCESSES = 3  # each imports SciPy and its like anew


@pytest.mark.parametrize("number", range(PROCESSES))
def test_in_a_process_of_its_own(number, request):
    paths = FILES[number::PROCESSES]
    variables = {**os.environ, "DP_AUDIT_ENUMERATION": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *map(str, paths)]
    command += ["-m", request.config.option.markexpr]  # what is left out of that session is left out here
    if getattr(request.config.option, "cov_source", None):  # its measurement is combined with that of this session
        root = request.config.rootpath
        variables["COVERAGE_FILE"] = str(root / f".coverage.enumeration.{number}.{os.getpid()}")
        command += ["--cov", "--cov-report=", "--cov-fail-under=0"]
    for name in [name for name in variables if name.startswith(("PYTEST_XDIST", "PYTEST_CURRENT", "PYTEST_ADDOPTS"))]:
        del variables[name]
    done = subprocess.run(command, env=variables, cwd=request.config.rootpath, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout or "COVERAGE_FILE" in variables
