"""Settings of the documentation site: `make docs` builds it into build/docs, without network; warnings are errors."""

import functools
import gc
import inspect
from importlib.metadata import version as installed
from pathlib import Path

from jinja2 import BytecodeCache
from numpydoc import docscrape_sphinx

from audit import Result, plugins


def kinds_page():
    """List functions, checks and results of all kinds, as the reference shows them."""
    names = {}
    for kind in plugins.list_keys("kinds"):
        check = plugins.find_check(kind)
        names |= dict.fromkeys([f"check_{kind.replace('-', '_')}", check.__name__, check.result_type.__name__])
    rows = "".join(f"   {name}\n" for name in names if name != Result.__name__)
    return f".. currentmodule:: audit\n\n.. autosummary::\n   :toctree: generated\n\n{rows}"


project = "dp-audit"
author = "the dp-audit authors"
copyright = author
version = release = installed("dp-audit")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "myst_parser", "numpydoc"]
exclude_patterns = ["recipes", "kinds.rst"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring links to the name where it is documented, and is code where it is not

autosummary_generate = ["reference.md", "kinds.rst"]
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the Parameters sections state types, with shapes and admissible sets
autodoc_member_order = "bysource"
autodoc_mock_imports = ["diffprivlib", "opendp", "pydp"]  # the site builds without the libraries of the adapters
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_heading_anchors = 3
myst_links_external_new_tab = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["cards.css"]
html_js_files = ["accessible.js"]
html_favicon = "_static/icon.svg"
html_title = f"dp-audit {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

HERE = Path(__file__).parent
HERE.joinpath("kinds.rst").write_text(kinds_page())  # included by the reference

gc.set_threshold(100_000)  # trees of pages are large and stay: looking through them for garbage takes long


class Compiled(BytecodeCache):
    """Templates that were compiled; numpydoc makes an environment for each docstring."""

    def __init__(self):
        self._kept = {}

    def load_bytecode(self, bucket):
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket):
        self._kept[bucket.key] = bucket.bytecode_to_string()


docscrape_sphinx.SandboxedEnvironment = functools.partial(
    docscrape_sphinx.SandboxedEnvironment, bytecode_cache=Compiled()
)


def setup(app):
    """Leave out members that are built-in functions: their docstrings are not numpydoc."""
    app.connect("autodoc-skip-member", lambda app, what, name, member, skip, options: inspect.isbuiltin(member) or None)
