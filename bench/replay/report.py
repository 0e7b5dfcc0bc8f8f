"""The report of a replay: one HTML file that opens offline, in the style of the demo's."""

from common.page import ChartsMissing, chart, chart_library, element, html_table, report_page
from tables import PHASES, shown

LEAD = ("Captured messages of one method, parsed, answered, serialized and ended once per memory "
        "mode, without RPC.")
MODES = {
    "heap": "messages on the heap, as without an arena",
    "heap_clear": "two messages kept and cleared, on the heap; protobuf alone",
    "arena": "protobuf's own arena with its default options; protobuf alone",
    "pages": "Harena: arena on recycled pages",
    "reuse": "Harena: message instances kept, rebuilt when they have grown",
    "codec": "Harena: pages, and the generated codec: strings on the pages, a serializer in one pass",
}
HEADER = ["mode", "us/request", "/heap", "/arena", *PHASES, "CPU us", "allocations", "requests/s"]


def sizes(summary):
    """Sizes of messages, as text."""
    if summary is None:
        return "none"
    return f"{summary['min']:,} to {summary['max']:,} bytes, median {summary['p50']:,}"


def limits(results):
    """What the numbers do not show, as sentences."""
    plan = results["plan"]
    lines = [
        "No RPC: neither the framework nor the network is in these numbers, and of your handler only "
        "the copying of the captured response into the response message.",
        "Processes that do nothing else: caches and heap are warmer and less fragmented than in a "
        "service.",
        "Differences of a few percent are noise; modes take turns and are compared within a round.",
        f"{plan['used']['exchanges']:,} captured calls stand for the traffic. They are as good as the "
        "capture.",
    ]
    if not plan["used"]["with_response"]:
        lines.append("The capture has no responses: building and serializing were not measured.")
    return lines + [f"Left out: {text}" for text in results["left_out"]]


def facts(results):
    """What was run, as (name, text) pairs."""
    plan, box = results["plan"], results["machine"]
    types = plan["request"]["name"]
    if plan["response"]:
        types += f", answered by {plan['response']['name']}"
    return [
        ("method", plan["method"] or "not named"),
        ("messages", types),
        ("capture", f"{plan['captured']:,} calls; {plan['good']['exchanges']:,} of the method and "
                    f"good; {plan['used']['exchanges']:,} replayed, {plan['used']['with_response']:,} "
                    f"with a response; {len(plan['problems']):,} could not be used"),
        ("requests", sizes(plan["used"]["request_bytes"])),
        ("responses", sizes(plan["used"]["response_bytes"])),
        ("machine", f"{box['cpu']}, {box['cores']} cores, {box['memory_gib']} GiB"),
        ("system", f"{box['system']}, Linux {box['kernel']}, protobuf "
                   f"{results['types']['stock']['protobuf']}"),
        ("numbers", f"medians over {results['rounds']} rounds of {results['slice_ms']:g} ms; ratios are "
                    "taken within a round; allocations are those of the heap, counted in runs of "
                    "their own"),
    ]


def cells(row, ratio):
    """One line of a table."""
    return [row["mode"], f"{row['ns_per_request'] / 1000:,.1f}", shown(ratio["to_heap"], ".2f"),
            shown(ratio["to_arena"], ".2f"),
            *(f"{row['phases_ns'][name] / 1000:,.1f}" for name in PHASES),
            f"{row['cpu_ns_per_request'] / 1000:,.1f}", shown(row["heap_allocs_per_request"], ",.1f"),
            f"{row['requests_per_second']:,.0f}"]


def block(results, allocator, threads):
    """The table of one allocator and thread count."""
    lines = [cells(row, ratio) for row, ratio in zip(results["rows"], results["ratios"])
             if (row["allocator"], row["threads"]) == (allocator, threads)]
    return html_table(HEADER, lines, f"{allocator}, {threads} thread(s), microseconds per request")


def problems(results):
    """What of the capture could not be used, or nothing."""
    found = results["plan"]["problems"]
    if not found:
        return ""
    shown_first = found[:50]
    text = f"{len(found):,} in all" + ("; the first 50:" if len(found) > 50 else ":")
    items = html_table(["where", "what"], [[p["source"], p["what"]] for p in shown_first], text)
    return f"<section>{element('h2', 'Could not be used', id='problems')}{items}</section>"


def chart_rows(results):
    """The rows with one thread, as the page's charts want them."""
    threads = min(row["threads"] for row in results["rows"])
    return [{"workload": "replay", "language": "C++", "allocator": row["allocator"],
             "mode": row["mode"], "cpu_us_per_request": row["cpu_ns_per_request"] / 1000}
            for row in results["rows"] if row["threads"] == threads]


def html_page(results, library=None):
    """The whole page; without charts where Chart.js is not installed."""
    rows = results["rows"]
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    allocators = list(dict.fromkeys(row["allocator"] for row in rows))
    charts = ""
    try:
        library = chart_library() if library is None else library
        charts = chart(f"{results['running_on']}: CPU per request, microseconds", "cpu", "replay",
                       results["running_on"])
        if len(allocators) > 1:
            charts += chart("CPU per request by allocator, microseconds", "allocators", "replay",
                            results["running_on"], wide=True)
    except ChartsMissing:
        library = ""
    blocks = "".join(block(results, allocator, threads)
                     for threads in dict.fromkeys(row["threads"] for row in rows)
                     for allocator in allocators)
    said = results["verdict"]
    return report_page(
        {"rows": chart_rows(results), "modes": modes}, library,
        title="Harena replay: your messages in every memory mode", lead=LEAD,
        verdict=element("p", said[0], class_="good")
        + "".join(element("p", text) for text in said[1:]),
        limits="".join(element("li", line) for line in limits(results)),
        facts="".join(element("dt", name) + element("dd", text) for name, text in facts(results)),
        modes="".join(element("dt", mode) + element("dd", MODES[mode]) for mode in modes),
        sections=(f"<section>{element('h2', 'Cost of the messages', id='replay')}"
                  f'<div class="charts">{charts}</div>{blocks}</section>'),
        more=problems(results))
