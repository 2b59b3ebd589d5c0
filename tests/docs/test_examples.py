"""The examples run as they stand: scripts in a process of their own, tests under pytest, the notebook in a kernel."""

import re
from pathlib import Path

import pytest

from tests.processes import run_python

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPECTED = {  # the verdicts that a script prints, in order
    "census_2020.py": ["PASS"],
    "gaussian_curve.py": ["PASS", "FAIL"],
    "library_function.py": ["PASS"],
    "search_neighbors.py": ["FAIL"],
    "utility_rate.py": ["PASS", "FAIL"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script(name, tmp_path):
    done = run_python(EXAMPLES / name, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"\b(PASS|FAIL|INCONCLUSIVE) - ", done.stdout) == EXPECTED[name], done.stdout


def test_the_pytest_example(tmp_path):
    command = ["-m", "pytest", "-p", "no:cacheprovider", EXAMPLES / "test_noisy_count.py"]
    done = run_python(*command, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^FAIL .*test_a_wrong_sensitivity_is_found", done.stdout, re.MULTILINE)
    assert re.search(r"^PASS .*test_count_keeps_its_claim", done.stdout, re.MULTILINE)


def test_the_notebook(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "private_mean.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is committed without outputs"
    resources = {"metadata": {"path": str(tmp_path)}}
    done = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    printed = "".join(output["text"] for cell in done.cells for output in cell.get("outputs", ()) if "text" in output)
    assert re.findall(r"^(PASS|FAIL|INCONCLUSIVE) - ", printed, re.MULTILINE) == ["FAIL", "PASS"]
