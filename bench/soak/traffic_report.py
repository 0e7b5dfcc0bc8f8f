"""The soak's report: a table as text, and a page that opens offline with memory over time."""

import html
import sys
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common.page import element, html_table  # noqa: E402
from verdict import FAILED, LATENCY_RATIO_MAX, OPEN, OTHER_WORK_SHARE_MAX, SAMPLES_MIN  # noqa: E402

MEBIBYTE = 1 << 20
HEADER = ("framework", "honest calls", "errors", "rude calls", "unowed", "refused", "sampled",
          "p50", "p99", "latencies", "RSS MiB", "MiB/h", "memory")
WIDTH, HEIGHT, MARGIN = 720, 170, 44

PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Harena soak</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>$style
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 11px; }
svg polyline { fill: none; stroke: var(--pages); stroke-width: 1.5; }
svg line { stroke: var(--line); }</style></head>
<body><main><h1>Harena soak: honest callers beside hostile and aborted calls</h1>
<p class="lead">$lead</p>$verdict<h2>Results</h2>$table<p>$legend</p>
<h2>Rude calls and what became of them</h2>$rude
<h2>Resident memory</h2>$charts<h2>Left out</h2><ul>$left_out</ul></main></body></html>
""")


def company(results):
    """Who the callers are whose effect on the others is measured."""
    return "as many more honest ones" if results["beside"] == "honest" else "rude ones"


def problems(results):
    """Sentences on what failed."""
    found = []
    for row in results["rows"]:
        name = row["framework"]
        found += [f"{name}: {sentence}" for sentence in row["wrong"]]
        found += [f"{name}: {example}" for example in row["examples"]]
        if row["latency"] and row["latency"]["verdict"] == FAILED:
            found.append(f"{name}: honest callers wait more than {LATENCY_RATIO_MAX:.2f} times as "
                         f"long beside {company(results)}")
        if row["memory"]["verdict"] == FAILED:
            found.append(f"{name}: resident memory grows")
    return found


def ratio_text(numbers):
    """A ratio with its interval."""
    high = "any" if numbers["high"] > 99 else f"{numbers['high']:.2f}"
    return f"{numbers['ratio']:.2f} ({numbers['low']:.2f}..{high})"


def cells(row):
    """One line of the table."""
    rude = sum(sum(outcomes.values()) for outcomes in row["rude"].values())
    counts, latency, memory = row["counts"] or {}, row["latency"], row["memory"]
    slope = mean = "-"
    if "slope_per_hour" in memory:
        mean = f"{memory['mean'] / MEBIBYTE:.1f}"
        slope = (f"{memory['slope_per_hour'] / MEBIBYTE:+.1f} "
                 f"({memory['low_per_hour'] / MEBIBYTE:+.1f}.."
                 f"{memory['high_per_hour'] / MEBIBYTE:+.1f})")
    return (row["framework"], f"{row['sent']:,}", str(row["errors"]), f"{rude:,}",
            str(row["unowed"]), str(counts.get("refused", "-")), str(counts.get("sampled", "-")),
            ratio_text(latency["p50"]) if latency else "-",
            ratio_text(latency["p99"]) if latency else "-",
            latency["verdict"] if latency else OPEN, mean, slope, memory["verdict"])


def legend(results):
    """What the columns mean."""
    return (f"p50 and p99: honest callers' latency beside {company(results)} to that without "
            f"them, the mean over pairs of slices with its 95 % interval; FAILED when all of that is above "
            f"{LATENCY_RATIO_MAX:.2f}, not judged when others used more than "
            f"{OTHER_WORK_SHARE_MAX:.0%} of the cores (here {results['other_work_share']:.0%}) or "
            f"the mean is above it and the interval is not. MiB/h: slope of resident memory after "
            f"a quarter of the time, the median over pairs of times with its 95 % interval; FAILED "
            f"when all of that is above 2 % of the mean in the time, not judged below {SAMPLES_MIN} "
            f"seconds. refused, sampled: by the server's own counts.")


def text(results):
    """The report for a terminal."""
    lines = [HEADER, *(cells(row) for row in results["rows"])]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    out = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
           for line in lines]
    out += ["", legend(results)]
    out += [f"left out: {name}: {why}" for name, why in results["left_out"].items()]
    found = problems(results)
    out += [f"WRONG: {sentence}" for sentence in found]
    failed = {sentence.partition(":")[0] for sentence in found}
    out.append(f"soak: {len(results['rows']) - len(failed)} frameworks passed, "
               f"{len(failed)} failed")
    return "\n".join(out) + "\n"


def chart(row):
    """Resident memory of one server as a line, from zero."""
    samples = [sample / MEBIBYTE for sample in row["samples"]]
    title = f"{row['framework']}: resident memory, MiB, over {len(samples)} s"
    if len(samples) < 2:
        return element("p", f"{title}: no samples")
    top = max(samples) * 1.1
    across, down = WIDTH - MARGIN - 8, HEIGHT - 40
    points = " ".join(f"{MARGIN + i * across / (len(samples) - 1):.1f},"
                      f"{10 + down * (1 - sample / top):.1f}" for i, sample in enumerate(samples))
    marks = "".join(
        f'<line x1="{MARGIN}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{top * share:.0f}</text>'
        for share in (0, 0.5, 1) for y in [10 + down * (1 - share)])
    return (f'<figure class="wide">{element("figcaption", title)}'
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}">'
            f'{marks}<polyline points="{points}"/>'
            f'<text x="{MARGIN}" y="{HEIGHT - 12}">0 s</text>'
            f'<text x="{WIDTH - 8}" y="{HEIGHT - 12}" text-anchor="end">{len(samples)} s</text>'
            "</svg></figure>")


def rude_table(results):
    """Outcomes of rude calls by framework and kind."""
    lines = [(f"{row['framework']}: {kind}",
              ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items())))
             for row in results["rows"] for kind, outcomes in sorted(row["rude"].items())]
    return html_table(("kind", "outcomes"), lines, "Rude calls")


def html_page(results):
    """The whole page."""
    found = problems(results)
    items = "".join(element("li", sentence) for sentence in found)
    banner = (f'<div class="bad" role="alert"><strong>Failed.</strong><ul>{items}</ul></div>'
              if found else element("p", "Errors only where they are owed.", class_="good"))
    machine = results["machine"]
    lead = (f"{results['when']}. {machine['cpu']}, {machine['cores']} cores, {machine['system']}; "
            f"servers on core {machine['server_core']}, loads on core {machine['loader_core']}, "
            f"all side by side for {results['seconds']:.0f} s after the latencies. "
            f"{results['command']}")
    return PAGE.substitute(
        style=(HERE.parent / "common/report_page.css").read_text(encoding="utf-8"),
        lead=html.escape(lead), verdict=banner,
        table=html_table(HEADER, [cells(row) for row in results["rows"]], "By framework"),
        legend=html.escape(legend(results)), rude=rude_table(results),
        charts="".join(chart(row) for row in results["rows"]),
        left_out="".join(element("li", f"{name}: {why}")
                         for name, why in results["left_out"].items()))
