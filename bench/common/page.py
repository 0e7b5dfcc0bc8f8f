"""Parts of self-contained HTML reports. Charts are drawn by Chart.js (MIT), inlined from Debian's
libjs-chart.js."""

import html
import json
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
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


def chart(title, kind, workload, allocator, wide=False):
    """A place that report_page.js draws into. The tables say the same in text."""
    label = html.escape(f"{title}. The table above has the numbers.")
    return (f'<figure{" class=wide" if wide else ""}>{element("figcaption", title)}'
            f'<div class="canvas"><canvas role="img" aria-label="{label}" data-chart="{kind}" '
            f'data-workload="{html.escape(workload)}" data-allocator="{html.escape(allocator)}">'
            "</canvas></div></figure>")


def report_page(data, library=None, script=HERE / "report_page.js", modes="", more="", **parts):
    """A whole report around charts of `data`, which the file `script` draws. For report_page.js its
    rows have workload, allocator, language and mode, and its modes are those that are compared.
    `modes` explains them, where there are some. `more` and `parts` are what report_page.html leaves
    open, as HTML. `library` takes the place of Chart.js, which is looked for otherwise."""
    return Template((HERE / "report_page.html").read_text(encoding="utf-8")).substitute(
        parts,
        style=(HERE / "report_page.css").read_text(encoding="utf-8"),
        modes=f"<h3>Modes</h3>\n<dl>{modes}</dl>" if modes else "",
        more=more,
        library=chart_library() if library is None else library,
        data=json.dumps(data).replace("<", "\\u003c"),
        script=script.read_text(encoding="utf-8"))
