"""Import the names of a stub when they are first used: of `audit`, of `audit.api`, and of extensions."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from audit.errors import MissingExtension, UnknownArgument

_NAMING: dict[Any, str] = {}  # functions that `_name_keywords` made, with the name in their error
_TAKES_ANY = 8  # flag of code that takes any keyword, as in `inspect`
_HERE = Path(__file__).parent
_LINE = re.compile(r"^from audit\.?([\w.]*) import (\w+) as \w+$", re.MULTILINE)
_EXTENSION = re.compile(r"extensions(?:\.(\w+))?.*")


def _name_keywords(function: Any, called: str) -> Any:
    """Return the function with an error that names the near right keyword where a call has a wrong one."""
    if _NAMING.get(function) == called:
        return function
    function = function.__wrapped__ if function in _NAMING else function
    code = getattr(function, "__wrapped__", function).__code__
    if code.co_flags & _TAKES_ANY:
        return function
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = [name for name in names if name != "self"]

    def call(*given: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                raise UnknownArgument.of(called, name, known)
        return function(*given, **named)

    call.__code__ = call.__code__.replace(co_name=function.__name__)  # a frame of it is a call of the function
    named_call = functools.wraps(function)(call)
    _NAMING[named_call] = called
    return named_call


def name_keywords(value: Any, called: str) -> Any:
    if isinstance(value, FunctionType):
        return _name_keywords(value, called)
    if dataclasses.is_dataclass(value) and "__init__" in vars(value):
        setattr(value, "__init__", _name_keywords(vars(value)["__init__"], called))  # noqa: B010, mypy forbids the other
    return value


def attach(stub: Path) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module by its stub, one line a name.

    A name whose extension is not there is not listed; to ask for it raises `MissingExtension`.
    """
    parts = stub.relative_to(_HERE.parent).with_suffix("").parts
    owner = ".".join(part for part in parts if part != "__init__")
    homes: dict[str, str] = {}
    absent: dict[str, str] = {}
    for module, name in _LINE.findall(stub.read_text(encoding="utf-8")):
        match = _EXTENSION.fullmatch(module)
        extension = match and (match[1] or name)
        if extension and not (_HERE / "extensions" / extension / "plugin.py").is_file():
            absent[name] = extension
        else:
            homes[name] = module

    def __getattr__(name: str) -> Any:
        if name in absent:
            missing = f"the extension {absent[name]}, whose folder audit/extensions/{absent[name]} is missing"
            raise MissingExtension(f"`audit.{name}` needs {missing}")
        if name not in homes:
            raise AttributeError(f"module {owner!r} has no attribute {name!r}")
        home = importlib.import_module(f"audit.{homes[name]}".rstrip("."))
        if name not in vars(home):  # a file or a folder
            return importlib.import_module(f"{home.__name__}.{name}")
        value = getattr(home, name)
        if owner != "audit.api":
            value = name_keywords(value, name)
            setattr(home, name, value)  # pickle looks for it there
        setattr(sys.modules[owner], name, value)  # the next access finds it there
        return value

    return __getattr__, lambda: sorted(homes), sorted(homes)
