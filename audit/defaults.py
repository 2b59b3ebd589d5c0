"""Defaults that all faces share: the functions, the command line, and pytest."""

DEFAULT_BUDGET = "auto"  # as many outputs as the claim and the number of checks need
DEFAULT_SIGNIFICANCE = 0.05  # probability that any true claim of a run is suspected, and tested again
DEFAULT_CONFIRMATION = 1e-6  # probability that any true claim of a run is judged FAIL
DEFAULT_TIMEOUT = 600.0  # seconds for one check of a run
DEFAULT_EXECUTOR = "processes"  # where the checks of a run are audited: in processes of this machine
FIXTURE = "dp_audit"  # of the pytest plugin
