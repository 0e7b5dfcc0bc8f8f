"""go.html: the tables and charts of make bench-go in one file that opens offline."""

import html
import json
import sys
from pathlib import Path
from string import Template

import summary

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common.page import chart_library, element, html_table  # noqa: E402


def section(name, measured, missing):
    """One group: its table, its chart, and what could not be measured."""
    label = html.escape(f"{name}: CPU per {measured[0]['unit']}. The table has the numbers.")
    height = 3 + 2 * len(measured)
    chart = (f'<div class="canvas" style="height: {height}rem"><canvas role="img" '
             f'aria-label="{label}" data-group="{html.escape(name)}"></canvas></div>')
    absent = "".join(element("li", f"{row['row']}: not available: {row['missing']}")
                     for row in missing)
    return "".join([
        "<section>", element("h2", name, id=name),
        html_table(summary.header_of(name), [summary.line_of(row) for row in measured],
                   f"per {measured[0]['unit']}; ratio is CPU to the first row's, within a round"),
        chart, f"<ul>{absent}</ul>" if absent else "", "</section>"])


def html_page(results, library=None):
    """The whole page."""
    facts = "".join(element("dt", name) + element("dd", text)
                    for name, text in results["facts"].items())
    style = (HERE.parent / "common/report_page.css").read_text(encoding="utf-8")
    measured = [row for row in results["rows"] if "missing" not in row]
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        style=style,
        limits="".join(element("li", limit) for limit in results["limits"]),
        facts=facts,
        problems="".join(element("p", problem, class_="bad") for problem in results["problems"]),
        sections="".join(section(*group) for group in summary.groups(results["rows"]) if group[1]),
        library=library if library is not None else chart_library(),
        data=json.dumps(measured).replace("<", "\\u003c"),
        script=(HERE / "page.js").read_text(encoding="utf-8"))
