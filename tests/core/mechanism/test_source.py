"""Which code is audited: file and line of the mechanism, the distributions behind it, and one digest of their files."""

import hashlib
import sys
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path

import click
import numpy as np
import pytest

from audit import per_call
from audit.mechanism import provenance
from audit.mechanism.provenance import describe_distribution, describe_folder, find_source

HERE = Path(__file__)


def laplace(data, size, rng):
    return len(data) + rng.laplace(size=size)


def calls_a_library(data):
    return click.style(str(len(data)))


@lru_cache
def helper():
    return click.unstyle("0")


def calls_a_helper(data, rng):
    return float(helper())


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution of two files, one of them with a name of its own."""

    def install(name="tiny", code="def release(data, size, rng):\n    return [0.0] * size\n"):
        folder = tmp_path / "site-packages"
        package, info = folder / name, folder / f"{name}_wheel-1.2.dist-info"
        package.mkdir(parents=True)
        info.mkdir()
        (package / "__init__.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-wheel\nVersion: 1.2\n")
        (info / "INSTALLER").write_text("anybody")
        hashed = provenance.base64.urlsafe_b64encode(hashlib.sha256(code.encode()).digest()).decode().rstrip("=")
        (info / "RECORD").write_text(
            f"{name}/__init__.py,sha256={hashed},{len(code)}\n{info.name}/INSTALLER,,\n{info.name}/RECORD,,\n"
            f"{name}/__pycache__/__init__.cpython-311.pyc,,\n../../bin/{name},sha256={hashed},3\n"
        )
        monkeypatch.syspath_prepend(folder)
        for cached in (describe_distribution, describe_folder, provenance.list_checkouts):
            cached.cache_clear()
        return package / "__init__.py"

    yield install
    sys.modules.pop("tiny", None)
    describe_distribution.cache_clear()


def test_the_digest_is_that_of_the_wheel(installed):
    file = installed()
    listed = f"{hashlib.sha256(file.read_bytes()).hexdigest()}  tiny/__init__.py\n"
    found = describe_distribution("tiny-wheel")
    assert found == {
        "distribution": "tiny-wheel",
        "version": "1.2",
        "files": 1,
        "subject": hashlib.sha256(listed.encode()).hexdigest(),
    }


def test_a_mechanism_of_no_distribution_has_its_package_or_its_file():
    found = find_source(laplace)
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
    assert find_source(laplace).libraries == ()


def exact(data, size, rng):
    return np.full(size, data.sum())


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
        assert (found.file, found.line) == ("tests/core/mechanism/test_source.py", line)
        assert found.digest == digest
    assert find_source(Instance()).line == line_of("class Instance:")
    monkeypatch.chdir(HERE.parents[1] / "scorers")
    assert find_source(exact).file == "test_source.py"


class Hostile:
    def __getattr__(self, name):
        raise SystemError(name)

    def __call__(self, data, size, rng):
        return exact(data, size, rng)


def test_hostile_code_has_a_source_all_the_same():
    assert find_source(Hostile()).line == line_of("class Hostile:")
