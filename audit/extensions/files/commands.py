"""The commands `outputs`, `scores` and `confusion`: audits of data that was drawn, trained or counted elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np

from audit import (
    AddRemove,
    GaussianClaim,
    Local,
    PrivacyClaim,
    Result,
    Substitution,
    Verdict,
    ZeroConcentratedClaim,
    run,
)
from audit.api import InvalidArgument, claims, cli, defaults, terminal, text, validate

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_YES, _NO = ("1", "1.0", "True", "true"), ("0", "0.0", "False", "false")
_RELATIONS = {"substitution": Substitution, "add/remove": AddRemove, "local": Local}
_SPELLED = {
    "bounded": "substitution",
    "replaceone": "substitution",
    "addremove": "add/remove",
    "unbounded": "add/remove",
}


class _RelationName(click.Choice):  # type: ignore[type-arg]
    def convert(self, value: Any, *more: Any) -> Any:
        letters = re.sub("[^a-z]", "", str(value).lower())
        return super().convert(_SPELLED.get(letters, letters), *more)


def take_claim(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the argument `claim`, and those of the output."""

    @wraps(command)
    def with_claim(
        epsilon: float | None, delta: float, rho: float | None, mu: float | None, relation: str, **given: Any
    ) -> Any:
        return command(claim=make_claim(epsilon, delta, rho, mu, relation), **given)

    options = (
        cli.setting("--epsilon", None, "The claimed epsilon.", type=float, show_default=False),
        cli.setting("--delta", 0.0, "The claimed delta."),
        cli.setting("--rho", None, "The claimed rho of zCDP, instead of epsilon.", type=float, show_default=False),
        cli.setting("--mu", None, "The claimed mu of Gaussian DP, instead of epsilon.", type=float, show_default=False),
        cli.setting(
            "--relation", "substitution", "Which datasets are neighbors.", type=_RelationName(list(_RELATIONS))
        ),
        cli.setting("--out", None, "Folder for a certificate.", type=cli.FOLDER),
    )
    whole = cli.with_output(with_claim)
    for option in reversed(options):
        whole = option(whole)
    return whole


def make_claim(epsilon: float | None, delta: float, rho: float | None, mu: float | None, relation: str) -> claims.Claim:
    """Return the claim that the options state."""
    neighbors = _RELATIONS[relation]()
    if [epsilon, rho, mu].count(None) != 2 or (delta and epsilon is None):
        raise click.UsageError("state the claim as --epsilon E, as --epsilon E --delta D, as --rho RHO, or as --mu MU")
    if rho is not None:
        return ZeroConcentratedClaim(rho, relation=neighbors)
    if mu is not None:
        return GaussianClaim(mu, relation=neighbors)
    return PrivacyClaim(epsilon, delta, neighbors)  # type: ignore[arg-type]


@click.command("outputs", epilog="Example: dp-audit outputs left.npy right.npy --epsilon 1")
@click.argument("left", type=_FILE)
@click.argument("right", type=_FILE, required=False)
@click.option("--by", metavar="NAME", help="Column of one file that names the dataset of each output.")
@click.option("--column", "columns", multiple=True, metavar="NAME", help="Only this column; may be repeated.")
@take_claim
@cli.setting(
    "--tolerance", None, "Tolerance of a PASS beyond epsilon; max(0.05, epsilon / 4) unless given.", type=float
)
@cli.setting("--significance", defaults.DEFAULT_SIGNIFICANCE, "Probability of a suspicion; FAIL needs 1e-6.")
@cli.setting("--seed", 0, "Splits the outputs: into those that choose events, and those that certify them.")
def outputs_command(
    left: Path, right: Path | None, by: str | None, columns: Sequence[str], claim: claims.Claim,
    tolerance: float | None, significance: float, seed: int, **shown: Any,
) -> int:  # fmt: skip
    """Audit outputs of a mechanism on two neighboring datasets, LEFT and RIGHT.

    Each file (.csv, .tsv, .txt, .npy, .json, .jsonl or .parquet) holds one output a row, of independent runs, in the
    order in which they were drawn: as many as the claim needs, 150,000 for epsilon 1.
    """
    from audit.extensions.files.outputs import DrawnOutputs, make_check
    from audit.extensions.files.tables import read_pair, read_sides

    if (right is None) == (by is None):
        raise click.UsageError("give a file for each dataset, or one file and --by COLUMN, which names the dataset")
    if right is None:
        sides = {
            f"{left.name}, {by} = {value}": outputs for value, outputs in read_sides(left, str(by), columns).items()
        }
        pair = [DrawnOutputs(outputs, source) for source, outputs in sides.items()]
    else:
        both = zip(read_pair(left, right, columns), (left.name, right.name), strict=True)
        pair = [DrawnOutputs(outputs, source) for outputs, source in both]
    name = left.name if right is None else f"{left.name} and {right.name}"
    check, budget = make_check(pair[0], pair[1], claim, tolerance, Verdict.PASS, name, seed)
    return run_one(check, budget, significance, seed, **shown)


@click.command("scores", epilog="Example: dp-audit scores scores.csv --score loss --member is_member --epsilon 1")
@click.argument("file", type=_FILE)
@click.argument("left_out", type=_FILE, required=False)
@click.option("--score", default="score", show_default=True, metavar="NAME", help="Column of the scores.")
@click.option("--member", metavar="NAME", help="Column of 1 for canaries that were included, 0 for the others.")
@take_claim
@cli.setting("--significance", defaults.DEFAULT_SIGNIFICANCE, "Probability of a suspicion; FAIL needs 1e-6.")
def scores_command(
    file: Path, left_out: Path | None, score: str, member: str | None, claim: claims.Claim, significance: float,
    **shown: Any,
) -> int:  # fmt: skip
    """Audit the scores of canaries in one training run, higher for those that seem to be included.

    Give one FILE with a column --member, or a FILE of included canaries and one of those LEFT_OUT. Each canary must
    have been included by a fair coin of its own.
    """
    import audit
    from audit.extensions.files.tables import read_columns

    if (member is None) == (left_out is None):
        names = list(read_columns(file))
        if {"fpr", "tpr"} <= {name.lower() for name in names}:
            raise click.UsageError(
                "a ROC curve has no counts, and certifies nothing: give the scores that it was made of"
            )
        one_of = f", one of {', '.join(map(repr, names))}" if len(names) > 1 else ""
        raise click.UsageError(f"give --member COLUMN{one_of}, or a second file with the scores of left-out canaries")
    if member is not None:
        if member == score:
            raise click.UsageError(f"{score!r} cannot hold both the scores and the membership: give --score COLUMN")
        columns = read_columns(file, [score, member])
        labels = np.asarray(columns[member]).astype(str).tolist()
        if unknown := sorted(set(labels) - {*_YES, *_NO}):
            raise InvalidArgument(
                f"column {member!r} of {file} must hold 1 for members and 0 for others, got {unknown[0]!r}"
            )
        included = np.isin(labels, _YES)
        sides = np.asarray(columns[score])[included], np.asarray(columns[score])[~included]
    else:
        assert left_out is not None
        sides = tuple(np.asarray(_only(read_columns(path), score, path)) for path in (file, left_out))  # type: ignore[assignment]
    check = audit.CanaryCheck(name=file.name, scores_in=sides[0], scores_out=sides[1], claim=claim)
    return run_one(check, 2, significance, 0, **shown)


@click.command(
    "confusion",
    options_metavar="--tp N --fp N --tn N --fn N [OPTIONS]",
    epilog="Example: dp-audit confusion --tp 90 --fp 20 --tn 80 --fn 10",
)
@click.option("--tp", type=int, required=True, help="Members that the attack called members.")
@click.option("--fp", type=int, required=True, help="Others that it called members.")
@click.option("--tn", type=int, required=True, help="Others that it called others.")
@click.option("--fn", type=int, required=True, help="Members that it called others.")
@cli.setting("--delta", 0.0, "The additive slack at which epsilon is bounded.")
@cli.setting("--significance", 0.05, "Probability that the interval misses.")
@click.option("--json", "as_json", is_flag=True, help="Print the interval as JSON.")
def confusion_command(tp: int, fp: int, tn: int, fn: int, delta: float, significance: float, as_json: bool) -> int:
    """Bound epsilon by the counts of an attack that was fixed before it saw the runs.

    The interval holds for independent runs with a fixed number of members and of others.
    """
    import audit

    found = audit.epsilon_interval(
        true_positives=tp, false_positives=fp, true_negatives=tn, false_negatives=fn, delta=delta,
        significance=significance,
    )  # fmt: skip
    if as_json:
        upper = found.upper if np.isfinite(found.upper) else "inf"
        click.echo(json.dumps({"lower": found.lower, "upper": upper, "delta": delta, "significance": significance}))
    else:
        chance = f"with probability {1 - significance:g} over the runs"
        click.echo(f"epsilon is at least {found.lower:.4g} and at most {found.upper:.4g} at delta {delta:g}, {chance}")
    return 0


def _only(columns: dict[str, Any], score: str, path: Path) -> Any:
    """Return the column of scores, or the only one there is."""
    if score not in columns and len(columns) != 1:
        raise InvalidArgument(f"{path} has no column {score!r}: it has {', '.join(map(repr, columns))}")
    return columns.get(score, next(iter(columns.values())))


def run_one(
    check: Any, budget: validate.Budget, significance: float, seed: int, *,
    out: Path | None, as_json: bool, quiet: bool, **more: Any,
) -> int:  # fmt: skip
    """Run a check, print its result, and return the exit status."""
    settings: dict[str, Any] = {
        "budget": budget,
        "significance": significance,
        "confirmation": defaults.DEFAULT_CONFIRMATION,
    }
    with terminal.LiveProgress(1, quiet=quiet) as progress:
        settings |= {"seed": seed, "directory": out, "workers": 0, "announce": progress.show_start, **more}
        report = run([check], **settings)
    (result,) = report.results
    assert isinstance(result, Result)
    if quiet:
        click.echo(str(result.verdict))
    elif as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        click.echo("\n".join(map(text.printable, str(result).splitlines())))
        if out is not None:
            click.echo(f"certificate: {out / 'certificate.json'}")
    return int(report.verdict.exit_status)
