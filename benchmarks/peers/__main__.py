"""Compare auditors on 20 mechanisms of known truth, at equal outputs, and write `docs/peers.md`.

    python -m benchmarks.peers
    python -m benchmarks.peers --runs 1 --outputs 5000      # quicker; shown, not written

Each peer runs in an environment of its own, `.wild/peer_*`, which the command makes. All get the same recorded outputs
of the first pair of each subject; this project draws its own, from the same mechanism and with the same budget. The
first table counts found and missed faults and false accusations over all runs, and CPU seconds per audit. The second
has a row for each subject: refuted in how many runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audit import Verdict, check_privacy
from audit.runner import collect
from benchmarks.environments import prepared, release_of
from benchmarks.peers.subjects import CORRECT, FAULTY, SIGNIFICANCE

FOLDER = Path(__file__).resolve().parent
PAGE = Path("docs/peers.md")
PEERS = {
    "peer_pystatdp": "pystatdp: detector of counterexamples",
    "peer_smartnoise": "SmartNoise SDK: evaluator",
    "peer_jax_privacy": "jax-privacy: auditor of canary scores",
}
FIRST_TEST = "dp-audit, first test only"
OURS = {"dp-audit": {}, FIRST_TEST: {"confirmation": None}}

_HEAD = """# Comparison with other auditors

`python -m benchmarks.peers` wrote this page. {outputs:,} outputs per dataset, {runs} runs each, on {faulty} faulty and
{correct} correct mechanisms of the catalog, whose truth is known. Every tool sees the first pair of a subject and tests
the claim of its documentation, and each runs with its own defaults, so the tools differ in what they state:

* dp-audit: `check_privacy(method="fixed")`, without the output law that a mechanism may state, significance
  {significance}. What the outputs refute is tested again on fresh ones, so that a true claim gets FAIL with
  probability 1e-6. The fresh outputs come on top, and the last column counts them.
* dp-audit, first test only: the same with `confirmation=None`. It has the outputs of the others, and accuses a true
  claim with probability {significance} at most.
* pystatdp: selects an event on a sixth of the outputs and tests it on the rest, as by default. p < 0.05, the line
  of its plots, refutes. Pure differential privacy only.
* SmartNoise SDK: histograms with its default bins, alpha = 0.05. A coordinate is a key of its report.
* jax-privacy: Clopper-Pearson bound over all thresholds, significance 0.05 for both signs of the score and both
  datasets together. It is made for scores of canaries: an output is its own score, and vectors are none.

A correct mechanism that is tight is accused by a 5 % test in up to one run of twenty: that is not an error of the tool,
but the price of its error probability.
"""

_ABSENT = """## Not compared

| tool | why |
| --- | --- |
| dp-auditorium | no distribution in the package registry |
| statdp | no distribution in the package registry; pystatdp is its fork |
| DP-Sniper | no distribution in the package registry |
| dpest | the distribution of that name is about crop models |
| opacus, privacy-meter | need PyTorch, which is too large for the environments here |
| dp-recorder | no distribution in the package registry; it replays the random choices of a library |
| PrivacyGuard | no distribution in the package registry; it attacks trained models |
"""

_PLAINLY = """The cheapest tool that missed nothing it takes is not this one. {tool}: {found} of {taken} found,
in {seconds:.3f} s of CPU time per audit, where the first test of dp-audit takes {own:.3f} s on as many outputs of
the same subjects, which it draws itself in 166 calls: {times:.1f} times as long.
"""


class Answer(NamedTuple):
    """Hold what a tool said about one subject in one run."""

    refuted: bool | None
    seconds: float
    text: str
    drawn: int


def main() -> None:
    """Run all tools, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--outputs", type=int, default=20_000)
    options = parser.parse_args()
    checks = {check.name: check for check in collect(["mechanisms", "mechanisms.faults"])}
    subjects = [checks[name] for name in (*FAULTY, *CORRECT)]
    with tempfile.TemporaryDirectory() as folder:
        record(subjects, options.runs, options.outputs, Path(folder))
        answers = {PEERS[peer]: dict(asked(peer, Path(folder), options.outputs)) for peer in PEERS}
    ours = {name: dict(own(subjects, options.runs, options.outputs, more)) for name, more in OURS.items()}
    answers = {**ours, **answers}
    text = page(answers, options.runs, options.outputs)
    print(text)
    if (options.runs, options.outputs) == (parser.get_default("runs"), parser.get_default("outputs")):
        PAGE.write_text(text)


def escaped(text: str) -> str:
    """Return a text for the cell of a table."""
    return text.replace("|", r"\|")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table; its cells are Markdown already."""
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (head, ["---"] * len(head), *rows)) + "\n"


def key(place: int, run: int) -> str:
    """Return the name of a file of outputs."""
    return f"{place:03d}-{run:03d}"


def record(subjects: Sequence[Any], runs: int, outputs: int, folder: Path) -> None:
    """Draw the outputs that all peers get."""
    for place, check in enumerate(subjects):
        for run in range(runs):
            rng = np.random.default_rng([place, run])
            left, right = (np.asarray(check.mechanism(data, outputs, rng)) for data in check.pairs[0])
            claim = check.claim
            np.savez(folder / key(place, run), left=left, right=right, epsilon=claim.epsilon, delta=claim.delta)


def asked(peer: str, folder: Path, outputs: int) -> Iterator[tuple[str, Answer]]:
    """Ask a peer in its environment about every file."""
    python = prepared(peer, FOLDER / peer / "requirements.txt")
    command = [str(python), "-I", str(FOLDER / "serve.py"), str(FOLDER / peer), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{peer}: {done.stderr[-2000:]}")
    for line in done.stdout.splitlines():
        said = json.loads(line)
        yield said["file"], Answer(said["refuted"], said["seconds"], said["text"], 2 * outputs)


def own(subjects: Sequence[Any], runs: int, outputs: int, more: dict[str, Any]) -> Iterator[tuple[str, Answer]]:
    """Audit every subject with this project."""
    common = {"budget": outputs, "significance": SIGNIFICANCE, "method": "fixed", **more}
    for place, check in enumerate(subjects):
        for run in range(runs):
            started = sum(os.times()[:4])
            result = check_privacy(check.mechanism, check.claim, check.pairs[:1], seed=1000 * place + run, **common)
            seconds = sum(os.times()[:4]) - started
            yield key(place, run), Answer(result.verdict is Verdict.FAIL, seconds, result.reason, result.samples)


def page(answers: dict[str, dict[str, Answer]], runs: int, outputs: int) -> str:
    """Return the page in Markdown."""
    head = _HEAD.format(outputs=outputs, runs=runs, faulty=len(FAULTY), correct=len(CORRECT), significance=SIGNIFICANCE)
    names = [
        "tool",
        "version",
        "subjects taken",
        "found",
        "missed",
        "falsely accused",
        "CPU s per audit",
        "outputs drawn",
    ]
    rows = [counted(tool, found, runs) for tool, found in answers.items()]
    each = [[escaped(name), *(shown(found, place, runs) for found in answers.values())] for place, name in _subjects()]
    parts = [
        head,
        table(names, rows),
        plainly(rows, answers),
        "## By subject\n",
        "Runs in which the claim was refuted, of all runs.\n",
    ]
    return "\n".join([*parts, table(["subject", *answers], each), _ABSENT])


def plainly(rows: Sequence[Sequence[Any]], answers: dict[str, dict[str, Answer]]) -> str:
    """Return in words how the cheapest tool that missed nothing compares with the first test of dp-audit."""
    others = [row for row in rows if row[0] not in OURS and row[4] == 0]
    if not others:
        return ""
    best = min(others, key=lambda row: float(row[6]))
    tool = best[0]
    taken = [name for name, answer in answers[tool].items() if answer.refuted is not None]
    spent, own = (sum(answers[name][each].seconds for each in taken) / len(taken) for name in (tool, FIRST_TEST))
    found, subjects = str(best[3]).split(" of ")
    return _PLAINLY.format(tool=tool, found=found, taken=subjects, seconds=spent, own=own, times=own / spent)


def _subjects() -> Iterator[tuple[int, str]]:
    return enumerate((*FAULTY, *CORRECT))


def counted(tool: str, found: dict[str, Answer], runs: int) -> list[Any]:
    """Return the row of a tool: what it says of faulty and of correct subjects that it takes."""
    both = {"faulty": range(len(FAULTY)), "correct": range(len(FAULTY), len(FAULTY) + len(CORRECT))}
    answers = {side: [found[key(place, run)] for place in both[side] for run in range(runs)] for side in both}
    taken = {side: [each for each in given if each.refuted is not None] for side, given in answers.items()}
    hits, alarms = (sum(bool(each.refuted) for each in taken[side]) for side in ("faulty", "correct"))
    used = [*taken["faulty"], *taken["correct"]]
    pins = (release_of(FOLDER / peer / "requirements.txt") for peer, name in PEERS.items() if name == tool)
    version = next(pins, "this one")
    seconds = sum(each.seconds for each in used) / len(used)
    drawn = sum(each.drawn for each in used) / len(used)
    counts = [f"{hits} of {len(taken['faulty'])}", len(taken["faulty"]) - hits, f"{alarms} of {len(taken['correct'])}"]
    return [tool, version, round(len(used) / runs), *counts, f"{seconds:.3f}", f"{drawn:,.0f}"]


def shown(found: dict[str, Answer], place: int, runs: int) -> str:
    """Return in how many runs a subject was refuted, or why it was not taken."""
    answers = [found[key(place, run)] for run in range(runs)]
    if any(each.refuted is None for each in answers):
        return f"not taken: {escaped(next(each.text for each in answers if each.refuted is None))}"
    return f"{sum(bool(each.refuted) for each in answers)} of {runs}"


if __name__ == "__main__":
    main()
