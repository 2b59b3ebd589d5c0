"""What is left of the privacy of each fault, by the kind and the name of the fault."""

import tomllib
from importlib.resources import files

TRUTHS: dict[str, dict[str, str]] = tomllib.loads(files(__package__).joinpath("truths.toml").read_text())
