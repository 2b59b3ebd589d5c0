"""Add a plugin for one test, as another distribution does: by an entry point."""

from collections.abc import Iterator
from importlib import metadata

import pytest

from audit import plugins

CACHED = ("list_plugins", "find_check", "find_evidence", "find_method", "list_scorers", "list_first")


def add_plugin(monkeypatch: pytest.MonkeyPatch, place: str) -> Iterator[None]:
    """Register the plugin at "module:name"; undo it when the test ends."""
    entry = metadata.EntryPoint("added", place, plugins.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry] if group == plugins.GROUP else [])
    forget()
    yield
    forget()


def forget() -> None:
    for name in CACHED:
        getattr(plugins, name).cache_clear()
