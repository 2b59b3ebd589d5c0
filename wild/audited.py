"""The audits that have a certificate, each with the explanations of its author."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.base.errors import InvalidCertificate
from audit.report.certificate import load_certificate
from wild.about import About
from wild.environments import Pin, libraries, pin_of

AGAIN = 1e-6  # significance of each repetition
CERTIFICATES = Path("reports/wild")

Check = Mapping[str, Any]


@dataclass(frozen=True)
class Audited:
    """The results of one release of a library.

    A claim stands as refuted when the run's check FAILed, and FAILed again with another seed at significance `AGAIN`.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    pin : Pin
        Package and version.
    certificate : mapping
        Of its checks.
    again : mapping or None
        The certificate of the repetition of every FAIL; None when nothing failed.
    notes : mapping
        Name of a check -> explanation of its FAIL by the library's code, or a remark.
    about : About
        What no certificate says.
    """

    library: str
    pin: Pin
    certificate: Mapping[str, Any]
    again: Mapping[str, Any] | None
    notes: Mapping[str, str]
    about: About = field(default_factory=About)

    @property
    def release(self) -> str:
        """Package and version."""
        return str(self.pin)

    @property
    def checks(self) -> list[Check]:
        """The records of the run."""
        return list(self.certificate["checks"])

    @property
    def refuted(self) -> list[Check]:
        """The records of the claims that both runs refuted."""
        return [check for check in self.checks if self.is_refuted(check)]

    @property
    def repetitions(self) -> dict[str, Check]:
        """The records of the repetition, by name."""
        return {} if self.again is None else {check["name"]: check for check in self.again["checks"]}

    @property
    def runs(self) -> list[Mapping[str, Any]]:
        """The certificates: of the run and, where something failed, of the repetition."""
        return [run for run in (self.certificate, self.again) if run is not None]

    def is_refuted(self, check: Check) -> bool:
        """Return whether a check failed in both runs."""
        repetition = self.repetitions.get(check["name"])
        return check["verdict"] == "FAIL" and repetition is not None and repetition["verdict"] == "FAIL"


def folder_of(library: str) -> Path:
    """Where the certificate of a library goes; the repetition has a folder `again` in it."""
    return CERTIFICATES / library


def all_audited() -> list[Audited]:
    """Every library that has a certificate, whichever run it is from."""
    found = []
    for library in libraries():
        certificate = _loaded(folder_of(library))
        if certificate is not None:
            failed = any(check["verdict"] == "FAIL" for check in certificate["checks"])
            again = _loaded(folder_of(library) / "again") if failed else None
            audits = importlib.import_module(f"wild.{library}.audits")
            about = getattr(audits, "ABOUT", About())
            found.append(Audited(library, pin_of(library), certificate, again, getattr(audits, "NOTES", {}), about))
    return found


def _loaded(folder: Path) -> dict[str, Any] | None:
    try:
        return load_certificate(folder)
    except InvalidCertificate:
        return None
