"""Virtual environments for other people's packages, `.wild/NAME/` in the working folder, from files of requirements."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def prepared(name: str, requirements: Path) -> Path:
    """Return the Python of an environment, which is made unless it is there with these requirements."""
    home = Path(".wild").resolve() / name
    python, stamp, wanted = home / "bin" / "python", home / "requirements.txt", requirements.read_text()
    if not stamp.is_file() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", requirements], check=True)
        stamp.write_text(wanted)
    return python


def behind(python: Path, code: str) -> list[str]:
    """Return the command that runs code in an environment, whose packages come before those of this one."""
    packages = [path for path in sys.path if Path(path).name == "site-packages"]
    start = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; sys.path += {packages!r}"
    return [str(python), "-W", "ignore", "-c", f"{start}; {code}"]


def release_of(requirements: Path) -> str:
    """Return the package and the version that the first line of a file of requirements pins."""
    return requirements.read_text().splitlines()[0].replace("==", " ")
