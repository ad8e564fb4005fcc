"""How Sphinx builds the site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Pages are Markdown, written so that they read well on a code host too. Nothing is fetched from the network.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import rulescore

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

project = "rulescore"
author = "the authors of rulescore"
project_copyright = author
version = release = rulescore.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "rule_sources",
    "narrow_tables",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_extensions", "_templates", "gallery", "examples"]
templates_path = ["_templates"]
nitpicky = False

# ---------------------------------------------------------------- Markdown

myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4

# ---------------------------------------------------------------- the reference

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autodoc_member_order = "groupwise"
# The page of a backend needs its framework, and is left out without it.
FRAMEWORKS = ("jax", "torch", "autograd", "mygrad")
exclude_patterns += [f"api/backends_{name}.md" for name in FRAMEWORKS if importlib.util.find_spec(name) is None]
suppress_warnings = ["toc.excluded"]
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
    "write_computation_times": False,  # a page of them fetches scripts from the network
    "abort_on_example_error": True,
    "within_subsection_order": "ExampleTitleSortKey",
}

# ---------------------------------------------------------------- HTML

html_theme = "pydata_sphinx_theme"
html_title = f"rulescore {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"**": ["pages.html"]}
html_theme_options = {
    "navbar_center": [],  # all pages are in the sidebar
    "navigation_depth": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["described.html"],
}

# Prompts and outputs are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:is(.highlight-python, .highlight-console, .highlight-ipython3, .highlight-default) pre"

# ---------------------------------------------------------------- what differs between the site and a code host

PAGES_ON_THE_SITE = (
    (re.compile(r"\]\(gallery/(\w+)\.py\)"), r"](auto_gallery/\1.rst)"),  # a script, and the page made of it
    (re.compile(r"\]\(gallery/\)"), "](auto_gallery/index.rst)"),
    (re.compile(r"\]\(\.\./CHANGELOG\.md\)"), "](changelog.md)"),
)


def link_to_pages_of_the_site(app: Any, page: str, source: list[str]) -> None:
    """Lead links to files that are no pages of the site to the pages made of them."""
    for link, target in PAGES_ON_THE_SITE:
        source[0] = link.sub(target, source[0])


# ---------------------------------------------------------------- docstrings

CODE_OR_MARK = re.compile(r"(``.*?``|`[^`]*`)|([*|])", re.DOTALL)


def escape_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings have formulas as plain text, in which * and | are no markup."""
    text = "\n".join(lines)
    prose, examples, rest = text.partition("\nExamples\n")
    prose = CODE_OR_MARK.sub(lambda found: found[1] or "\\" + found[2], prose)
    lines[:] = (prose + examples + rest).split("\n")


# ---------------------------------------------------------------- sources


def find_source(app: Any, module: str) -> tuple[str, dict[str, tuple[str, int, int]]] | None:
    """The source of `rrule` and `frule`, which are objects, is that of their classes."""
    if module != "rulescore.tables.registry":
        return None
    analyzer = ModuleAnalyzer.for_module(module)
    tags = analyzer.find_tags()
    return analyzer.code, {**tags, "rrule": tags["ReverseRuleTable"], "frule": tags["ForwardRuleTable"]}


def setup(app: Any) -> None:
    """Connect the above; docstrings before numpydoc takes them apart."""
    app.connect("viewcode-find-source", find_source)
    app.connect("source-read", link_to_pages_of_the_site)
    app.connect("autodoc-process-docstring", escape_formulas, priority=100)
