"""The rows of the papers' tables: statements, guarantees, promises of privacy, faults, each with its place in a paper.

The name of a row tells its kind: `fault/...` is a broken variant, `decoy/...` one that only looks broken, and any other
name belongs to the paper itself. A row is expected to FAIL when it is a fault, or when its text calls it false.
"""

import inspect
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

import numpy as np

import audit

Cases = Iterable[tuple[str, float, float]]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Fault(NamedTuple):
    """A broken mechanism: its epsilon on the pair that shows it, or a sentence, and the check that convicts it."""

    truth: Any
    check: audit.PrivacyCheck


@dataclass(frozen=True)
class Concealed:
    """A mechanism whose law is hidden, as for an audit from outside."""

    mechanism: Any

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.mechanism(dataset, size, rng))


@dataclass(frozen=True, eq=False)
class Paper:
    """A paper, and how its checks are named."""

    folder: str  # of `mechanisms.papers`; the names of its checks begin with it
    title: str  # authors and year, for the sources
    _stated: dict[str, list[audit.InequalityCheck]] = field(default_factory=lambda: defaultdict(list), repr=False)

    def full_name(self, name: str) -> str:
        """Return "folder/name", or "fault/folder name" for "fault/name"; of a decoy as well."""
        kind, slash, rest = name.partition("/")
        return f"{kind}/{self.folder} {rest}" if slash and kind in ("fault", "decoy") else f"{self.folder}/{name}"

    def source(self, where: str) -> str:
        """Return where a statement stands: in this paper, unless a year names another one."""
        return where if re.search(r" (19|20)\d\d\b", where) else f"{self.title}, {where}"

    def state(
        self, name: str, where: str, statement: str, values: Any = None, sense: Any = "<=", **settings: Any
    ) -> audit.InequalityCheck:
        """Return the check of a statement: its place, the sentence, and cases (label, quantity, bound)."""
        tolerance = {"tolerance": 1e-9} if sense == "==" else {}
        head = self.head(name, where, statement)
        return audit.InequalityCheck(**{**head, "values": values, "sense": sense, **tolerance, **settings})

    def quote(self, name: str, values: Any = None, sense: Any = "<=", **settings: Any) -> audit.InequalityCheck:
        """Return the check of a statement whose place and sentence are in the data file of the paper."""
        return self.state(name, "", "", values, sense, **settings)

    @cached_property
    def _data(self) -> dict[str, Any]:
        data = files(__package__).joinpath(self.folder, "statements.toml")
        return tomllib.loads(data.read_text()) if data.is_file() else {}

    @property
    def sentences(self) -> dict[str, list[str]]:
        """The place and the sentence of checks by patterns of their names, from `statements.toml`."""
        return dict(self._data.get("sentences", {}))

    @property
    def truths(self) -> dict[str, str]:
        """What is left of the privacy of faults, by their names, from `statements.toml`."""
        return dict(self._data.get("truths", {}))

    def sentence_of(self, name: str) -> list[str]:
        """Return place and sentence of a check: of its own name, or of the first pattern that it matches."""
        patterns = (known for pattern, known in self.sentences.items() if fnmatchcase(name, pattern))
        return self.sentences.get(name) or next(patterns, ["", ""])

    def states(
        self, name: str, where: str = "", sense: Any = "<=", **settings: Any
    ) -> Callable[[_Function], _Function]:
        """Make a function of cases a row of its module's table; the sentence is the first one of its docstring."""

        def list_row(cases: _Function) -> _Function:
            sentence = " ".join(inspect.cleandoc(cases.__doc__ or "").split("\n\n")[0].split())
            self._stated[cases.__module__].append(self.state(name, where, sentence, cases, sense, **settings))
            return cases

        return list_row

    def rows(self, module: str) -> list[audit.InequalityCheck]:
        """Return the rows that the functions of a module state."""
        return self._stated[module]

    def guarantee(
        self, name: str, where: str, statement: str, trials: Any, beta: float, **settings: Any
    ) -> audit.GuaranteeCheck:
        """Return the check of a statement that fails with probability at most beta."""
        return audit.GuaranteeCheck(**{**self.head(name, where, statement), "trials": trials, "beta": beta, **settings})

    def promise(
        self, name: str, where: str, mechanism: Any, claimed: Any, pairs: Any, relation: Any = None, **settings: Any
    ) -> audit.PrivacyCheck:
        """Return the check of epsilon or (epsilon, delta), under substitution unless a relation is given."""
        head = self._promise(name, where, claimed, relation)
        return audit.PrivacyCheck(**{**head, "mechanism": mechanism, "pairs": pairs, **settings})

    def check_fits(
        self, name: str, where: str, learner: Any, records: audit.Labeled, claimed: Any, release: Any, **settings: Any
    ) -> audit.EstimatorCheck:
        """Return the check of fits without a seed, as a user calls them."""
        # The release states the parameters of its law a second time, so that a wrong default of the learner is noticed.
        head = self._promise(name, where, claimed, settings.pop("relation", None))
        fits = {"estimator": learner, "X": records.X, "y": records.y, "release": release}
        return audit.EstimatorCheck(**{**head, **fits, **settings})

    def fault(self, name: str, truth: Any, where: str, mechanism: Any, claimed: Any, *rest: Any, **more: Any) -> Fault:
        """Return a broken mechanism with its truth; arguments as for `promise`."""
        return Fault(truth, self.promise(f"fault/{name}", where, mechanism, claimed, *rest, **more))

    def _promise(self, name: str, where: str, claimed: Any, relation: Any) -> dict[str, Any]:
        head = self.head(name, where)
        epsilon, delta = claimed if isinstance(claimed, tuple) else (claimed, 0.0)
        source = ("claimed after " if name.startswith("fault/") else "") + head.pop("source")
        head.pop("statement")
        return {**head, "claim": audit.PrivacyClaim(epsilon, delta, relation or audit.Substitution(), source)}

    def head(self, name: str, where: str = "", statement: str = "") -> dict[str, Any]:
        """Return the fields of all kinds of checks: name, source, expected verdict and statement."""
        known = self.sentence_of(name)
        where, statement = where or known[0], statement or known[1]
        is_false = name.startswith("fault/") or "is false" in name or "false" in where + statement
        kind, number = [*name.replace(",", " ").split(), ""][:2]  # the place of its statement: "Theorem 2.4"
        head = {"name": self.full_name(name), "source": self.source(where or f"{kind.capitalize()} {number}")}
        expected = audit.Verdict.FAIL if is_false else audit.Verdict.PASS
        return {**head, "expected": expected, "statement": statement}


BASSILY = Paper("bassily2018", "Bassily, Thakurta & Thakkar 2018")
BERRETT = Paper("berrett2019", "Berrett & Butucea 2019")
BOUSQUET = Paper("bousquet2022", "Bousquet et al. 2022")
CHAUDHURI = Paper("chaudhuri2011", "Chaudhuri & Hsu 2011")
ZHAO = Paper("zhao2024", "Zhao et al. 2024")
