"""Declare comparisons, audit every implementation in one run, sample each, and put the findings side by side.

Half of the significance goes to the privacy checks, in equal shares, and half to the statements that two laws differ.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from audit import PrivacyCheck, PrivacyClaim, Report, Verdict, run
from audit.api import (
    AnyMethod,
    AnyResult,
    InvalidArgument,
    Outputs,
    Place,
    Stream,
    defaults,
    discover,
    document,
    environment,
    open_pool,
    terminal,
    text,
    validate,
)
from audit.extensions.compare.samples import MISSED, Sample, draw_plain, errors_of, sample_of, tell_apart

LEAST_SAMPLE = 200  # outputs; with fewer, too few are left after the training part and the margin for the coins
_GAMES = {"guess game", "sequential game", "early look"}  # tests that certify an epsilon

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """One implementation in a comparison.

    Parameters
    ----------
    name : str
        Unique within its comparison.
    mechanism : callable
        As for `PrivacyCheck`. All implementations of a comparison return outputs of the same form.
    note : str
        A sentence for the reader of the table.
    expected, budget, method, tolerance
        As for `PrivacyCheck`.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Implementation
    >>> new = Implementation(name="new", mechanism=lambda data, size, rng: data.sum() + rng.laplace(size=size))
    >>> new.expected.value
    'PASS'
    """

    name: str
    mechanism: Any
    note: str = ""
    expected: Verdict = Verdict.PASS
    budget: int | None = None
    method: AnyMethod = "auto"
    tolerance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several implementations of one (epsilon, delta) claim.

    Parameters
    ----------
    name : str
        Unique within a run.
    claim : PrivacyClaim
        The claim of every implementation, with epsilon > 0.
    pairs : sequence of (left, right)
        Neighboring datasets. Errors, speed and laws are measured on the left dataset of the first pair.
    truth : callable
        Returns the answer without noise for a dataset: a number or a vector.
    implementations : sequence of Implementation
        At least two. The first one is the reference for the laws of the others.
    sample : int >= 200
        Outputs drawn from each implementation to estimate its error and compare its law.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set, or `PrivacyCheck` refuses one.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Comparison, Implementation, PrivacyClaim
    >>> def laplace(data, size, rng):
    ...     return data.sum() + rng.laplace(size=size)
    >>> def two_exponentials(data, size, rng):
    ...     return data.sum() + rng.exponential(size=size) - rng.exponential(size=size)
    >>> comparison = Comparison(
    ...     name="noisy sum",
    ...     claim=PrivacyClaim(epsilon=1.0),
    ...     pairs=[(np.zeros(3), np.array([1.0, 0.0, 0.0]))],
    ...     truth=np.sum,
    ...     implementations=[
    ...         Implementation(name="old", mechanism=laplace),
    ...         Implementation(name="new", mechanism=two_exponentials),
    ...     ],
    ... )
    >>> [check.name for check in comparison.checks]
    ['noisy sum/old', 'noisy sum/new']
    """

    name: str
    claim: PrivacyClaim
    pairs: Sequence[tuple[Any, Any]]
    truth: Callable[[Any], Any]
    implementations: Sequence[Implementation]
    sample: int = 20_000

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        if not (isinstance(self.claim, PrivacyClaim) and self.claim.epsilon > 0):
            raise InvalidArgument.of("claim", "be a PrivacyClaim with epsilon > 0", self.claim)
        if not callable(self.truth):
            raise InvalidArgument.of("truth", "be a function of the dataset", self.truth)
        object.__setattr__(self, "implementations", tuple(self.implementations))
        object.__setattr__(self, "sample", validate.integer(self.sample, "sample", at_least=LEAST_SAMPLE))
        if len(self.implementations) < 2:
            raise InvalidArgument.of("implementations", "hold at least two", self.implementations)
        _require_unique([implementation.name for implementation in self.implementations], "implementations")
        object.__setattr__(self, "pairs", self.checks[0].pairs)
        answer = np.asarray(self.answer)
        if answer.ndim > 1 or answer.dtype.kind not in "biuf":
            raise InvalidArgument.of("truth", "answer with a number or a vector of them", answer)

    @property
    def checks(self) -> list[PrivacyCheck]:
        """The privacy checks of the implementations, in their order."""
        own = ("mechanism", "expected", "budget", "method", "tolerance")
        return [
            PrivacyCheck(
                name=self.check_name(one),
                claim=self.claim,
                pairs=self.pairs,
                **{setting: getattr(one, setting) for setting in own},
            )
            for one in self.implementations
        ]

    @property
    def answer(self) -> Any:
        """The answer without noise on the first left dataset."""
        return self.truth(self.pairs[0][0])

    def check_name(self, one: Implementation) -> str:
        """Return the name of the privacy check of one implementation."""
        return f"{self.name}/{one.name}"


def collect(targets: Sequence[str]) -> list[Comparison]:
    """Return the comparisons of importable packages or modules, `target.COMPARISONS`; raise UnknownTarget if none."""
    return require_comparisons(
        comparison for target in targets for comparison in discover.read_list(target, "COMPARISONS")
    )


def require_comparisons(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons as a list; raise unless there is at least one and their names are unique."""
    listed = list(comparisons)
    if not listed:
        raise InvalidArgument("`comparisons` must hold at least one comparison, got none")
    for comparison in listed:
        if not isinstance(comparison, Comparison):
            raise InvalidArgument.of("comparisons", "hold instances of Comparison", comparison)
    _require_unique([comparison.name for comparison in listed], "comparisons")
    return listed


def _require_unique(names: Sequence[str], what: str) -> None:
    for name, count in Counter(names).items():
        if not (isinstance(name, str) and name) or count > 1:
            raise InvalidArgument.of(what, "have names, each different", name)


@dataclass(frozen=True, eq=False)
class ComparisonReport(AnyResult):
    """The outcome of `compare`: the report of the privacy checks, and a sample of every implementation."""

    comparisons: Sequence[Comparison]
    report: Report
    samples: Mapping[str, Sample | str]  # by the name of the check: the sample, or the reason why there is none
    law_significance: float  # of each statement that two laws differ

    @property
    def verdict(self) -> Verdict:
        """Verdict of the run of the privacy checks; errors, speeds and laws have none."""
        return self.report.verdict

    @cached_property
    def table(self) -> dict[str, Any]:
        """Everything that the tables show, as plain data; the evidence of the verdicts is in the certificate."""
        certificate = self.report.certificate
        checks = {check["name"]: check for check in certificate["checks"]}
        table = {
            "verdict": certificate["verdict"],
            "settings": {
                "significance": 2 * self.report.significance,
                "law_significance": self.law_significance,
                "interval_misses": MISSED,
                "seed": self.report.seed,
            },
            "comparisons": [self._comparison(comparison, checks) for comparison in self.comparisons],
            "provenance": certificate["provenance"],
            "certificate_seal": certificate["seal"],
        }
        return dict(json.loads(json.dumps(table, allow_nan=False)))  # as whoever reads the file sees it

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write the certificate, `comparison.json` and `comparison.md`; return the path of `comparison.json`."""
        path = self.report.save(directory).with_name("comparison.json")
        document.write_whole(path, json.dumps(self.table, indent=1, allow_nan=False) + "\n")
        document.write_whole(path.with_suffix(".md"), render_comparisons(self.table))
        return path

    def _comparison(self, comparison: Comparison, checks: Mapping[str, Any]) -> Row:
        rows = [self._row(comparison, one, checks[comparison.check_name(one)]) for one in comparison.implementations]
        not_refuted = [row["errors"]["mean"] for row in rows if row["errors"] and row["verdict"] != Verdict.FAIL.value]
        best = min(not_refuted, default=0.0)
        for row in rows:
            row["relative_error"] = row["errors"]["mean"] / best if row["errors"] and best > 0 else None
        return {
            "name": comparison.name,
            "claim": str(comparison.claim),
            "epsilon": comparison.claim.epsilon,
            "sample": comparison.sample,
            "implementations": rows,
            "laws": list(self._laws(comparison)),
        }

    def _row(self, comparison: Comparison, one: Implementation, check: Row) -> dict[str, Any]:
        sample, evidence, errors, wasted = self.samples[check["name"]], self.report[check["name"]].evidence, None, None
        if check["name"] in self._usable:
            errors = errors_of(self._usable[check["name"]], comparison.answer)
        certified, exact, claimed = check["epsilon_lower_bound"], check["exact_epsilon"], comparison.claim.epsilon
        if exact and check["verdict"] != Verdict.FAIL.value:
            wasted = {"factor": claimed / float(exact), "at_most": False}
        elif certified > 0 and check["verdict"] != Verdict.FAIL.value:  # a lower bound of the needed epsilon
            wasted = {"factor": claimed / certified, "at_most": True}
        return {
            "name": one.name,
            "note": one.note,
            **{key: check[key] for key in ("verdict", "expected", "basis", "reason", "exact_epsilon")},
            "certified_epsilon": certified if _GAMES & {*evidence.spends} else None,
            "wasted": wasted,
            "errors": None if errors is None else asdict(errors),
            "per_second": sample.per_second if isinstance(sample, Sample) else None,
            "sample_failed": sample if isinstance(sample, str) else None,
        }

    @cached_property
    def _usable(self) -> dict[str, Outputs]:
        """The outputs of the implementations with independent outputs, by the name of the check."""
        return {
            name: sample.outputs
            for name, sample in self.samples.items()
            if isinstance(sample, Sample) and not self.report[name].evidence.is_dependent
        }

    def _laws(self, comparison: Comparison) -> Iterator[Row]:
        """Test each implementation against the first one of every law found so far."""
        known: list[Implementation] = []
        for one in comparison.implementations:
            name, why_not, tests = comparison.check_name(one), None, []
            if isinstance(failed := self.samples[name], str):
                why_not = f"there is no sample: {failed}"
            elif name not in self._usable:
                why_not = "its outputs are not independent"
            else:
                for other in known:
                    before, after = (self._usable[comparison.check_name(each)] for each in (other, one))
                    stream = _stream(self.report.seed, comparison, one, f"from {other.name}")
                    test = tell_apart(before, after, self.law_significance, stream)
                    outcome = {"differ": False, "unreadable": True} if test is None else asdict(test)
                    tests.append({"from": other.name, "unreadable": False, **outcome})
                    if not tests[-1]["differ"]:
                        break
                else:
                    known.append(one)
            yield {"name": one.name, "why_not": why_not, "tests": tests}


def compare(
    comparisons: Iterable[Comparison],
    *,
    significance: float = defaults.DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    **settings: Any,
) -> ComparisonReport:
    """Run the checks of the comparisons with the settings of `audit.run`, then sample every implementation."""
    listed = require_comparisons(comparisons)
    checks = [check for comparison in listed for check in comparison.checks]
    report = run(checks, significance=significance / 2, seed=seed, **settings)
    samples, timeout = dict[str, Sample | str](), settings.get("timeout", defaults.DEFAULT_TIMEOUT)
    with open_pool(Place(workers=1), [check.subject for check in checks]) as pool:  # one by one: comparable speeds
        for comparison in listed:
            for one in comparison.implementations:
                name, stream = comparison.check_name(one), _stream(seed, comparison, one, "sample")
                work = one.mechanism, comparison.pairs[0][0], comparison.sample, stream
                try:
                    samples[name] = sample_of(pool.call(draw_plain, *work, timeout=timeout))
                except Exception as error:  # it raised, hung, died, or cannot be sent: the others go on
                    samples[name] = f"the implementation {error}"
    pairs = sum(math.comb(len(comparison.implementations), 2) for comparison in listed)  # the most that are tested
    return ComparisonReport(listed, report, samples, significance / 2 / pairs)


def _stream(seed: int, comparison: Comparison, one: Implementation, use: str) -> Stream:
    """Return a stream that depends on the seed, the two names and the use only."""
    return Stream.of(seed, f"{use}/{comparison.check_name(one)}")


def measure_waste(row: Row) -> str:
    """Return claimed epsilon over the epsilon of the noise: 1 is tight. From a certified bound it is an upper bound."""
    factor = row["wasted"]
    return "–" if factor is None else f"{'≤ ' if factor['at_most'] else ''}{text.number(factor['factor'], 3)}"


def mean_error(row: Row) -> str:
    """Return the mean error with its standard error."""
    errors = row["errors"]
    if errors is None:
        return "–"
    return f"{text.number(errors['mean'])} ± {text.number(errors['standard_error'], 2)}"


def speed(row: Row) -> str:
    """Return outputs per second, rounded to the two digits that mean something."""
    if row["per_second"] is None:
        return "–"
    rounded = float(f"{row['per_second']:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


_COLUMNS = (
    terminal.Column("implementation", lambda row: row["name"], "left", wraps=True),
    terminal.Column("verdict", terminal.verdict_text, "left"),
    terminal.Column("basis", lambda row: row["basis"].replace("none", ""), "left"),
    terminal.Column("certified ε ≥", lambda row: text.number(row["certified_epsilon"])),
    terminal.Column("exact ε", lambda row: text.number(row["exact_epsilon"])),
    terminal.Column("noise wasted", measure_waste),
    terminal.Column("mean error", mean_error, wraps=True),
    terminal.Column(
        "median error",
        lambda row: text.interval(row["errors"]["median_interval"]) if row["errors"] else "–",
        wraps=True,
    ),
    terminal.Column("× best", lambda row: text.number(row["relative_error"], 3)),
    terminal.Column("outputs/s", speed),
)


def sentences(comparison: Row) -> list[str]:
    """Return notes that the table leaves out: unexpected verdicts, missing samples, notes, and known laws."""
    return _lines("sentences", comparison=comparison)


def render_comparisons(table: Row) -> str:
    """Return comparisons as Markdown; everything that it shows is escaped."""
    (legend,) = _lines("legend", table=table)
    words = {"table": text.printable_data(table), "columns": _COLUMNS, "legend": legend, "sentences": sentences}
    return environment(__package__).get_template("comparison.md.j2").render(words)


def print_comparisons(console: Console, table: Row) -> None:
    for comparison in text.printable_data(table)["comparisons"]:
        console.print(Text(f"\n{comparison['name']}: {comparison['claim']}", style="bold"))
        terminal.print_table(console, _COLUMNS, comparison["implementations"])
        for sentence in sentences(comparison):
            console.print(Text(f"- {sentence}"))
    (legend,) = _lines("legend", table=table)
    console.print(Text(f"\n{legend}", style="dim"))
    console.print(terminal.verdict_text(table))


def _lines(macro: str, **words: Row) -> list[str]:
    """Return the lines of a macro of sentences.txt.j2; each ends with a line feed, and the text in it has none."""
    said = getattr(environment(__package__).get_template("sentences.txt.j2").module, macro)(
        **text.printable_data(words)
    )
    return [line for line in said.split("\n") if line]
