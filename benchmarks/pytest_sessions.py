"""Count the pytest sessions of true claims at the edge that have any FAIL: at most the session's significance.

    python -m benchmarks.pytest_sessions --sessions 200 --audits 300

Every session is a pytest of its own on a suite of audits whose claims hold with equality, in turns Laplace noise,
randomized response, geometric noise and an (epsilon, delta) mechanism with a large delta. Seeds differ by session.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import stats

SUITE = """
import pytest
from benchmarks.subjects import PAIR, OneSided, TwoPoint, claim, geometric, laplace, randomized_response

EDGE = [(laplace, 0.0), (randomized_response, 0.0), (geometric, 0.0), (TwoPoint(0.1), 0.1), (OneSided(0.1), 0.1)]

@pytest.mark.parametrize("number", range({audits}))
def test_edge(dp_audit, number):
    mechanism, delta = EDGE[number % len(EDGE)]
    dp_audit.privacy(mechanism, claim(delta), PAIR)
"""


def failures(folder: Path, seed: int, significance: float, budget: int) -> int:
    """Run one session and count its FAILs."""
    options = [f"--dp-seed={seed}", f"--dp-significance={significance}", f"--dp-budget={budget}", "--dp-report=out"]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", *options, "test_edge.py"]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    certificate = folder / "out" / "certificate.json"
    counts = json.loads(certificate.read_text())["counts"]
    certificate.unlink()
    return int(counts["FAIL"])


def main() -> None:
    """Print the share of sessions with any FAIL, with its exact 95 % interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--audits", type=int, default=300)
    parser.add_argument("--significance", type=float, default=0.05)
    parser.add_argument("--budget", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_edge.py").write_text(SUITE.format(audits=options.audits))
        (folder / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[1])!r})\n")
        seeds = range(options.sessions)
        found = [failures(folder, 1_000_003 * seed, options.significance, options.budget) for seed in seeds]
    alarmed = sum(count > 0 for count in found)
    low, high = stats.binomtest(alarmed, len(found)).proportion_ci(method="exact")
    print(
        f"{alarmed} of {len(found)} sessions of {options.audits} true claims at the edge had a FAIL: "
        f"{alarmed / len(found):.3f} [{low:.3f}, {high:.3f}], at most {options.significance:g} is stated; "
        f"{sum(found)} FAILs in {options.audits * len(found):,} audits of {options.budget:,} outputs per dataset"
    )


if __name__ == "__main__":
    main()
