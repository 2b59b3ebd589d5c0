"""The examination of one check: probe, train, compare with the stated law, certify; then judge."""

from audit.checks.privacy.run import run_check

__all__ = ["run_check"]
