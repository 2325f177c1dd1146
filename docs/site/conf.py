"""Configure Sphinx for the site of the documentation, which docs/site/build.py builds."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "blimpworks"
author = "the authors of blimpworks"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_design"]
html_theme = "pydata_sphinx_theme"
html_title = "blimpworks"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": True, "secondary_sidebar_items": ["page-toc"]}
html_static_path = ["_static"]
html_css_files = ["tables.css"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False
# Blocks have no language: a highlighter would take output for code.
highlight_language = "text"


def setup(app: Sphinx) -> None:
    """Show the source of Mermaid diagrams, which GitHub draws, as text."""
    app.add_lexer("mermaid", TextLexer)
