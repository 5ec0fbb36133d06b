"""Sphinx's configuration of the documentation site; scripts/docs.sh calls it with the staged pages (stage.py).

Environment: TYTO_PROGRAM, the program whose help is shown; TYTO_DOXYGEN, the folder with doxygen's XML of the public headers.
"""
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import sphinx.util.fileutil
from docutils import nodes
from docutils.parsers.rst import Directive, directives

import tyto

PROGRAM = os.environ["TYTO_PROGRAM"]

# Pictures are the same at each build: one thread, no window, what warns is an error of the page.
os.environ["OMP_NUM_THREADS"] = "1"
warnings.filterwarnings("error", module="tyto")

project = "Tyto"
author = "The Tyto authors"
copyright = "The Tyto authors, BSD-3-Clause"
version = release = tyto.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "breathe",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["examples", "site", "gallery/*.ipynb", "gallery/*.py", "gallery/*.json", "gallery/*.zip", "**/sg_execution_times.rst"]
nitpicky = False
highlight_language = "none"
suppress_warnings = ["config.cache"]  # the sort key of the gallery is a function

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
mathjax_path = "tex-svg.js"

numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
breathe_projects = {"tyto": os.environ["TYTO_DOXYGEN"]}
breathe_default_project = "tyto"
breathe_default_members = ("members", "undoc-members")

copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "plot_gallery": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "Tyto"
html_context = {"default_mode": "auto"}
html_static_path = ["static"]
html_css_files = ["tyto.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which file:// forbids
html_theme_options = {
    "logo": {"text": "Tyto"},
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": True,
}
html_sidebars = {"index": [], "faq": [], "performance": [], "paper": []}


class Help(Directive):
    """What `tyto COMMAND --help` prints, of the program that was built with the page."""

    optional_arguments = 1
    option_spec = {"class": directives.class_option}

    def run(self):
        command = [PROGRAM, *self.arguments, "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "110"})
        return [nodes.literal_block(done.stdout, done.stdout.strip(), language="none", classes=["tyto-help"])]


def add_mathjax(app, error):
    """MathJax as one file, from its package: formulas need no network."""
    if error is not None or app.builder.format != "html":
        return
    import importlib.util
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    sphinx.util.fileutil.copy_asset(str(package / "static" / "mathjax" / "tex-svg.js"), str(Path(app.outdir) / "_static"))


def setup(app):
    app.add_directive("tyto-help", Help)
    app.connect("build-finished", add_mathjax)
    if not shutil.which(PROGRAM):
        raise RuntimeError(f"TYTO_PROGRAM: want the program tyto, got {PROGRAM!r}")
    return {"parallel_read_safe": False}
