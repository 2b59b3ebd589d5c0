"""What the whole suite shares: one thread per process, fixed seeds of Hypothesis, and CPU seconds of each test."""

import importlib
import os
import sys
from collections import defaultdict
from pathlib import Path

# Two workers of pytest-xdist already fill the machine; BLAS threads beside them only wait for each other.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# The suite starts many processes: what the first one compiles, the others load.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What a command prints into a pipe is as wide as the pages show it, however narrow the terminal of the suite.
os.environ.pop("COLUMNS", None)

import hypothesis  # noqa: E402
import pytest  # noqa: E402

from audit import plugins  # noqa: E402
from tests import weekly  # noqa: E402
from tests.processes import start_forked  # noqa: E402

hypothesis.settings.register_profile("suite", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("suite")


TESTS = Path(__file__).parent

SLOW = (  # left out by `make test-fast`: whole audits, simulations, other processes, and the catalog of mechanisms
    *("benchmarks/", "docs/", "e2e/", "mechanisms/", "wild/", "core/certificate/", "core/execution/workers/"),
    *("core/scorers/test_vector_scorers.py", "extensions/adapters/"),
    *("extensions/precision/", "extensions/randomness/", "extensions/search/", "extensions/sequential/"),
    *("meta/test_hostile_suite.py", "meta/test_leaks.py", "meta/test_removal.py"),
)


@pytest.fixture(autouse=True, scope="module")
def core_alone(request):
    """In tests of the core, but of certificates and workers, no method of an extension looks first.

    Outside of `core/execution` no draws are spread over processes because the machine is busy.
    """
    with pytest.MonkeyPatch.context() as patch:
        folder = request.path.parent
        if not folder.is_relative_to(TESTS / "core" / "execution"):
            patch.setattr(importlib.import_module("audit.execution.workers"), "_ALONE", 60.0)
        if folder.is_relative_to(TESTS / "core") and folder.name not in ("certificate", "workers"):
            patch.setattr(plugins, "list_first", lambda: ())
            patch.setattr(plugins, "find_early_look", lambda: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def forked_interpreters():
    """Fork the interpreters in which a mechanism is looked at anew; `core/checks/test_caches.py` starts real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("audit.evidence.new_processes"), "start", start_forked)
        yield


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by `make test-fast`")
    config.addinivalue_line("markers", "weekly: left out by `make test`, run by `make test-weekly`; tests/weekly.py")
    config.addinivalue_line(
        "markers",
        "false_alarm(p, seeded=False): fails a correct package with probability p; tests/meta/test_false_alarms.py",
    )


def pytest_addoption(parser):
    parser.addoption("--cpu-times", type=int, metavar="N", help="list the N most expensive files and tests by CPU time")


def pytest_collection_modifyitems(config, items):
    """Mark the slow and the weekly tests, and refuse ids that processes of pytest-xdist would not agree on."""
    ours = [(item, item.nodeid.removeprefix("tests/")) for item in items if item.path.is_relative_to(TESTS)]
    for item, name in ours:
        if name.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if weekly.is_weekly(name):
            item.add_marker(pytest.mark.weekly)
    config.stash[weekly.COLLECTED] = [name for _, name in ours]
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"give the parameter an id: {unstable[0]} names an object by its address")


def cpu_seconds(pid: int | str = "self") -> float:
    """Return the CPU seconds of a process and of all that it started; `os.times` knows only those that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = [
            child for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
        ]
    except OSError:  # it ended in between, or this system has no /proc
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(cpu_seconds, children))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Store the CPU seconds since the last report of this process; xdist sends attributes of reports along."""
    report = yield
    if not item.config.getoption("--cpu-times"):
        return report
    now, last = cpu_seconds(), item.session.stash.get(_LAST, None)
    report.cpu_seconds = 0.0 if last is None else now - last
    report.cpu_start = now if last is None else 0.0
    item.session.stash[_LAST] = now
    return report


_LAST = pytest.StashKey[float]()


def pytest_terminal_summary(terminalreporter, config):
    most = config.getoption("--cpu-times")
    if not most:
        return
    seconds: dict[str, float] = defaultdict(float)
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if hasattr(report, "cpu_seconds"):
            seconds["start and collection"] += report.cpu_start
            seconds["all together"] += report.cpu_start + report.cpu_seconds
            for name in {report.nodeid, report.nodeid.partition("[")[0], report.nodeid.partition("::")[0]}:
                seconds[name] += report.cpu_seconds
    terminalreporter.section(f"CPU seconds of {most} files and tests")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:most]:
        terminalreporter.line(f"{seconds[name]:8.2f}  {name}")
