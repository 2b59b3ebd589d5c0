"""Every error that the package raises on purpose; each message names the argument, the rule and the value."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

_LONGEST = 120  # characters of a value in a message


class AuditError(Exception):
    """Root of all errors raised by this package.

    Examples
    --------
    >>> import audit
    >>> try:
    ...     audit.PrivacyClaim(epsilon=-1.0)
    ... except audit.AuditError as error:
    ...     print(error)
    `epsilon` must be finite and >= 0, got -1.0 (float)
    """


class InvalidArgument(AuditError, ValueError):
    """An argument lies outside its admissible set."""

    @classmethod
    def of(cls, name: str, rule: str, value: object, instead: str = "") -> InvalidArgument:
        """Build the standard message: argument, rule, value, type, and the correction if the rule does not contain it.

        A rule is about the argument alone. One that depends on another argument is a sentence of its own: the need,
        and the correction.
        """
        said = f"`{name}` must {rule}, got {_show(value)} ({type(value).__name__})"
        return cls(f"{said}: {instead}" if instead else said)


class MisreadVerdict(AuditError, TypeError):
    """A verdict, or a result with one, was taken for a truth value, ordered, or compared with a text that is none."""


class UnknownArgument(AuditError, TypeError):
    """A public function or class was called with a keyword that it does not have."""

    @classmethod
    def of(cls, called: str, keyword: str, known: Sequence[str]) -> UnknownArgument:
        """Name the call, the keyword, the nearest one that is known, and all others."""
        near = get_close_matches(keyword, known, n=1)
        meant = f": write {near[0]}=..." if near else ""
        return cls(f"`{called}` has no argument `{keyword}`{meant}; it takes {', '.join(known)}")


class NotNeighboring(InvalidArgument):
    """A pair of datasets is not neighboring under the claim's relation."""


class Unusable(Exception):
    """A function of the caller returned nothing that can be judged; the text names the cause."""


class BadBatch(Exception):
    """A mechanism returned something that is not a batch of outputs; the text names it."""


class BadLength(BadBatch):
    """A mechanism returned a batch whose first axis is not the size that was asked for."""


class UnknownTarget(AuditError):
    """A target of the command line cannot be imported, or holds no checks."""


class InvalidCertificate(AuditError):
    """A file is not a certificate of this package, or its parts contradict each other."""


class MissingCertificate(InvalidCertificate):
    """A certificate is not where it was looked for, or its file cannot be read."""


class Unreachable(AuditError):
    """The workers cannot be reached, or no longer: their work is undone, which says nothing about any claim."""


class Unwritable(AuditError, OSError):
    """A file or a folder cannot be written."""

    @classmethod
    def of(cls, path: object, error: OSError) -> Unwritable:
        """Name the path, the cause, and the remedy."""
        cause = error.strerror or str(error)
        return cls(f"{path} cannot be written: {cause}; free it or choose another folder, then repeat the command")


class OtherCode(InvalidArgument):
    """A worker has other code than the process that gives it work, so its evidence would be about something else."""


class MissingExtra(AuditError, ImportError):
    """An optional dependency is needed and is not installed."""

    @classmethod
    def of(cls, package: str, extra: str = "libraries") -> MissingExtra:
        """Name the missing package, the extra that brings it, and the command: this package is on no index."""
        command = f"python -m pip install '.[{extra}]'"
        return cls(f"`{package}` is not installed; it comes with the extra `{extra}`: in a checkout, type: {command}")


class MissingExtension(MissingExtra):
    """A public name belongs to an extension whose folder is not there."""


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
