# Everything starts from a machine with Python 3.11, pip and make: each target creates .venv when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PYTHONHASHSEED := 0
unexport PYTHONDONTWRITEBYTECODE  # the suite starts many processes: modules are compiled once

.PHONY: audit compare public-copy test test-times test-weekly test-apart test-fast coverage mutants lint bench calibrate findings dist docs pictures release clean

audit: $(STAMP)
	$(BIN)/dp-audit run mechanisms mechanisms.real_data --out reports

compare: $(STAMP)
	$(BIN)/dp-audit compare --out reports/comparison

# A repository that may be published, DIR: one commit, without the history. HIDDEN names a file outside of this repository
# with the words that may stand nowhere in it.
public-copy:
	$(PYTHON) .ci/public_copy.py "$(DIR)" "$(HIDDEN)"

TESTS := $(BIN)/python -m pytest -n logical --dist worksteal

# What every commit needs, on all cores: all but tests/weekly.py. `make test-times` says where CPU time goes.
test: $(STAMP)
	$(TESTS) -m "not weekly"

test-times: $(STAMP)
	$(TESTS) -m "not weekly" --cpu-times 60

# Everything; the weekly workflow runs it.
test-weekly: $(STAMP)
	$(TESTS)

# The suite of the core in a copy without extensions, and that of each extension in a copy with it alone; once a week.
test-apart: $(STAMP)
	$(BIN)/python -m tests.apart

# What a change needs before it is committed: everything but the tests that tests/conftest.py calls slow.
test-fast: $(STAMP)
	$(TESTS) -q -m "not slow and not weekly"

# Everything, with the lines and branches of audit/ that ran; fails below the floor of pyproject.toml.
coverage: $(STAMP)
	$(TESTS) --cov --cov-report=term:skip-covered

# Changes of one expression drawn over all files, and those made by hand: an hour or more. What each test executes is
# measured first; `python -m benchmarks.mutants drawn 20 --seed 1` uses it again.
mutants: $(STAMP)
	$(BIN)/python -m benchmarks.mutants map
	$(BIN)/python -m benchmarks.mutants hand-made
	$(BIN)/python -m benchmarks.mutants drawn 300

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

calibrate: $(STAMP)
	$(BIN)/python -m benchmarks.calibrate --out docs/calibration.md
	$(BIN)/python -m benchmarks.calibrate --out docs/calibration.md --decoys

# In 20 minutes, the table beside the peers last; it needs the package index, for an environment of each peer.
bench: $(STAMP)
	$(BIN)/python -m benchmarks.bound
	$(BIN)/python -m benchmarks.overhead
	$(BIN)/python -m benchmarks.programs
	$(BIN)/python -m benchmarks.compare
	$(BIN)/python -m benchmarks.scaling --repeats 1
	$(BIN)/python -m benchmarks.bugs.at_one
	$(BIN)/python -m benchmarks.bugs.scoreboard --seeds 5
	$(BIN)/python -m benchmarks.peers --runs 1

findings: $(STAMP)
	$(BIN)/python -m benchmarks.consistency
	$(BIN)/python -m benchmarks.local_classification
	$(BIN)/python -m benchmarks.cover_learning
	$(BIN)/python -m benchmarks.label_privacy smoke cost bounds
	$(BIN)/python -m benchmarks.stability_learning
	$(BIN)/python -m benchmarks.stability_learning.real_runs

dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir dist mechanisms

# The documentation site, in build/docs, with tests of its links. Needs no network; a warning is an error.
docs: $(STAMP)
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/docs
	DP_AUDIT_SITE=build/docs $(BIN)/python -m pytest -q tests/docs/test_site.py tests/e2e/browser/test_site_pages.py

# All that a release needs, up to the tag: it prints the commands that are left, or what is missing.
release: lint test audit docs dist
	$(BIN)/python -m benchmarks.release

pictures: $(STAMP)
	$(BIN)/python .ci/pictures.py reports/certificate.html docs
	$(BIN)/python .ci/figures.py docs

$(STAMP): pyproject.toml mechanisms/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev,docs,libraries,browser,dask,jax]" --editable ./mechanisms
	touch $@

clean:
	rm -rf $(VENV) dist build docs/generated
