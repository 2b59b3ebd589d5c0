"""The subject: what it did to its dataset, and which code is audited: its line, distributions and digest."""

import hashlib
import math
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from audit import AuditError, Labeled, PrivacyClaim, SubjectFailed, Verdict, check_privacy, per_call
from audit.mechanism import provenance
from audit.mechanism.call import Subject
from audit.mechanism.provenance import describe_distribution, describe_folder, find_source
from audit.statistics.independence import kruskal_pvalue
from tests.core.mechanisms import PAIR, laplace

X = np.arange(12.0).reshape(6, 2)
RECORDS = np.array([(0.5, 1), (1.5, 2), (2.5, 3)], dtype=[("x", "f8"), ("n", "i4")])
VIEWS = {
    "strided": X[::2],
    "reversed": X[::-1],
    "one column": X[:, 1],
    "transposed": X.T,
    "Fortran order": np.asfortranarray(X),
    "broadcast": np.broadcast_to(X[0], (3, 2)),
    "read-only": np.frombuffer(X.tobytes())[::2],
    "empty": np.full(1, 0.2)[1:],
    "swapped bytes": X.astype(">f8")[::-1],
    "masked": np.ma.masked_greater(X, 4)[::-1],
    "structured": RECORDS[::-1],
    "one field": RECORDS["n"],
    "objects": np.array([1, "b", None, 2.5], dtype=object)[::-1],
    "signs and payloads": np.array([-0.0, 0.0, np.nan, -np.nan])[::-1],
    "frame": pd.DataFrame(X[::-1], columns=["a", "b"])[::2],
    "series": pd.Series(X[:, 0])[::-1],
}
HELD = {  # how a dataset holds a view, and where it is found there
    "alone": (lambda view: view, lambda data: data),
    "in a list": (lambda view: [view], lambda data: data[0]),
    "in a tuple": (lambda view: (view, view), lambda data: data[1]),
    "in a mapping": (lambda view: {"x": [view]}, lambda data: data["x"][0]),
    "in an object": (lambda view: SimpleNamespace(x=view, y=view[:1]), lambda data: data.x),
    "beside a function": (lambda view: [len, lambda: 0, view], lambda data: data[2]),
}
CHANGES = {
    "another number": lambda x: x + 1,
    "another order": lambda x: x[::-1],
    "another sign of zero": np.negative,
    "another payload of NaN": lambda x: np.where(np.isnan(x), -x, x),
}


def odd_of(mechanism, dataset):
    return Subject(mechanism).draw(dataset, 3, np.random.SeedSequence(0))[1]


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_nobody_touched_has_not_changed(view, held):
    """The copy of a view is laid out otherwise: that is not a mutation."""
    assert not odd_of(lambda data, size, rng: np.zeros(size), HELD[held][0](VIEWS[view]))


def test_views_of_a_file_and_of_labeled_records_have_not_changed(tmp_path):
    X.tofile(tmp_path / "x")
    rows = np.memmap(tmp_path / "x", dtype=float, mode="r", shape=X.shape)[::2]
    for dataset in (rows, [rows], Labeled(X[::-1], X[::-1, 0])):
        assert not odd_of(lambda data, size, rng: np.zeros(size), dataset)


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("change", CHANGES)
def test_a_view_that_is_written_to_has_changed(change, held):
    hold, look = HELD[held]

    def writes(data, size, rng):
        look(data)[:] = CHANGES[change](look(data)).copy()
        return np.zeros(size)

    special = {"another sign of zero": np.zeros(6), "another payload of NaN": np.full(6, np.nan)}
    assert odd_of(writes, hold(special.get(change, X[:, 0])[::-2]))["mutated its dataset"] == 1


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_the_test_for_dependence_is_that_of_scipy(digits):
    """With many ties, some and none; with equal laws and a shifted one."""
    rng = np.random.default_rng(digits)
    for shift in (0.0, 1.0):
        samples = [np.round(rng.normal(number * shift, 1, 5 + number), digits) for number in range(6)]
        assert kruskal_pvalue(samples) == pytest.approx(stats.kruskal(*samples).pvalue, rel=1e-9)
    assert math.isnan(kruskal_pvalue([np.array([np.nan, 1.0]), np.array([1.0, 2.0])]))


class Own(BaseException):
    """What only `except BaseException` catches."""


def raising(error):
    def mechanism(data, size, rng):
        raise error

    return mechanism


class Unreadable:
    """An output whose copy ends the interpreter, if it is let."""

    def __reduce_ex__(self, protocol):
        raise SystemExit("out")


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (raising(Own("mine")), "raised Own"),
        (raising(GeneratorExit()), "raised GeneratorExit"),
        (raising(SystemExit(3)), "raised SystemExit"),
        (lambda data, size, rng: [Unreadable() for _ in range(size)], "SystemExit"),
    ],
)
def test_in_the_process_of_the_caller_an_exception_is_a_cause_as_well(mechanism, said):
    found = check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=100, workers=0)
    assert (found.verdict, found.isolation) == (Verdict.INCONCLUSIVE, "caller")
    assert said in found.reason


@pytest.mark.parametrize("function", [lambda data, r: 0, lambda data, r, rng: 0, lambda data, r, rng=None: 0])
def test_a_function_of_more_arguments_is_refused_before_it_is_called(function):
    with pytest.raises(AuditError, match=r"it needs r: name the generator `rng`"):
        per_call(function)
    assert per_call(lambda data, rng=None, scale=1.0: 0).takes_rng
    assert per_call(max)([1, 3], 2, None) == [3, 3]  # it has no signature
    assert per_call(lambda data, scale=2.0, rng=None: (scale, rng))([], 1, "the generator") == [(2.0, "the generator")]


def test_a_method_of_a_class_names_the_object_that_is_missing():
    class Counter:
        def count(self, rows):
            return len(rows)

    with pytest.raises(
        AuditError, match=r"method of the class .*Counter: give one of an object, as .*Counter\(\.\.\.\)\.count"
    ):
        per_call(Counter.count)


def test_a_class_whose_objects_are_called_is_not_taken_for_its_objects():
    """A class makes outputs, too; one with `__call__` would be audited as one that releases its dataset."""

    class Counter:
        def __init__(self, epsilon):
            self.epsilon = epsilon

        def __call__(self, rows, rng):
            return len(rows) + rng.laplace(scale=1 / self.epsilon)

    with pytest.raises(AuditError, match=r"is the class .*Counter: give an object, as .*Counter\(\.\.\.\)"):
        per_call(Counter)
    assert per_call(Counter(1.0)).takes_rng


def test_a_service_that_does_not_answer_is_asked_once():
    """Each further request might take as long."""
    requests = []

    def asleep(data, size, rng):
        requests.append(size)
        raise SubjectFailed("hung", "did not answer within 60 s")

    result = check_privacy(asleep, PrivacyClaim(1.0), [PAIR], workers=0)
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, "the mechanism did not answer within 60 s")
    assert len(requests) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), pytest.skip.Exception("not here")])
def test_what_the_user_or_pytest_raises_in_the_process_of_the_caller_goes_on(error):
    for mechanism in (raising(error), per_call(lambda data, rng: raising(error)(data, 1, rng))):
        with pytest.raises(type(error)):
            check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=100, workers=0)


def test_a_check_with_a_time_limit_has_a_process_of_its_own_and_its_witness_no_event():
    found = check_privacy(laplace, PrivacyClaim(0.2), [PAIR], budget=20_000, timeout=60)
    here = check_privacy(laplace, PrivacyClaim(0.2), [PAIR], budget=20_000, workers=0)
    assert (found.isolation, here.isolation) == ("process", "caller")
    assert found.record() == here.record()
    assert found.witness.event is None
    assert here.witness.event(np.zeros(3)).shape == (3,)
    assert found.to_dict()["isolation"] == "process"


HERE = Path(__file__)


def calls_a_library(data):
    return click.style(str(len(data)))


@lru_cache
def helper():
    return click.unstyle("0")


def calls_a_helper(data, rng):
    return float(helper())


def test_the_digest_is_that_of_the_wheel(tmp_path, monkeypatch):
    """Of a distribution of two files, one of them with a name of its own."""
    code, folder = b"def release(data, size, rng):\n    return [0.0] * size\n", tmp_path / "site-packages"
    package, info = folder / "tiny", folder / "tiny_wheel-1.2.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_bytes(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-wheel\nVersion: 1.2\n")
    (info / "INSTALLER").write_text("anybody")
    hashed = provenance.base64.urlsafe_b64encode(hashlib.sha256(code).digest()).decode().rstrip("=")
    (info / "RECORD").write_text(
        f"tiny/__init__.py,sha256={hashed},{len(code)}\n{info.name}/INSTALLER,,\n{info.name}/RECORD,,\n"
        f"tiny/__pycache__/__init__.cpython-311.pyc,,\n../../bin/tiny,sha256={hashed},3\n"
    )
    monkeypatch.syspath_prepend(folder)
    for cached in (describe_distribution, describe_folder, provenance.list_checkouts):
        cached.cache_clear()
    listed = f"{hashlib.sha256(code).hexdigest()}  tiny/__init__.py\n"
    subject = hashlib.sha256(listed.encode()).hexdigest()
    due = {"distribution": "tiny-wheel", "version": "1.2", "files": 1, "subject": subject}
    assert describe_distribution("tiny-wheel") == due


def test_a_mechanism_of_no_distribution_has_its_package_or_its_file():
    found = find_source(exact)
    assert found.digest == hashlib.sha256(HERE.read_bytes()).hexdigest()
    assert found.subject
    assert found.distribution in ("", "dp-audit")  # where this checkout is installed to be edited, it is of that
    assert found.files == 1
    folder = describe_folder(str(HERE.parent))
    assert folder["files"] == len(list(HERE.parent.rglob("*.py")))


def test_what_the_code_names_is_a_library():
    (found,) = find_source(per_call(calls_a_library)).libraries
    assert (found.distribution, found.version) == ("click", metadata.version("click"))
    assert len(found.subject) == 64
    assert find_source(per_call(calls_a_helper)).libraries == (found,)
    assert find_source(exact).libraries == ()


def exact(data, size, rng):
    return np.full(size, data.sum())


class Hostile:
    def __getattr__(self, name):
        raise SystemError(name)

    def __call__(self, data, size, rng):
        return exact(data, size, rng)


class Instance:
    def __call__(self, data, size, rng):
        return exact(data, size, rng)


def line_of(text):
    return 1 + HERE.read_text().splitlines().index(text)


def test_every_wrapping_leads_to_the_source(monkeypatch):
    monkeypatch.chdir(HERE.parents[3])
    line, digest = line_of("def exact(data, size, rng):"), hashlib.sha256(HERE.read_bytes()).hexdigest()
    once = per_call(partial(exact, size=1, rng=None))
    for subject in (exact, partial(exact), once, partial(once)):
        found = find_source(subject)
        assert (found.file, found.line) == ("tests/core/mechanism/test_subject.py", line)
        assert found.digest == digest
    for made, kind in ((Instance(), "Instance"), (Hostile(), "Hostile")):
        assert find_source(made).line == line_of(f"class {kind}:")
    monkeypatch.chdir(HERE.parents[1] / "scorers")
    assert find_source(exact).file == "test_subject.py"
