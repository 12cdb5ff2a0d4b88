"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS / "pictures"), str(DOCS.parent)]
# one thread, and pictures without a screen, in the processes of the gallery too
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import rtkm  # noqa: E402

# What it is

project = "rtkm"
author = "The rtkm developers"
copyright = author
release = version = rtkm.__version__

# What it is made of

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "docstrings",
    "mathml",
    "outside",
    "reproduction",
]
exclude_patterns = [
    "api/templates",
    "joss",
    "README.md",
    "gallery/*.md5",
    "sg_execution_times.rst",
]
root_doc = "index"
nitpicky = True
nitpick_ignore_regex = [
    # words of numpydoc's sections, and names of other projects
    ("py:.*", r"(numpy|pandas|scipy|matplotlib|polars|pyarrow|joblib|np)\..*"),
]

# Pages

myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
# a page that is included from the root of the tree points at files that are no pages
suppress_warnings = ["config.cache"]

# prompts are not copied
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The API

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_default_options = {"member-order": "bysource"}
templates_path = ["api/templates"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"

# Pictures, and examples that are run

plot_basedir = str(DOCS / "pictures")
plot_formats = [("png", 144)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_rcparams = {
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.size": 9,
}
plot_apply_rcparams = True

# what to read first; what is not named comes last
EXAMPLES = (
    "kmeans_and_rtkm",
    "medical_samples",
    "choosing_k_and_share",
    "explain_a_row",
    "next_months_rows",
    "missing_values",
    "weights",
    "overlap",
    "detectors",
    "comparing_methods",
    "outliers_and_seeds",
    "digits",
    "image_colors",
    "wide_unit_vectors",
    "spectral_moons",
    "tour_of_pictures",
)


def place_of_example(file_name):
    """Sort the examples of the gallery."""
    name = file_name.removeprefix("plot_").removesuffix(".py")
    return (EXAMPLES.index(name) if name in EXAMPLES else len(EXAMPLES), name)


sphinx_gallery_conf = {
    "within_subsection_order": place_of_example,
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|[/\\])(?!plot_)[^/\\]*\.py$",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("rtkm",),
    "exclude_implicit_doc": {r"rtkm\.datasets\..*"},
    "reference_url": {"rtkm": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
}

# What it looks like

html_theme = "pydata_sphinx_theme"
html_title = "rtkm"
html_static_path = ["_static"]
html_css_files = ["rtkm.css"]
html_copy_source = False
html_show_sourcelink = False
# light or dark as the system is
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "rtkm"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"changelog": [], "contributing": [], "paper": [], "performance": []}
