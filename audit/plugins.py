"""Find the parts of the package and its extensions: kinds of checks, evidence, methods, scorers, commands, names.

An extension is one object, `Plugin`. Those of this distribution are the folders of `audit/extensions/` with a file
`plugin.py`; another distribution names its object in an entry point of the group "dp_audit":

    [project.entry-points.dp_audit]
    example = "example_package.plugin:PLUGIN"

All that a plugin names is text, "module:name", which is imported when it is first used. The environment variable
DP_AUDIT_NO_PLUGINS leaves out other distributions. `python -m audit.plugins` prints `audit/__init__.pyi`.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from audit.errors import MissingExtension, UnknownTarget

GROUP, SWITCH = "dp_audit", "DP_AUDIT_NO_PLUGINS"
_FOLDER = Path(__file__).parent / "extensions"
_OWN = "audit.extensions."
FRAGMENT = "audit.certificate.render:check_fragment"  # a record as HTML, for notebooks


@dataclass(frozen=True)
class Command:
    """A command of `dp-audit`: the click command as "module:name", and its line in `dp-audit --help`."""

    command: str
    help: str


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """Parts that an extension adds; every object is named as "module:name", and imported when it is used."""

    name: str
    kinds: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # kind in records -> its class, its function
    evidence: Mapping[str, str] = field(default_factory=dict)  # way in records of privacy checks -> its class
    methods: Mapping[str, str] = field(default_factory=dict)  # method of privacy checks -> its class
    first: tuple[str, ...] = ()  # the methods of them that method="auto" tries first, where no law is stated
    scorers: tuple[str, ...] = ()  # classes, made without arguments, that compete in privacy checks
    search: str = ""  # a module that searches the `datasets` and `parameters` of privacy checks
    early_look: str = ""  # a function of a session that is slow to draw from: what may refute a claim at once
    curve_test: str = ""  # a function of a session and its training: evidence about a whole curve, for the game's
    float_scorers: str = ""  # a function of the claimed epsilon: the scorers that compete where `floats="audit"`
    figure: str = ""  # a function of a result: its matplotlib figure
    commands: Mapping[str, Command] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # module -> public names of `audit`


_WAYS = "audit.evidence."
CORE = Plugin(
    name="core",
    kinds={
        "privacy": ("audit.checks.privacy:PrivacyCheck", "audit.checks.privacy:check_privacy"),
    },
    evidence={
        "stated law": f"{_WAYS}stated_law:StatedLaw",
        "guess game": f"{_WAYS}guess_game:GuessGame",
        "new processes": f"{_WAYS}new_processes:NewProcesses",
    },
    names={
        "audit.errors": ("AuditError",),
        "audit.verdict": ("Verdict",),
        "audit.checks.base": ("Result",),
        "audit.checks.privacy": ("PrivacyCheck", "check_privacy"),
        "audit.checks.result": ("PrivacyResult",),
        "audit.claims": (
            "AddRemove", "Distance", "GaussianClaim", "Group", "LabelFlip", "Labeled", "Local", "Neighbors",
            "PrivacyClaim", "RenyiClaim", "Substitution", "ZeroConcentratedClaim",
        ),
        "audit.runner": ("run",),
        "audit.certificate.document": ("Report", "load_certificate"),
        "audit.certificate.verify": ("verify",),
        "audit.mechanism.call": ("SubjectFailed", "per_call"),
    },
)  # fmt: skip


@cache
def list_plugins() -> Mapping[str, Plugin]:
    """Return the plugins by name: the core, the folders of extensions, then those of other distributions."""
    own = {name: importlib.import_module(f"{_OWN}{name}.plugin").PLUGIN for name in list_folders()}
    return {CORE.name: CORE, **own, **{plugin.name: plugin for plugin in _load_entry_points()}}


def list_folders() -> list[str]:
    """Return the names of the extensions of this distribution that are there."""
    return sorted(file.parent.name for file in _FOLDER.glob("*/plugin.py"))


def _load_entry_points() -> Iterator[Plugin]:
    """Yield the plugins of other distributions; one that cannot be loaded is left out with a warning."""
    if os.environ.get(SWITCH):
        return
    for entry in metadata.entry_points(group=GROUP):
        try:
            plugin = entry.load()
            if not isinstance(plugin, Plugin):
                raise TypeError(f"{entry.value} must be an audit.api.Plugin, got {type(plugin).__name__}")
        except Exception as error:
            said = f"the extension {entry.name!r} is left out: {type(error).__name__}: {error}"
            warnings.warn(f"{said}; set {SWITCH}=1 to load none", RuntimeWarning, stacklevel=2)
        else:
            yield plugin


def load(text: str) -> Any:
    """Return the object that "module:name" names."""
    module, _, name = text.partition(":")
    return getattr(importlib.import_module(module), name)


def _find(part: str, key: str) -> Any:
    """Return the entry `key` of one part of the first plugin that has it; None if there is none."""
    return next((table[key] for plugin in list_plugins().values() if key in (table := getattr(plugin, part))), None)


def list_keys(part: str) -> list[str]:
    """Return the keys of one part of all plugins: "kinds", "evidence", "methods" or "commands"."""
    return [key for plugin in list_plugins().values() for key in getattr(plugin, part)]


def find_version(name: str) -> str:
    """Return the version of the distribution that an extension is from."""
    if name in list_folders():
        return metadata.version("dp-audit")
    made = (entry.dist for entry in metadata.entry_points(group=GROUP) if entry.dist and entry.load().name == name)
    return next((distribution.version for distribution in made), "unknown")


@cache
def find_check(kind: str) -> type[Any]:
    """Return the class of checks of a kind, by its name in records."""
    if (found := _find("kinds", kind)) is None:
        raise UnknownTarget(f"no check is of kind {kind!r}: use one of {', '.join(list_keys('kinds'))}")
    check: type[Any] = load(found[0])
    return check


def list_functions() -> dict[str, str]:
    """Return where the functions `check_<name>` are, by that name."""
    plugins = list_plugins().values()
    public = ((module, name) for plugin in plugins for module, listed in plugin.names.items() for name in listed)
    named = {name.removeprefix("check_"): f"{module}:{name}" for module, name in public if name.startswith("check_")}
    return named | {kind.replace("-", "_"): text for plugin in plugins for kind, (_, text) in plugin.kinds.items()}


@cache
def find_evidence(way: str) -> type[Any] | None:
    """Return the class of evidence of a privacy check, by its name in records; None if no plugin has it."""
    found = _find("evidence", way)
    return found and load(found)


@cache
def find_method(name: str) -> type[Any] | None:
    """Return the class of a method of privacy checks; None if no plugin has it."""
    found = _find("methods", name)
    return found and load(found)


@cache
def list_first() -> tuple[Any, ...]:
    """Return the methods, with their usual settings, that method="auto" tries first."""
    return tuple(load(plugin.methods[name])() for plugin in list_plugins().values() for name in plugin.first)


@cache
def list_scorers() -> tuple[Any, ...]:
    """Return the scorers that plugins add to those of the package."""
    return tuple(load(text)() for plugin in list_plugins().values() for text in plugin.scorers)


def find_early_look() -> Any:
    """Return the function that looks early at slow mechanisms; None if no plugin has one."""
    return next((load(plugin.early_look) for plugin in list_plugins().values() if plugin.early_look), None)


def find_curve_test() -> Any:
    """Return the function that tests a claim along its whole curve; None if no plugin has one."""
    return next((load(plugin.curve_test) for plugin in list_plugins().values() if plugin.curve_test), None)


def find_search() -> Any:
    """Return the module that searches cases; raise `MissingExtension` if there is none."""
    return importlib.import_module(_list_texts("search", "`datasets` and `parameters` need the extension search")[0])


def _list_texts(part: str, need: str) -> list[str]:
    """Return the texts of one part of all plugins; raise `MissingExtension` with the need if there is none."""
    if not (found := [text for plugin in list_plugins().values() if (text := getattr(plugin, part))]):
        raise MissingExtension(f"{need}, whose folder is missing")
    return found


def list_float_scorers(epsilon: float) -> tuple[Any, ...]:
    """Return the scorers of bits that plugins add; raise `MissingExtension` if there is none."""
    made = _list_texts("float_scorers", "`floats='audit'` needs the extension precision")
    return tuple(scorer for text in made for scorer in load(text)(epsilon))


def draw_figure(result: Any) -> Any:
    """Return a result as a matplotlib figure; raise `MissingExtension` if no plugin draws one."""
    return load(_list_texts("figure", "`plot` needs the extension certificates")[0])(result)


def find_command(name: str) -> Command | None:
    """Return a command that a plugin adds; None if there is none."""
    found: Command | None = _find("commands", name)
    return found


def stub() -> str:
    """Return the text of `audit/__init__.pyi`: every public name with the module that it is imported from."""
    names = [
        (module, name)
        for plugin in list_plugins().values()
        if plugin is CORE or plugin.name in list_folders()
        for module, listed in plugin.names.items()
        for name in listed
    ]
    said = "The public names, each imported from its module when it is first used. Made by `python -m audit.plugins`."
    head = f'"""{said}"""\n'
    return "\n".join([head, *(f"from {module} import {name} as {name}" for module, name in sorted(names)), ""])


if __name__ == "__main__":
    print(stub(), end="")
