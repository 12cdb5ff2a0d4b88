"""The report: one HTML page that shows what was found and needs nothing from outside.

`render` draws it from the findings alone, the dictionary that ``--json`` writes. What a
page cannot do without a program, it shows without: pictures are SVG and tables are HTML
before `page.js` adds a tip, an order and a search.
"""

from rtkm.cli.report.page import render

__all__ = ["render"]
