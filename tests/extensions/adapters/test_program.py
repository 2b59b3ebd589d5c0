"""Programs in other languages: right verdicts on right and broken ones, INCONCLUSIVE with the cause on bad manners.

The broken ones promise half of the epsilon that they keep: at 400,000 outputs per dataset the game misses that with
probability below 1e-9 (the bound's distance from the claim is over 20 standard errors). A true claim fails with
probability at most the significance, 1e-6 each. Seeds are fixed.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from audit import AddRemove, Labeled, Local, PrivacyCheck, PrivacyClaim, SubjectFailed, Verdict, check_privacy, run
from audit.errors import InvalidArgument
from audit.extensions.adapters import Program
from audit.extensions.adapters.program import to_json
from audit.mechanism.provenance import find_source

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
BUDGET = 400_000
COUNT_PAIR = [(np.zeros(3, dtype=int), np.array([0, 0, 0, 1]))]


@pytest.fixture(scope="module")
def laplace_count(tmp_path_factory):
    """The example in C, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    binary = tmp_path_factory.mktemp("c") / "laplace_count"
    subprocess.run([compiler, "-O2", "-o", binary, EXAMPLES / "laplace_count.c", "-lm"], check=True)
    return str(binary)


@pytest.fixture(scope="module")
def node():
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node on this machine")
    return found


def script(body: str) -> tuple[str, ...]:
    """A Python program that reads requests and does `body` with each."""
    head = "import json, os, sys, time\nfor line in sys.stdin:\n    request = json.loads(line)\n"
    return (sys.executable, "-u", "-c", head + textwrap.indent(textwrap.dedent(body), "    "))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:  # it ended in between
        return False


def ends(pid: int) -> bool:
    """Wait until a killed process is dead: a signal arrives when the system gets to it."""
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


@pytest.mark.parametrize(("scale", "verdict"), [("1", Verdict.PASS), ("0.5", Verdict.FAIL)])
@pytest.mark.false_alarm(1e-06)
def test_c_program(laplace_count, scale, verdict):
    claim = PrivacyClaim(1.0, 0.0, AddRemove())
    result = check_privacy(
        Program((laplace_count, scale)), claim, COUNT_PAIR, budget=BUDGET, significance=1e-6, seed=0, method="fixed"
    )
    assert result.verdict is verdict
    assert result.epsilon_lower_bound < 1 / float(scale)


@pytest.mark.parametrize(("epsilon", "verdict"), [("1", Verdict.PASS), ("2", Verdict.FAIL)])
@pytest.mark.false_alarm(1e-06)
def test_node_program(node, epsilon, verdict):
    program = Program((node, str(EXAMPLES / "randomized_response.js"), epsilon))
    claim = PrivacyClaim(1.0, 0.0, Local())
    result = check_privacy(program, claim, [(0, 1)], budget=BUDGET, significance=1e-6, seed=0, method="fixed")
    assert result.verdict is verdict
    assert result.epsilon_lower_bound < float(epsilon)


def test_the_same_seed_gives_the_same_outputs(laplace_count):
    program = Program((laplace_count, "1"))
    first, again, other = (program([1, 0, 1], 1000, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.shape == (1000,)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    program.close()


def test_rows_of_bytes_and_any_json():
    """Vectors come as bytes, anything else as JSON; datasets go as nested lists."""
    rows = script(
        """
        import struct
        print(json.dumps({"request": request["request"], "shape": [request["size"], 2]}))
        sys.stdout.buffer.write(struct.pack("<2d", 1.5, -2.0) * request["size"]); sys.stdout.flush()
        """
    )
    assert np.array_equal(Program(rows)([0], 3, np.random.default_rng(0)), [[1.5, -2.0]] * 3)
    echo = script("""print(json.dumps({"request": request["request"], "outputs": [request["dataset"]]}))""")
    data = Labeled(np.eye(2), np.array([0, 1]))
    sent = Program(echo)({"data": data, "text": "é\n"}, 1, np.random.default_rng(0))
    assert sent == [{"data": {"X": [[1.0, 0.0], [0.0, 1.0]], "y": [0, 1]}, "text": "é\n"}]


BAD_MANNERS = {
    "not JSON": ("print('garbage')", "not a JSON object: b'garbage'"),
    "bytes": ("sys.stdout.buffer.write(bytes(range(128, 256)) + b'\\n'); sys.stdout.flush()", "not a JSON object"),
    "another request": ("print(json.dumps({'request': 99, 'outputs': []}))", "answered request 99 instead of 1"),
    "no outputs": ("print(json.dumps({'request': request['request']}))", "neither outputs nor a shape"),
    "negative shape": ("print(json.dumps({'request': request['request'], 'shape': [-1]}))", "neither outputs nor"),
    "huge shape": ("print(json.dumps({'request': request['request'], 'shape': [2**31]}))", "neither outputs nor"),
    "an exit": ("print('out of luck', file=sys.stderr); sys.exit(3)", "status 3 in the middle.*out of luck"),
    "an exit within the bytes": (
        "print(json.dumps({'request': request['request'], 'shape': [request['size']]})); sys.exit(0)",
        "status 0 in the middle",
    ),
    "a hang": ("time.sleep(60)", "did not answer within 0.5 s"),
    "a wrong count": (
        "print(json.dumps({'request': request['request'], 'outputs': [0] * (request['size'] - 1)}))",
        "outputs, expected ",
    ),
    "a refusal": ("print(json.dumps({'request': request['request'], 'error': 'no'}))", "refused the request: no"),
}


@pytest.mark.parametrize("name", BAD_MANNERS)
def test_bad_manners_are_inconclusive_with_the_cause(name):
    body, cause = BAD_MANNERS[name]
    program = Program(script(body), timeout=0.5 if name == "a hang" else 20.0)
    result = check_privacy(program, PrivacyClaim(1.0, 0.0, Local()), [(0, 1)], budget=1000, seed=0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert re.search(cause, result.reason), result.reason


def test_a_failed_program_is_dead_and_the_next_call_starts_another(tmp_path):
    """It hangs once, having started a child of its own; both are gone, and the second process answers."""
    log = tmp_path / "pids"
    body = f"""
    import subprocess
    first = not os.path.exists({str(log)!r})
    if first:
        child = subprocess.Popen(["sleep", "60"])
        with open({str(log)!r}, "w") as file: file.write(f"{{os.getpid()}} {{child.pid}}")
        time.sleep(60)
    print(json.dumps({{"request": request["request"], "outputs": [1.0] * request["size"]}}))
    """
    program = Program(script(body), timeout=2.0)
    with pytest.raises(Exception, match="did not answer"):
        program(0, 1, np.random.default_rng(0))
    for pid in map(int, log.read_text().split()):
        assert ends(pid)
    assert program(0, 1, np.random.default_rng(0)) == [1.0]
    program.close()


def test_a_program_that_refuses_a_request_goes_on():
    """A search over settings asks for many that are refused: none may cost another start of the program."""
    body = """
    answer = {"error": "no"} if request["dataset"] else {"outputs": [os.getpid()] * request["size"]}
    print(json.dumps({"request": request["request"], **answer}))
    """
    program, rng = Program(script(body)), np.random.default_rng(0)
    first = program(0, 1, rng)
    for _ in range(2):
        with pytest.raises(Exception, match="refused the request: no"):
            program(1, 1, rng)
    assert program(0, 1, rng) == first
    program.close()


def test_a_thread_keeps_few_programs():
    """One after the other is asked; the oldest are ended, the last one used is alive."""
    body = 'print(json.dumps({"request": request["request"], "outputs": [os.getpid()]}))'
    programs = [Program((*script(body), str(number))) for number in range(8)]
    first = programs[0](0, 1, np.random.default_rng(0))
    pids = [program(0, 1, np.random.default_rng(0))[0] for program in programs[1:4]]
    assert programs[0](0, 1, np.random.default_rng(0)) == first  # still the same process
    pids = [*first, *pids, *(program(0, 1, np.random.default_rng(0))[0] for program in programs[4:])]
    assert sum(map(alive, pids)) == 4
    assert not alive(first[0])
    assert alive(pids[-1])
    for program in programs:
        program.close()
    assert not any(map(alive, pids))


def test_a_killed_worker_takes_its_program_along(tmp_path):
    log = tmp_path / "pid"
    body = f"""
    with open({str(log)!r}, "w") as file: file.write(str(os.getpid()))
    time.sleep(60)
    """
    call = f"Program({script(body)!r})(0, 1, np.random.default_rng(0))"
    code = f"from audit.extensions.adapters import Program; import numpy as np; {call}"
    worker = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 30
    while not (log.exists() and log.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert ends(int(log.read_text()))


@pytest.mark.parametrize("command", [(), "ls -l", ("/no/such/program",)])
def test_commands_that_cannot_run_are_refused(command):
    with pytest.raises(InvalidArgument, match="`command` must"):
        Program(command)


@pytest.mark.parametrize("dataset", [float("nan"), np.array([np.inf]), object(), {1, 2}])
def test_datasets_that_json_does_not_hold_are_refused(dataset):
    with pytest.raises(InvalidArgument, match="`dataset` must be"):
        to_json(dataset)


def test_a_program_that_runs_once_for_each_output():
    code = "import json, sys; d = json.load(sys.stdin); print(json.dumps({'n': len(d)}) if d else sys.exit('no data'))"
    program = Program.once((sys.executable, "-c", code))
    rng = np.random.default_rng(0)
    assert program([1, 2], 3, rng) == [{"n": 2}] * 3
    with pytest.raises(SubjectFailed, match="ended with status 1: no data"):
        program([], 1, rng)
    program.close()


@pytest.mark.parametrize(
    ("body", "drawn"),
    [
        ("def f(dataset): return len(dataset)", [2, 2, 2]),
        ("def f(dataset, size): return [0.5] * size", [0.5] * 3),
        ("def f(dataset, size, seed): return [seed >= 0] * size", [True] * 3),
        ("def f(dataset): print('log'); return {8, 1}", [[1, 8]] * 3),
        ("import numpy as np\ndef f(dataset, size): return np.arange(size)", [0, 1, 2]),
        ("def f(dataset, size, rng): return rng.random(size) < 2", [True] * 3),
        ("def f(dataset, rng, seen=[]): seen.append(rng.random()); return len({*seen})", [1, 2, 3]),
        ("import fitted\ndef f(dataset): return int('adapters' in fitted.__file__)", [0, 0, 0]),
    ],
)
def test_a_function_of_another_environment(tmp_path, monkeypatch, body, drawn):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text(body)
    (tmp_path / "fitted.py").write_text("")  # a module that the folder of the adapters has, too
    program = Program.python(sys.prefix, "theirs:f")
    assert program([1, 2], 3, np.random.default_rng(0)) == drawn
    program.close()


def test_code_that_was_mended_is_not_answered_for_by_the_process_of_the_code_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in (1, 22):
        (tmp_path / "theirs.py").write_text(f"def f(dataset): return {value}")
        assert Program.python(sys.prefix, "theirs:f")([0], 1, np.random.default_rng(0)) == [value]


def test_an_environment_that_is_none_is_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="be a virtual environment or a Python interpreter"):
        Program.python(tmp_path, "statistics:median")
    with pytest.raises(InvalidArgument, match='be "module:function"'):
        Program.python(sys.executable, "statistics")


def test_a_program_that_runs_once_is_told_the_protocol():
    program = Program((sys.executable, "-c", "print(0.5)"), timeout=5.0)
    result = check_privacy(program, PrivacyClaim(1.0), [([0], [1])], budget=100, tolerance=1.5, workers=0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "JSON" in result.reason or "subprocess.run" in result.reason


PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    audited = {"distribution": "elsewhere", "version": "9.1", "files": 10**20, "subject": "%s", "other": 1}
    print(json.dumps({"request": asked["request"], "audited": audited, "outputs": [0.5] * asked["size"]}), flush=True)
"""


def test_a_program_says_what_it_is():
    program = Program((sys.executable, "-c", PROGRAM % ("a" * 64)))
    assert program.audited is None
    program([0], 2, np.random.default_rng(0))
    for subject in (program, partial(program, sigma=2.0)):  # at a setting of its parameters too
        found = find_source(subject)
        assert (found.distribution, found.version, found.said_by) == ("elsewhere", "9.1", "program")
        assert found.files == 2**53
        assert found.subject == "a" * 64
    program.close()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_certificate_has_what_the_process_says_that_runs_the_code(workers):
    program = Program((sys.executable, "-c", PROGRAM % ("b" * 64)))
    check = PrivacyCheck(
        name="behind", mechanism=program, claim=PrivacyClaim(1.0, 0.0, AddRemove()), pairs=[([0, 0], [0, 0, 1])]
    )
    certificate = run([check], budget=100, workers=workers).certificate
    found = certificate["sources"]["behind"]
    assert (found["distribution"], found["subject"], found["said_by"]) == ("elsewhere", "b" * 64, "program")
    assert json.dumps(found)
    program.close()
