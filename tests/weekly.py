"""The tests that `make test` leaves out: each costs seconds, and others look at the same code on every commit.

`make test-weekly` runs the whole suite, as the weekly workflow does. tests/README.md says in words what is listed here.
"""

import pytest

COLLECTED = pytest.StashKey[list[str]]()  # the ids of all tests of a session, those left out included

# What the id of a test below `tests/` begins with, and texts of which it has one; without texts: all of them.
WEEKLY: dict[str, tuple[str, ...]] = {
    # 60,000 fits, and 1,500; that twice the budget fails is tested on each commit
    "extensions/estimators/test_check_estimator.py::test_a_right_estimator_passes_and_half_its_noise_fails[": (),
    "extensions/estimators/test_check_estimator.py::test_few_fits_that_follow_a_law_say_how_many_are_due[": (
        "cover",
        "locals",
        "neighbors",
        "stumps",
        "teachers",
    ),
    # Thousands of fits; that a few of them follow the law is tested on each commit
    "extensions/estimators/test_check_estimator.py::test_an_estimator_whose_release_has_a_law_is_decided": (),
    # The whole table of every query and case; some rows of it, and every fault in its row, are on each commit
    "extensions/conformance/test_conformance_table.py::test_a_right_library_fails_nowhere_in_the_whole_table[": (),
    "extensions/conformance/test_conformance_table.py::test_a_fault_fails_in_no_other_row[": (),
    "extensions/conformance/test_conformance_table.py::test_a_fault_fails_where_its_case_looks[": (
        "epsilon 1, 2, 3",
        "epsilon 5, 6, 7, 10",
        "powers of two",
        "random parameters",
        "infinity",
        "offset column",
        "1024 records",
        "64 records",
        "2 ulps",
        "4 ulps",
    ),
    # One scale of the other styles, and one effect of the other probes, are on each commit
    "extensions/following/test_zoo_of_noise.py::test_no_bound_below_the_truth[": (
        "every Gaussian style",
        "every probe",
    ),
    # Verdicts of faults that `dp-audit run mechanisms.faults` gives as well
    "mechanisms/test_faults.py::test_a_fault_of_a_paper_is_convicted[": (
        "K=10",
        "fresh each epoch",
        "among 100",
        "among 1,000",
        "network scores",
        "softmax head",
        "cutoff off, 150 epochs",
        "noise for one query, no cutoff eps=1",
        "shared statistics",
        "advertised for add/remove",
        "closed cubes d=1",
        "exact targets",
    ),
    "mechanisms/interactive/test_interactive_catalogue.py::test_every_fault_is_convicted[sampled]": (),
    # Larger members of a family whose smaller ones run on every commit
    "core/checks/test_dependence.py::test_independent_violations_keep_their_fail[": ("50000-",),
    # Two of them, and all together, are taken off on each commit
    "meta/test_removal.py::test_what_is_left_of_one_works[": (),
    "meta/test_removal.py::test_the_core_collects_alone": (),
    "core/scorers/test_vector_scorers.py::test_the_leak_is_seen_and_never_overstated[": ("order",),
    "core/scorers/test_vector_scorers.py::test_identical_sides_certify_nothing[": ("order", "text"),
    "core/events/test_choice_of_events.py::test_events_reach_nearly_what_the_law_allows[": ("few values, ",),
    "extensions/search/test_pairs.py::test_the_worst_corner_is_found_and_shrunk[": (
        "clamps_above_only",
        "counts_duplicates",
    ),
    "extensions/sequential/test_sequential_game.py::test_a_tight_claim_is_seldom_refuted[": (
        "geometric",
        "one side leaks",
        "two points, delta 0.3",
    ),
    "extensions/enumeration/test_usual_style.py::test_samplers_are_followed_as_they_are_built": (),
    "extensions/enumeration/test_real_outputs.py::test_wrong_laws_are_accused[": ("4]", "5]", "6]", "7]"),
    "extensions/enumeration/test_real_outputs.py::test_right_laws_are_not_accused[": ("1]", "2]", "3]"),
    "extensions/enumeration/test_proofs.py::test_laws_that_are_enumerated_take_part": (),
    "mechanisms/test_faults.py::test_the_parameters_that_break_a_claim_are_found[": (
        "classical Gaussian",
        "rounded scale",
    ),
    "extensions/randomness/test_randomness.py::test_false_alarms_stay_below_the_significance": (),
    "extensions/divergence/test_divergence.py::test_noise_that_keeps_a_claim_exactly_passes_within_two_million_outputs[(2,": (),
    "extensions/divergence/test_divergence.py::test_direction_that_breaks_a_claim_is_named": (),
    "extensions/adapters/test_libraries.py::test_verdicts[": ("diffprivlib-2.0", "opendp-2.0"),
    "extensions/enumeration/test_proofs.py::test_every_pair_of_a_finite_domain": (),
    "extensions/training/test_canary_checks.py::test_records_are_judged_again_and_drawn[mu-independent]": (),
    "extensions/sequential/test_sequential_method.py::test_a_large_delta_is_not_acquitted": (),
    "mechanisms/test_faults.py::test_a_split_by_position_gives_a_shrunk_counterexample": (),
    "meta/test_public_names.py::test_examples[": (
        "check_estimator",
        "conformance.conform",
        "EstimatorCheck",
        "EstimatorResult",
    ),
    "extensions/training/runs/test_loops.py::test_a_correct_loop_is_not_accused[": ("-network",),
    "extensions/training/runs/test_loops.py::test_a_faulty_loop_is_convicted[": ("-network",),
    "extensions/training/runs/test_hooks.py::test_a_run_of_jax_privacy_passes[": (
        "is_traced",
        "microbatch",
        "rescale",
        "'normalize_by': 90}}",
        "'return_values': True}}",
    ),
    "extensions/training/test_accounting.py::test_sampled_noise_is_bracketed": (),
    "extensions/training/test_accounting.py::test_an_accountant_is_asked_about_the_usual_events": (),
    "extensions/training/test_accounting.py::test_an_accountant_of_truncated_batches_is_held": (),
    "extensions/training/test_accounting.py::test_mixtures_are_bracketed_in_compositions": (),
    "extensions/stability/test_broken_maps.py::test_broken_maps_are_refuted_on_two_seeds[": (
        "sum of floats",
        "product",
        "wraps",
    ),
    # Processes, clusters and other programs: one way of each is asked on every commit
    "benchmarks/test_jax_privacy.py::test_runs_of_jax_privacy": (),
    "benchmarks/test_median_bound.py::test_median_bound_is_close_to_the_limit": (),
    "core/execution/test_blocks.py::test_memory_does_not_grow_with_the_budget": (),
    "core/execution/workers/test_dask_cluster.py::test_a_worker_killed_under_its_task_changes_nothing[False]": (),
    "core/execution/workers/test_executors.py::test_a_call_that_hangs_or_dies_is_told_and_harms_no_other[": (
        " of ours",
    ),
    "e2e/test_resume.py::test_a_signal_ends_a_run_with_its_checkpoint_and_its_processes[2-130]": (),
    "e2e/test_recipes.py::test_the_page_on_signing": (),
    "wild/test_wild_command.py::test_made_once_and_anew_when_the_pin_changes": (),
    "e2e/test_pytest_plugin.py::test_neither_order_nor_processes_nor_a_selection_changes_the_evidence": (),
    "e2e/test_resume.py::test_killed_at_ten_random_moments": (),
    # Pages. `make docs` builds the site on every commit, and tests it as it was built
    "docs/test_site.py::test_internal_links_and_anchors": (),
    "docs/test_site.py::test_nothing_is_loaded_from_other_hosts": (),
    "docs/test_printed_pages.py::test_examples_print_what_they_say[learners]": (),
    "docs/test_printed_pages.py::test_conversations_print_what_is_shown": (),
    "docs/test_printed_pages.py::test_a_page_runs_as_printed[": (
        "docs/index.md",
        "docs/tasks.md",
        "docs/conformance.md",
    ),
    "docs/test_printed_pages.py::test_a_script[": ("search_neighbors", "gaussian_curve", "library_function", "census"),
    "e2e/browser/test_certificate_page.py::test_sections_of_many_checks_open_one_by_one": (),
    "e2e/browser/test_certificate_page.py::test_axe_finds_nothing[": ("phone-dark",),
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
