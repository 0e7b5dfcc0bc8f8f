"""The self-contained report: one HTML file that opens offline, in light and dark.

The page's frame, its style and its charts are common/page.py and what lies beside it.
"""

import sys
from pathlib import Path

import table
from plan import BUSY_LIMIT

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common.page import chart, element, html_table, report_page  # noqa: E402

MODES = {("grpc", "C++", mode): text for mode, text in {
    "heap": "what gRPC does by itself: the service is registered as it is, no Harena code runs",
    "arena": "stock protobuf arena for each request",
    "pages": "arena on recycled pages",
    "reuse": "message instances kept, rebuilt when they have grown",
    "codec": "pages, and the generated codec: strings on the pages, a serializer in one pass",
}.items()} | {("grpc", "Go", mode): text for mode, text in {
    "heap": "what grpc-go does by itself: the service is registered as it is",
    "vtproto": "grpc-go with vtprotobuf's generated codec, without its pools",
    "codec": "Harena: request and response in the request's arena, Harena's decoder and encoder",
}.items()} | {("brpc", "C++", mode): text for mode, text in {
    "heap": "what brpc does by itself: no factory, no Harena code runs",
    "brpc_arena": "brpc's own arena factory, with its default blocks of 256 to 8192 bytes",
    "pages": "Harena: arena on recycled pages",
    "reuse": "Harena: message instances kept, rebuilt when they have grown",
    "codec": "Harena: pages, and the generated codec: strings on the pages, a serializer in one pass",
}.items()}

# (title, lead) of the page.
HEADINGS = {
    "grpc": ("Harena demo: memory modes side by side",
             "One gRPC service, the same handlers and the same requests, once per memory mode and "
             "language."),
    "brpc": ("Harena under brpc: memory modes side by side",
             "One brpc service that answers with a copy of its request, once per memory mode."),
}

WORKLOADS = {
    "trips": "A real GTFS-realtime feed of trip updates; the answer is a board of re-timed calls "
             "by stop",
    "vehicles": "A real GTFS-realtime feed of vehicle positions; the answer is a board by route",
    "tile": "A real vector tile; the answer is a tile with other keys, order and resolution",
    "ranking_200k": "A synthetic ranking request, five levels deep, in 16 sizes around 200 KB; the "
                    "answer holds all candidates, scored and ordered",
    "ranking_8k": "The same around 8 KB",
    "terms": "Trees of many short byte strings, of very different size, after babylon's example "
             "for brpc",
    "terms_attached": "The same bytes as an attachment, received and written anew: what brpc costs "
                      "without making messages of them",
    "empty": "Empty messages: what brpc costs at least",
}


def limits(results):
    """What the numbers do not show, as sentences."""
    run = results["run"]
    machine = run["machine"]
    fewest = min((row["requests"] for row in results["rows"]), default=0)
    lines = [
        f"One machine ({machine['cores']} cores), one client, loopback: no network, no TLS, no "
        "other work on the server. A shared or virtual machine drifts while it is measured; the "
        "modes are interleaved in rounds and compared within a round for that reason.",
        f"{run['rounds']} rounds of a few seconds. Differences of a few percent are noise, and a "
        f"p99.9 needs thousands of requests: the smallest row here has {fewest:,}, and with fewer "
        "than 1,000 its p99.9 is simply its slowest request.",
        "Each workload is one shape of message. Messages with few strings gain less, or nothing.",
        "Handlers do little besides reading and building messages. In a service that computes or "
        "waits, memory is a smaller part of the whole.",
        "Hot and short-lived processes: a heap that has fragmented for days is not measured.",
    ]
    if any(row["language"] == "Go" for row in results["rows"]):
        lines.insert(3, "C++ and Go run at rates of their own, each from its own heap mode: compare "
                        "latencies within a language only. The two gRPC implementations differ in "
                        "more than memory.")
    lines[:0] = [f"Left out: {sentence}" for sentence in run["left_out"]]
    if machine["server_core"] == machine["loader_core"]:
        lines.insert(0, "Server and loader shared one core here: the latencies include the "
                        "loader's work.")
    return lines


def facts(results):
    """What was run, as (name, text) pairs."""
    run = results["run"]
    machine = run["machine"]
    allocators = dict.fromkeys(row["allocator"] for row in results["rows"]
                               if row["language"] == "C++")
    slices = [f"{seconds:g} s ({language}, {name})"
              for language, key in (("C++", "slice_seconds"), ("Go", "go_slice_seconds"))
              for name, seconds in run[key].items()]
    return [
        ("machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB; "
                    f"server on core {machine['server_core']}, loader on core "
                    f"{machine['loader_core']}; other programs used "
                    f"{machine['other_work_share']:.0%} of the cores"),
        ("system", f"{machine['system']}, Linux {machine['kernel']}"),
        ("versions", ", ".join(f"{name} {text}" for name, text in run["versions"].items())),
        ("allocators", ", ".join(allocators)),
        ("load", "open loop at a fixed rate on an absolute schedule; latency from the scheduled "
                 f"send time; {run['rounds']} rounds of " + ", ".join(slices)),
        ("numbers", "p50 to p99, CPU and ratios are medians over rounds; p99.9 is over all rounds "
                    "pooled; ratios are taken within a round, to heap under the same allocator; "
                    "peak is the process's highest resident memory; GC/1000 is collections per "
                    "1,000 requests, GC us the collector's CPU (part of CPU us) and pause us its "
                    "stops, per request, warm-ups included"),
        ("when", f"{run['when']}, {run['kind']} run"),
    ]


def sizes(workload):
    """Request and response sizes of a workload, as text."""
    def span(values):
        low, high = min(values), max(values)
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return (f"Request {span(workload['request_bytes'])} bytes, "
            f"response {span(workload['response_bytes'])} bytes")


def workload_section(name, results):
    """Tables and charts of one workload."""
    described = {w["workload"]: w for w in results["run"]["workloads"]}
    parts = [element("h2", name, id=name)]
    text = WORKLOADS.get(name, "")
    if name in described:
        text += f". {sizes(described[name])}."
    parts = [element("h2", name, id=name), element("p", text)]
    for language in dict.fromkeys(row["language"] for row in results["rows"]):
        tables = [workload_table(pairs) for workload, other, pairs in table.groups(results)
                  if (workload, other) == (name, language)]
        if tables:
            parts += language_parts(name, language, tables)
    return f"<section>{''.join(parts)}</section>"


def workload_table(pairs):
    """One workload in one language under one allocator."""
    first = pairs[0][0]
    return html_table(table.header_of(first["language"]),
                      [table.cells_of(*pair) for pair in pairs],
                      f"{first['workload']}, {table.under(first)}, {first['qps_target']:,.1f} "
                      "requests per second, latencies in microseconds")


def language_parts(name, language, tables):
    """A language's tables and charts of one workload."""
    allocator = "go" if language == "Go" else "glibc"
    under = "Go" if language == "Go" else "C++, glibc"
    charts = [chart(f"{name}, {under}: latency, microseconds (log scale)", "latency", name,
                    allocator),
              chart(f"{name}, {under}: CPU per request, microseconds", "cpu", name, allocator)]
    if len(tables) > 1:
        charts.append(chart(f"{name}: CPU per request by allocator, microseconds", "allocators",
                            name, allocator, wide=True))
    return [element("h3", language), tables[0], f'<div class="charts">{"".join(charts)}</div>',
            *tables[1:]]


def saturation_section(results):
    """The closed-loop section, or nothing."""
    section = results.get("saturation")
    if not section:
        return ""
    text = (f"Four calls in flight in a closed loop, then a burst with 32 in flight, then "
            f"{section['idle_seconds']:g} s without a call. Start is the memory of the warm server "
            "before the rounds.")
    lines = [table.saturation_cells(entry) for entry in section["entries"]]
    heading = element("h2", f"Saturation and burst ({section['workload']})", id="saturation")
    shown = html_table(table.SATURATION_HEADER, lines, "4 in flight, then 32, then idle")
    return f"<section>{heading}{element('p', text)}{shown}</section>"


def over_budget_section(results):
    """What became of a request that takes far more memory than it has bytes, or nothing."""
    entries = results.get("over_budget")
    if not entries:
        return ""
    text = ("One request of empty messages, small on the wire and large in memory, then an "
            "ordinary one. Mode codec has a limit and refuses the first while it decodes; the "
            "others have no such limit and take what it wants.")
    heading = element("h2", "A request over its budget (Go)", id="over-budget")
    shown = html_table(table.OVER_BUDGET_HEADER,
                       [table.over_budget_cells(entry) for entry in entries], "Memory in MiB")
    return f"<section>{heading}{element('p', text)}{shown}</section>"


def beyond_section(results):
    """What the messages cost beyond the framework, or nothing."""
    if not results.get("beyond"):
        return ""
    heading = element("h2", "Beyond the framework", id="beyond")
    shown = html_table(table.BEYOND_HEADER,
                       [table.beyond_cells(entry) for entry in results["beyond"]],
                       "CPU in microseconds per request")
    return f"<section>{heading}{element('p', table.BEYOND_TEXT)}{shown}</section>"


def verdict(results):
    """The banner: whether the run can be trusted."""
    parts = []
    if results["problems"]:
        items = "".join(element("li", problem) for problem in results["problems"])
        parts.append('<div class="bad" role="alert"><strong>This run is wrong; do not use its '
                     f"numbers.</strong><ul>{items}</ul></div>")
    else:
        text = "every status was OK, replies had the bytes that the loader computed by itself"
        if not results["cautions"]:
            text += (", every rate was held, and heap mode stayed below "
                     f"{BUSY_LIMIT:.0%} of its core")
        parts.append(element("p", f"No errors: {text}.", class_="good"))
    if results["cautions"]:
        items = "".join(element("li", caution) for caution in results["cautions"])
        parts.append('<div class="caution"><strong>The machine was disturbed; the latencies are '
                     f"doubtful.</strong><ul>{items}</ul></div>")
    return "".join(parts)


def html_page(results, library=None):
    """The whole page."""
    names = list(dict.fromkeys(row["workload"] for row in results["rows"]))
    modes = list(dict.fromkeys((row["framework"], row["language"], row["mode"])
                               for row in results["rows"]))
    title, lead = HEADINGS[modes[0][0] if modes else "grpc"]
    definitions = "".join(element("dt", name) + element("dd", text)
                          for name, text in facts(results))
    explained = "".join(element("dt", ", ".join(mode[1:])) + element("dd", MODES.get(mode, ""))
                        for mode in modes)
    cpp_modes = [mode for _, language, mode in modes if language == "C++"]
    return report_page(
        {"rows": results["rows"], "modes": cpp_modes}, library,
        title=title, lead=lead, verdict=verdict(results),
        limits="".join(element("li", line) for line in limits(results)),
        facts=definitions,
        modes=explained,
        sections="".join(workload_section(name, results) for name in names),
        more=(beyond_section(results) + saturation_section(results)
              + over_budget_section(results)))
