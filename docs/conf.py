"""How Sphinx builds the site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Pages are Markdown, written so that they read well on a code host too. Nothing is fetched from the network.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import rulescore

DOCS = Path(__file__).parent

project = "rulescore"
author = "the authors of rulescore"
project_copyright = author
version = release = rulescore.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "gallery", "examples"]
templates_path = ["_templates"]
nitpicky = False

# ---------------------------------------------------------------- Markdown

myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4

# ---------------------------------------------------------------- the reference

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
# Their pages are built whether or not the frameworks are installed.
autodoc_mock_imports = [name for name in ("jax", "torch", "autograd") if importlib.util.find_spec(name) is None]
numpydoc_show_class_members = False
default_role = "code"  # a name in backquotes, as docstrings of the sources have them

# ---------------------------------------------------------------- the gallery

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "within_subsection_order": "ExampleTitleSortKey",
}

# ---------------------------------------------------------------- HTML

html_theme = "pydata_sphinx_theme"
html_title = "rulescore"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_nav_level": 1,
    "navigation_depth": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# ---------------------------------------------------------------- links that differ between the site and a code host

GALLERY_LINK = re.compile(r"\]\(gallery/(\w+)\.py\)")


def link_to_built_gallery(app: Any, page: str, source: list[str]) -> None:
    """On a code host a link to an example of the gallery leads to its script, here to the page made of it."""
    source[0] = GALLERY_LINK.sub(r"](auto_gallery/\1.rst)", source[0])


def setup(app: Any) -> None:
    app.connect("source-read", link_to_built_gallery)
