"""Settings of the documentation site: `make docs` builds it into build/docs, without network; warnings are errors."""

import inspect
from importlib.metadata import version as installed

project = "dp-audit"
author = "the dp-audit authors"
copyright = author
version = release = installed("dp-audit")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "myst_parser", "numpydoc"]
exclude_patterns = ["recipes"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring links to the name where it is documented, and is code where it is not

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the Parameters sections state types, with shapes and admissible sets
autodoc_member_order = "bysource"
autodoc_mock_imports = ["diffprivlib", "opendp", "pydp"]  # the site builds without the libraries of the adapters
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_heading_anchors = 3
myst_links_external_new_tab = False

html_theme = "furo"
html_title = f"dp-audit {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False


def setup(app):
    """Leave out members that are built-in functions: their docstrings are not numpydoc."""
    app.connect("autodoc-skip-member", lambda app, what, name, member, skip, options: inspect.isbuiltin(member) or None)
