"""Copy the repository without extensions, or with one of them, and run the suite that belongs to what is left.

    python -m tests.apart                       # the core alone, then each extension with itself only
    python -m tests.apart core utility          # some of these

The catalog, the benchmarks and the audited libraries are left out of the copies, but for those that BORROWED names.
Tests that are weekly are left to `make test-weekly`: together these suites cost one of `make test`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = ("mechanisms", "benchmarks", "wild")
EXTENSIONS = sorted(path.parent.name for path in (ROOT / "audit" / "extensions").glob("*/plugin.py"))
# What is about the whole repository: its pages, its catalog, its names and results of all kinds, its page in a browser.
_TESTS = "architecture false_alarms leaks pages public_copy public_names recipes removal results zoo"
WHOLE = ("browser", *(f"test_{name}.py" for name in _TESTS.split()))
# What the tests of an extension borrow: mechanisms of the catalog, programs of benchmarks, another extension.
BORROWED = {
    "certificates": ("following", "precision", "training", "utility"),
    "compare": ("mechanisms", "adapters", "estimators", "utility"),
    "conformance": ("mechanisms", "estimators", "following", "utility"),
    "enumeration": ("benchmarks", "search"),
    "estimators": ("mechanisms", "utility", "adapters"),
    "files": ("search", "training"),
    "following": ("precision", "search"),
    "interactive": ("benchmarks", "enumeration", "search"),
    "search": ("following",),
    "training": ("benchmarks",),
}


def copy_without(folder: Path, absent: set[str], borrowed: tuple[str, ...] = ()) -> Path:
    """Copy the package and its tests without some extensions; what is outside of the package raises when imported."""
    skipped = {str(ROOT / at / name) for name in absent for at in ("audit/extensions", "tests/extensions")}

    def ignore(path: str, names: list[str]) -> set[str]:
        return {name for name in names if name == "__pycache__" or f"{path}/{name}" in skipped}

    parts = ("audit", "tests/core", "tests/e2e", "tests/extensions", "tests/meta", "docs", "examples", ".github")
    for part in (*parts, *borrowed):
        shutil.copytree(ROOT / part, folder / part, ignore=ignore)
    for file in (*ROOT.glob("*.*"), *(ROOT / "tests").glob("*.py")):
        if file.is_file():
            shutil.copy(file, folder / file.relative_to(ROOT))
    for name in set(OUTSIDE) - set(borrowed):  # an editable installation would find those of the repository
        said = f"No module named {name!r}: this copy has none"
        (folder / f"{name}.py").write_text(f"raise ModuleNotFoundError({said!r}, name={name!r})\n")
    return folder


def run(folder: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a copy, so that it imports the copy's package."""
    variables = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=variables, text=True, **options)  # type: ignore[call-overload]


def suite_of(folder: Path, name: str) -> list[str]:
    """Return the arguments of pytest for the suite of the core, or that of an extension."""
    if name != "core":
        return [f"tests/extensions/{name}"]
    left_out = [path for path in (folder / "tests").rglob("*") if path.name in WHOLE]
    return [*(f"tests/{part}" for part in ("core", "e2e", "meta")), *(f"--ignore={path}" for path in left_out)]


def is_alone_whole(name: str) -> bool:
    """Return whether the suite of the core, or of an extension, passes in a copy without all others."""
    with tempfile.TemporaryDirectory() as made:
        borrowed = BORROWED.get(name, ())
        folder = copy_without(Path(made), {*EXTENSIONS} - {name, *borrowed}, tuple({*OUTSIDE} & {*borrowed}))
        print(f"{name}, alone:", flush=True)
        options = ("-q", "-p", "no:cacheprovider", "-m", "not weekly")
        return run(folder, "-m", "pytest", *options, *suite_of(folder, name)).returncode == 0


if __name__ == "__main__":
    broken = [name for name in sys.argv[1:] or ["core", *EXTENSIONS] if not is_alone_whole(name)]
    sys.exit(f"do not pass alone: {', '.join(broken)}" if broken else 0)
