"""The tests that `make test` leaves out: each costs seconds, and others look at the same code on every commit.

`make test-weekly` runs the whole suite, as the weekly workflow does. tests/README.md says in words what is listed here.
"""

from __future__ import annotations

import pytest

COLLECTED = pytest.StashKey[list[str]]()  # the ids of all tests of a session, those left out included

# What the id of a test below `tests/` begins with, and texts of which it has one; without texts: all of them.
WEEKLY: dict[str, tuple[str, ...]] = {
    # Verdicts of the catalog that `make audit` and `dp-audit run mechanisms.faults` give as well
    "mechanisms/labels/test_label_catalogue.py::test_a_utility_check_gets_the_verdict_that_it_expects[": (
        "network scores",
        "beats, ",
        "nearly the same, K=5",
    ),
    "mechanisms/labels/test_label_catalogue.py::test_a_privacy_fault_is_convicted[": (
        "noise for one query of 40",
        "teachers share the data",
        "fresh noise each epoch",
    ),
    "mechanisms/labels/test_label_catalogue.py::test_a_promise_that_should_hold_does[": ("two stages, ",),
    "mechanisms/stability/test_stability_catalogue.py::test_a_fault_is_convicted[": (
        "cutoff off, 150 epochs",
        "releases the tested answer eps=1",
        "value on top m=1000",
        "value on bottom lam=1",
    ),
    "mechanisms/stability/test_stability_theorems.py::test_a_theorem_gets_the_verdict_that_it_expects[": (
        "service answers all, realizable",
        "service errs less with more records",
        "single queries, gamma=0.1",
        "rate self-consistent, n",
        "soft all scores near their mean",
    ),
    "mechanisms/cover/test_cover_catalogue.py::test_a_utility_check_gets_the_verdict_that_it_expects[": (
        "in four dimensions",
        "on the hard family",
    ),
    "mechanisms/cover/test_cover_catalogue.py::test_a_privacy_fault_is_convicted[": ("advertised for add/remove",),
    "mechanisms/consistency/test_consistency_catalogue.py::test_faults_are_convicted[": (
        "fitted object seeds of the parts",
        "fitted object exact targets",
        "fitted object order of a set",
        "stable votes space of the records",
    ),
    # Larger members of a family whose smaller ones run on every commit
    "game/test_vector_scorers.py::test_the_leak_is_seen_and_never_overstated[": ("lengths", "order"),
    "game/test_vector_scorers.py::test_identical_sides_certify_nothing[": ("lengths", "order", "text"),
    "game/test_false_alarms_of_structure.py::test_a_rare_structure_is_an_event_of_one_output[": (
        "a longer list",
        "an empty dict",
        "an integer in a list",
    ),
    "game/test_released_values.py::test_a_released_value_and_the_flags_before_it_are_read[": ("compared, ",),
    "game/test_choice_of_events.py::test_events_reach_nearly_what_the_law_allows[": ("few values, ",),
    "game/test_search.py::test_the_worst_corner_is_found_and_shrunk[": ("clamps_above_only", "counts_duplicates"),
    "game/sequential/test_sequential_game.py::test_a_tight_claim_is_seldom_refuted[": (
        "geometric",
        "one side leaks",
        "two points, delta 0.3",
    ),
    "checks/test_searched_parameters.py::test_laws_that_are_enumerated_take_part": (),
    "checks/test_searched_parameters.py::test_faults_at_some_parameters_are_caught[": ("classical Gaussian",),
    "meta/test_leaks.py::test_a_leak_does_not_pass[": (
        "categories_of_a_column",
        "order_of_columns",
        "end_of_a_ragged_list",
        "attrs_of_a_table",
    ),
    "training/test_accounting.py::test_sampled_noise_is_bracketed": (),
    # Processes, clusters and other programs: one way of each is asked on every commit
    "benchmarks/test_training_faults.py::test_runs_of_jax_privacy": (),
    "subjects/test_blocks.py::test_memory_does_not_grow_with_the_budget": (),
    "subjects/workers/test_dask_cluster.py::test_a_scheduler_that_vanishes_leaves_a_checkpoint": (),
    "subjects/workers/test_dask_cluster.py::test_processes_give_the_evidence_of_this_process[1]": (),
    "subjects/workers/test_dask_cluster.py::test_a_worker_killed_under_its_task_changes_nothing[False]": (),
    "subjects/workers/test_dask_over_tls.py::": (),
    "subjects/workers/test_executors.py::test_a_call_that_hangs_or_dies_is_told_and_harms_no_other[": (" of ours",),
    "subjects/workers/test_executors.py::test_any_executor_may_run_checks[threads]": (),
    "faces/test_pytest_plugin.py::test_neither_order_nor_processes_nor_a_selection_changes_the_evidence": (),
    "faces/test_resume.py::test_killed_at_ten_random_moments": (),
    "faces/test_recipes.py::test_what_comes_after_the_audit_happens_whatever_its_verdict[": ("-1.0-0",),
    "faces/test_recipes.py::test_every_step_of_the_action[1.0": (),
    "meta/test_wheels.py::": (),
    # Pages: CI builds the site in a job of its own
    "docs/test_examples.py::test_a_script[": ("search_neighbors", "gaussian_curve"),
    "browser/test_certificate_page.py::test_axe_finds_nothing[": ("phone-dark",),
    "browser/test_certificate_page.py::test_nothing_leaves_the_file_and_nothing_is_logged[": (
        "dark-phone",
        "dark-desk",
        "light-phone",
    ),
    "browser/test_certificate_page.py::test_all_rows_that_are_shown_are_printed": (),
}


def is_weekly(name: str) -> bool:
    """Return whether a test is left out of `make test`, by its id from the folder `tests/` on."""
    return any(
        name.startswith(start) and (not texts or any(text in name for text in texts)) for start, texts in WEEKLY.items()
    )


def unused(names: list[str]) -> list[str]:
    """Return the entries, and the texts of entries, that fit no test, for the files that `names` come from."""
    files = {name.partition("::")[0] for name in names}
    missing = []
    for start, texts in WEEKLY.items():
        begun = [name for name in names if name.startswith(start)]
        if start.partition("::")[0] in files and not begun:
            missing.append(start)
        missing += [f"{start} {text}" for text in texts if begun and not any(text in name for name in begun)]
    return missing
