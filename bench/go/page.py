"""go.html: the tables and charts of make bench-go in one file that opens offline."""

import html
import sys
from pathlib import Path

import summary

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common.page import element, html_table, report_page  # noqa: E402


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
    return report_page(
        [row for row in results["rows"] if "missing" not in row], library, HERE / "page.js",
        title="Harena: the Go benchmarks",
        lead="The Go arena, codec and gRPC adapter beside what else there is.",
        verdict="".join(element("p", problem, class_="bad") for problem in results["problems"]),
        limits="".join(element("li", limit) for limit in results["limits"]),
        facts="".join(element("dt", name) + element("dd", text)
                      for name, text in results["facts"].items()),
        sections="".join(section(*group) for group in summary.groups(results["rows"]) if group[1]))
