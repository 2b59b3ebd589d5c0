"""Virtual environments for other people's packages, `.wild/NAME/` in the working folder, from files of requirements."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def prepared(name: str, requirements: Path) -> Path:
    """Return the Python of an environment, which is made unless it is there with these requirements."""
    home = Path(".wild").resolve() / name
    python, stamp, wanted = home / "bin" / "python", home / "requirements.txt", requirements.read_text()
    if not stamp.is_file() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", requirements], check=True)
        stamp.write_text(wanted)
    return python


def release_of(requirements: Path) -> str:
    """Return the package and the version that the first line of a file of requirements pins."""
    return requirements.read_text().splitlines()[0].replace("==", " ")
