"""Mutations of the files that decide a verdict, judged anew on recorded evidence and then by the tests that reach them.

    python -m benchmarks.mutants.judges --each 3              three mutations of each file, by seed 0
    python -m benchmarks.mutants.judges --each 10 --after 3   seven more of each file
    python -m benchmarks.mutants.judges game/plants           all mutations of the files whose path contains a text

First the certificates of `reports/` are verified: their verdicts, reasons and numbers follow from their evidence, and a
test holds those of the reference. Then come the tests of the file, but for the slow ones, until one fails or
25 CPU seconds are over. What survives both is listed; so is what takes more than five minutes. The tests that noticed
something of a file run on the unmutated file too: the exit status is 1 if one fails.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import random
import time
from collections import Counter
from itertools import islice
from typing import Any

from benchmarks.mutants.changes import changes_nothing, mutation, places_of
from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.running import ROOT, load, told_apart

_GAME = "core/statistics/test_core_by_hand.py core/statistics/test_game.py"
_JUDGE = "core/certificate/test_judge.py core/checks/test_reasons.py core/certificate/test_curve_claims.py"
_PROOF = "extensions/enumeration/test_forged_proofs.py extensions/enumeration/test_proofs.py"
_REPLAY = "extensions/enumeration/test_forged_proofs.py::test_replay_runs_code_only_when_it_is_asked_to"
_LONG = "extensions/conformance/test_conformance_table.py::test_sixteen_records_are_written_one_by_one_and_more_as_sums"
_UNREAD = "extensions/enumeration/test_merging_of_states.py::test_where_frames_are_not_read_the_law_says_so"
_MAPS = (
    "extensions/stability/test_metrics.py extensions/stability/test_check.py extensions/stability/test_broken_maps.py"
)
_CLAIMS = "core/claims/test_claim_kinds.py core/claims/test_claim_records.py core/claims/test_claims_and_checks.py"
_RELATIONS = "core/claims/test_relations.py core/claims/test_aggregates.py"
_CURVES = "extensions/utility/test_curves.py extensions/utility/test_records.py extensions/utility/test_hostile.py"
_RATES = " ".join(
    f"extensions/utility/test_rate.py::{name}"
    for name in (
        "test_by_an_evaluator",
        "test_an_exponent_below_the_claim_is_settled_by_the_least_that_it_may_be",
        "test_by_simulation",
    )
)
_GRAPHS = "extensions/enumeration/test_absorbing_chain.py extensions/enumeration/test_laws_by_hand.py"
_EVENTS = "core/scorers/test_scorers_and_events.py core/events/test_folds.py core/events/test_training_steps.py core/scorers/test_fine_structure.py"
_BLAME = "core/checks/test_time_limits.py::test_whose_time_it_was_is_said"
_FITS = (
    "extensions/estimators/test_check_estimator.py::test_too_few_fits_are_named extensions/estimators/test_check_estimator.py"
    "::test_a_suspicion_is_confirmed_by_as_many_fits_as_tell_a_pair_apart_for_sure"
)
_UNREAD_PLACES = "core/checks/test_unread_places.py"
_RECORDS_OF_ALL = "core/certificate/test_verify.py core/certificate/test_forgeries.py core/certificate/test_diff.py"
_BINS = "extensions/training/test_accounting.py::test_two_bins_by_quadrature extensions/training/test_accounting.py::test_bins_that_are_one_step"
_RUNS = "extensions/training/runs/test_exact_levels.py extensions/training/runs/test_conformance.py"
TESTS = {  # of a file in `audit`: the fast ones first
    "verdict": "core/claims/test_claims_and_checks.py core/certificate/test_diff.py core/certificate/test_renderings.py",
    "checks/allowance": f"{_BLAME} core/checks/test_confirmation.py core/checks/test_budgets.py",
    "checks/base": "core/claims/test_claims_and_checks.py core/checks/test_confirmation.py core/certificate/test_sources.py",
    "checks/confirmation": "core/checks/test_confirmation.py core/checks/test_early_looks.py",
    "checks/precision": "core/checks/precision/test_check_precision.py",
    "checks/randomness": "core/checks/randomness/test_randomness.py",
    "extensions/estimators/check": f"{_FITS} extensions/estimators/test_check_estimator.py",
    "extensions/estimators/properties": "extensions/estimators/test_check_estimator.py",
    "extensions/interactive/check": "extensions/interactive/test_check_interactive.py",
    "extensions/enumeration/code_replay": f"{_REPLAY} {_PROOF}",
    "extensions/enumeration/domains": "extensions/enumeration/test_proofs.py extensions/enumeration/test_forged_proofs.py",
    "evidence/early_stop": "core/checks/test_early_looks.py",
    "extensions/enumeration/enumerated": "extensions/enumeration/test_proofs.py extensions/enumeration/test_forged_proofs.py",
    "evidence/guess_game": f"{_JUDGE} core/statistics/test_calls_of_a_game.py core/checks/test_confirmation.py",
    "checks/judge": f"{_JUDGE} core/checks/test_early_looks.py {_UNREAD_PLACES}",
    "evidence/betting": "e2e/test_sequential_method.py core/checks/test_early_looks.py",
    "evidence/stated_law": f"core/checks/test_stated_losses.py {_JUDGE} core/laws/test_goodness_of_fit.py",
    "extensions/interactive/told": "extensions/interactive/test_check_interactive.py",
    "evidence/base": _JUDGE,
    "extensions/stability/check": _MAPS,
    "extensions/stability/domains": _MAPS,
    "extensions/stability/lengths": _MAPS,
    "extensions/stability/metrics": _MAPS,
    "extensions/utility/curve": f"{_CURVES} extensions/utility/test_rate.py",
    "extensions/utility/guarantee": "extensions/utility/test_guarantee.py extensions/utility/test_records.py",
    "extensions/utility/inequality": "extensions/utility/test_inequality.py extensions/utility/test_records.py",
    "extensions/utility/packing": "extensions/utility/test_packing.py extensions/utility/test_records.py",
    "extensions/utility/rate": "extensions/utility/test_rate.py extensions/utility/test_records.py",
    "extensions/utility/rate_judge": f"{_RATES} extensions/utility/test_rate.py",
    "extensions/utility/risk": _CURVES,
    "claims/aggregates": _RELATIONS,
    "claims/privacy": _CLAIMS,
    "claims/datasets": _RELATIONS,
    "claims/relations": f"{_RELATIONS} core/events/test_search.py",
    "claims/renyi": f"{_CLAIMS} core/certificate/test_curve_claims.py",
    "claims/tradeoff": f"{_CLAIMS} core/certificate/test_curve_claims.py",
    "extensions/conformance/findings": f"{_LONG} extensions/conformance/test_documented_laws.py extensions/conformance/test_conformance_table.py",
    "extensions/conformance/neighbors": "extensions/conformance/test_conformance_table.py",
    "extensions/enumeration/absorbing_chain": f"{_GRAPHS} extensions/enumeration/test_proofs.py",
    "extensions/enumeration/enumerated_law": f"extensions/enumeration/test_absorbing_chain.py {_PROOF}",
    "extensions/enumeration/exponential_sums": "extensions/enumeration/test_linked_draws.py extensions/enumeration/test_continuous.py",
    "extensions/enumeration/graph": f"{_GRAPHS} {_PROOF}",
    "extensions/enumeration/solving": f"{_UNREAD} {_GRAPHS} {_PROOF}",
    "extensions/enumeration/stated_graph": "extensions/enumeration/test_proofs.py extensions/enumeration/test_forged_proofs.py",
    "statistics/dependence": "core/statistics/test_calls_of_a_game.py core/statistics/test_calls_and_counts.py core/checks/test_dependence.py",
    "events/candidates": f"{_UNREAD_PLACES} {_EVENTS}",
    "statistics/independence": "core/checks/randomness/test_randomness.py core/mechanism/test_subject.py",
    "evidence/fixed_budget": "core/checks/test_budgets.py core/events/test_training_steps.py",
    "statistics/guess_game": f"{_GAME} core/statistics/test_resolution.py",
    "statistics/binomial": f"core/statistics/test_intervals.py {_GAME} core/statistics/test_confusion.py",
    "statistics/means": "extensions/utility core/checks/test_confirmation.py",
    "extensions/utility/packing_bound": "extensions/utility/test_packing.py",
    "events/violations": "core/events/test_planted_violations.py",
    "events/planted": "core/events/test_planted_violations.py core/certificate/test_judge.py",
    "statistics/power": "core/statistics/test_resolution.py core/statistics/test_core_by_hand.py core/checks/test_budgets.py",
    "events/shifts": "core/events/test_planted_violations.py",
    "statistics/betting": "core/evidence/sequential core/checks/test_early_looks.py",
    "laws/product": "core/laws/test_composition.py laws",
    "laws/density_loss": "core/laws/test_density_loss.py laws",
    "laws/discrete": "core/laws/test_laws.py laws",
    "laws/exact_loss": "core/laws/test_closed_forms.py laws",
    "laws/lattice": "core/laws/test_lattice.py core/laws/test_composition.py",
    "laws/privacy_loss": "core/laws/test_finite_loss.py laws",
    "laws/continuous": "core/laws/test_laws.py laws",
    "extensions/enumeration/checker": "extensions/enumeration/test_proofs.py extensions/enumeration/test_forged_proofs.py",
    "certificate/rules": f"{_RECORDS_OF_ALL} core/checks/test_early_looks.py",
    "certificate/verify": "core/certificate/test_diff.py core/certificate/test_verify.py core/certificate/test_forgeries.py",
    "extensions/training/accountants/bins": f"{_BINS} extensions/training/test_accounting.py",
    "extensions/training/accountants/brackets": "extensions/training/test_accounting.py",
    "extensions/training/accountants/check": "extensions/training/test_accounting.py",
    "extensions/training/canaries/check": "extensions/training/test_canary_checks.py extensions/training/test_one_run.py",
    "extensions/training/canaries/judge": "extensions/training/test_canary_checks.py extensions/training/test_one_run.py",
    "extensions/training/canaries/one_run": "extensions/training/test_one_run.py extensions/training/test_canary_checks.py",
    "extensions/training/canaries/retrained": "extensions/training/test_retrained_canaries.py core/statistics/test_core_by_hand.py",
    "extensions/training/runs/as_run": f"{_RUNS} extensions/training/runs/test_small_loops.py",
    "extensions/training/runs/batches": f"{_RUNS} extensions/training/runs/test_correlated_noise.py",
    "extensions/training/runs/contributions": _RUNS,
    "extensions/training/runs/epsilon": f"{_RUNS} extensions/training/runs/test_correlated_noise.py",
    "extensions/training/runs/findings": _RUNS,
    "extensions/training/runs/judge": _RUNS,
    "extensions/training/runs/noise_tests": _RUNS,
    "extensions/training/runs/strategy": f"extensions/training/runs/test_correlated_noise.py {_RUNS}",
}
SLOW = (  # tests that are not run on mutations: each takes more than 10 s
    "test_a_fault_fails_where_its_case_looks",
    "test_a_right_library_fails_nowhere",
    "test_a_state_that_needs_an_answer_is_found_by_the_search",
    "test_outputs_of_any_magnitude_are_judged",
    "test_proofs_replay_by_all_three",
    "test_twice_the_budget_fails",
    "test_what_is_kept_of_the_data_fails_by_name",
)
_MOST = 25.0  # CPU seconds of a mutation, after which no further test is started
_LONGEST = 300.0  # seconds, after which a mutation is too slow
_LIBRARIES = (  # imported once, before the processes are forked
    "hypothesis",
    "pytest",
    "scipy.optimize",
    "scipy.special",
    "scipy.spatial",
    "scipy.stats",
)
_RECORDS: list[Any] = []  # certificates, read before the processes are forked


class _Watcher:
    """Leave out slow tests, stop when the time is over, and remember which test fails."""

    def __init__(self) -> None:
        self.failed, self.is_over = "", False

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if not any(name in item.nodeid for name in SLOW)]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self.failed = report.nodeid

    def pytest_runtest_teardown(self, item: Any) -> None:
        self.is_over = time.process_time() > _MOST
        item.session.shouldstop = "the time is over" if self.is_over else False


def judged(mutant: Mutant, answer: Any) -> None:
    """Send what noticed one mutation, or that it survives."""
    os.chdir(ROOT)
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            load(mutant, mutant.new, "audit")
            from audit.certificate.verify import problems_of

            if any(problems_of(record) for record in _RECORDS):
                answer.send("killed by a recorded verdict")
                return
        except Exception:  # whatever a mutation raises is seen by who verifies a certificate
            answer.send("killed by an exception")
            return
        import pytest

        for path in mutant.notices.splitlines():
            watcher = _Watcher()
            status = int(pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", path], plugins=[watcher]))
            if watcher.is_over and not watcher.failed:
                break
            if status:
                said = f"killed by {watcher.failed or path}"
                answer.send(said if status in (1, 2) else f"invalid: status {status}")
                return
    answer.send("SURVIVED")


def drawn(file: str, first: int, each: int | None, seed: int) -> list[Mutant]:
    """Return the mutations of one file that are drawn, which come first in a random order."""
    places = places_of("audit", [file])
    random.Random(f"{file} {seed}").shuffle(places)
    tests = "\n".join(f"tests/{path}" for path in TESTS[file].split())
    every = (mutation("audit", place, tests) for place in places)
    return list(islice((mutant for mutant in every if not changes_nothing(mutant)), first, each))


def judged_file(file: str, mutants: list[Mutant]) -> Counter[str]:
    """Print what became of the mutations of one file that were not noticed, and return the numbers."""
    found: Counter[str] = Counter()
    killers: dict[str, None] = {}
    started = time.monotonic()
    for mutant in mutants:
        said = told_apart(judged, mutant, _LONGEST)
        found[_kind(said)] += 1
        if "::" in said:
            killers[said.removeprefix("killed by ").partition("[")[0]] = None
        if not said.startswith("killed"):
            print(f"{said}: {mutant.name}", flush=True)
    source = (ROOT / f"audit/{file}.py").read_text()
    baseline = told_apart(judged, Mutant("unmutated", f"{file}.py", source, source, "\n".join(sorted(killers))))
    if baseline != "SURVIVED":
        print(f"{file}: unmutated: {baseline}")
        raise SystemExit(1)
    print(f"{file}: {len(mutants)} drawn; {dict(found)}; {time.monotonic() - started:.0f} s", flush=True)
    return found


def _kind(said: str) -> str:
    if not said.startswith("killed"):
        return said.partition(",")[0].partition(":")[0]
    return "tests" if "tests/" in said or "end of" in said else "verification"


def main() -> None:
    """Judge the mutations that are drawn of each file."""
    for library in _LIBRARIES:
        importlib.import_module(library)
    reader = argparse.ArgumentParser(description="Judge mutations of the files that decide a verdict.")
    reader.add_argument("texts", nargs="*", default=[""], help="parts of the paths of files; all files without one")
    reader.add_argument("--each", type=int, help="mutations of each file; all of them unless given")
    reader.add_argument("--after", type=int, default=0, help="mutations of each file that are left out")
    reader.add_argument("--seed", type=int, default=0)
    given = reader.parse_args()
    files = [file for file in TESTS if any(text in file for text in given.texts)]
    _RECORDS.extend(json.loads(path.read_text()) for path in sorted((ROOT / "reports").rglob("certificate.json")))
    found: Counter[str] = Counter()
    for file in files:
        found += judged_file(file, drawn(file, given.after, given.each, given.seed))
    noticed, every = found["verification"] + found["tests"], len(places_of("audit", files))
    print(f"{noticed} of {found.total()} noticed, drawn from {every} in {len(files)} files: {dict(found)}")


if __name__ == "__main__":
    main()
