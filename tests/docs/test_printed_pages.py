"""Pages and examples run as they are printed; the README with what it installs and nothing else.

Examples of the pages on papers print what their comments say. Scripts have a process of their own, tests are run by
pytest, the notebook in a kernel.
"""

import re

import numpy as np
import pytest

import audit
from audit import Verdict
from benchmarks.learner_plots import FIGURES
from tests.bare import ROOT, Bare, built
from tests.docs.printed import shown_in
from tests.processes import PROGRAMS, run_python

README = (ROOT / "README.md").read_text()
PAGES = ["README.md", "docs/index.md", "docs/tasks.md", "docs/conformance.md"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    return Bare(folder / "bare", built(".", folder))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_as_printed(name, environment, tmp_path):
    shown = list(shown_in((ROOT / name).read_text(), environment, tmp_path))
    assert shown
    missing = [(each.line, each.printed) for each in shown if not each.found()]
    assert not missing, f"python -m tests.docs.printed {name} puts in what is printed today"


def test_the_environment_holds_the_auditor_alone_and_has_the_size_that_is_stated(environment, tmp_path):
    assert environment.run("python -c 'import audit'", tmp_path).returncode == 0
    assert environment.run("python -c 'import mechanisms'", tmp_path).returncode == 1
    stated = int(re.search(r"about (\d+) MB", README)[1])
    assert stated == pytest.approx(environment.megabytes(), rel=0.15)


def blocks_of(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), flags=re.S)


def run_commands(block, folder):
    """Yield each command of a block of the console that is no installation, and what it prints."""
    for command in re.findall(r"^\$ ((?!python -m pip).+)$", block, re.MULTILINE):
        program, *arguments = command.split()
        done = run_python(*PROGRAMS[program], *arguments, cwd=folder, timeout=120)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        yield command, done.stdout


def test_the_tutorial(tmp_path):
    for block in blocks_of("tutorial.md", "python"):
        if file := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / file[1]).write_text(block)
    ran = []
    for block in blocks_of("tutorial.md", "console"):
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        for command, printed in run_commands(block, tmp_path):
            assert set(shown) <= set(printed.splitlines()), command
            ran.append(command)
    assert ran


def test_maps_print_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps, opendp, spent = blocks_of("glue.md", "python")
    names = {}
    exec(steps, names)
    assert blocks_of("glue.md", "text")[0] in capsys.readouterr().out
    assert (tmp_path / "glue" / "certificate.json").exists()
    pytest.importorskip("opendp")
    for block in (opendp, spent):
        exec(block, names)
        assert capsys.readouterr().out.endswith("PASS\n")
    said = audit.check_accounting(
        lambda event, delta: names["spent"](event, delta) * 0.9, names["events"], 1e-9, names["epsilon_bracket"]
    )
    assert said.verdict is Verdict.FAIL


def test_a_session_fails_in_pytest_by_the_conversation_that_is_shown(tmp_path):
    session, test, *_ = blocks_of("interactive.md", "python")
    turns, *_ = blocks_of("interactive.md", "text")
    (tmp_path / "test_session.py").write_text(session + test)
    # Without the summary: it repeats the whole message where CI is set.
    done = run_python("-m", "pytest", "-p", "no:cacheprovider", "-rN", "test_session.py", cwd=tmp_path)
    printed = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [line for line in printed if line in turns.splitlines()] == turns.splitlines()


def test_conversations_print_what_is_shown(capsys):
    names = {"audit": audit}
    session, _, *blocks = blocks_of("interactive.md", "python")
    exec(session, names)
    for block, shown in zip(blocks, blocks_of("interactive.md", "text")[1:], strict=True):
        exec(block, names)
        assert capsys.readouterr().out == shown


def test_from_a_loop_to_a_certificate(tmp_path):
    """The seed of the run is 0: the draws repeat, and what they gave was looked at."""
    (tmp_path / "audits.py").write_text(blocks_of("training.md", "python")[0])
    assert [command for block in blocks_of("training.md", "console") for command, _ in run_commands(block, tmp_path)]
    text = (tmp_path / "report" / "certificate.json").read_text()
    assert "as if it were divided by 4" in text


def test_the_canaries_of_an_estimator():
    """A regression that remembers its wrong labels is told apart."""
    names = {"np": np, "audit": audit}
    exec(next(block for block in blocks_of("training.md", "python") if "check_canaries" in block), names)
    assert 0.5 < names["bound"] < 3


EXAMPLES = ROOT / "examples"
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


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@pytest.mark.parametrize("page", [*FIGURES, "learners"])
def test_examples_print_what_they_say(page, capsys):
    """What an example prints stands in comments after `print(...)`, and in lines that are comments, in order."""
    blocks = [code for code in blocks_of(f"{page}.md", "python") if not code.startswith("# test_")]  # for pytest
    assert any("from mechanisms.learners import" in code for code in blocks)
    for code in blocks:
        exec(compile(code, f"{page}.md", "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        said = re.findall(r"(?:^|print\(.*\)  )# (.*)$", code, flags=re.MULTILINE)
        assert printed
        assert [line for line, comment in zip(printed, said, strict=True) if not comment.startswith(line)] == []
