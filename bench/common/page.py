"""Parts of self-contained HTML reports. Charts are drawn by Chart.js (MIT), inlined from Debian's
libjs-chart.js."""

import html
from pathlib import Path

CHART_PATHS = (Path("/usr/share/javascript/chart.js/chart.min.js"),
               Path("/usr/share/javascript/chart.js/Chart.min.js"))


class ChartsMissing(Exception):
    """Chart.js is not installed; the message says how to get it."""


def chart_library():
    """The text of Chart.js. Raises ChartsMissing."""
    for path in CHART_PATHS:
        if path.exists():
            return path.read_text(encoding="utf-8")
    raise ChartsMissing("Chart.js is missing. On Debian: apt-get install libjs-chart.js")


def element(tag, text, **attributes):
    """An element around escaped text."""
    pairs = "".join(f' {name.rstrip("_")}="{html.escape(str(value))}"'
                    for name, value in attributes.items())
    return f"<{tag}{pairs}>{html.escape(str(text))}</{tag}>"


def html_table(header, lines, caption):
    """A table whose first column names the line."""
    head = "".join(element("th", name, scope="col") for name in header)
    body = "".join(
        "<tr>" + element("th", line[0], scope="row")
        + "".join(element("td", cell) for cell in line[1:]) + "</tr>" for line in lines)
    return (f'<div class="scroll"><table>{element("caption", caption)}'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")
