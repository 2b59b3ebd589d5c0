"""Where audited code stands, in the certificate."""

import hashlib
from functools import partial
from pathlib import Path

import numpy as np

from audit import per_call
from audit.certificate.summary import describe_sources
from audit.checks.base import describe_source
from audit.mechanism.provenance import find_source

PAIRS = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
HERE = Path(__file__)


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
        assert (found.file, found.line) == ("tests/core/certificate/test_sources.py", line)
        assert found.digest == digest
    assert find_source(Instance()).line == line_of("class Instance:")
    monkeypatch.chdir(HERE.parents[1] / "scorers")
    assert find_source(exact).file == "test_sources.py"


def test_the_code_in_words_names_distributions_and_one_digest_of_all_files():
    found = describe_source(np.mean)
    assert found["distribution"] == "numpy"
    assert found["file"].startswith("numpy/")
    listed = hashlib.sha256(f"{found['digest']}  {found['file']}\n".encode()).hexdigest()
    named = f"numpy {np.__version__} ({found['subject'][:16]})"
    assert describe_sources({"a": found, "b": found, "c": {}}) == f"{named}, 1 file with the digest {listed[:16]}"
    assert "file" not in describe_source(len)


class Hostile:
    def __getattr__(self, name):
        raise SystemError(name)

    def __call__(self, data, size, rng):
        return exact(data, size, rng)


def test_hostile_code_has_a_source_all_the_same():
    assert find_source(Hostile()).line == line_of("class Hostile:")
