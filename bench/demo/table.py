"""The tables of the demo, as columns that the terminal and the report share."""

MEGABYTE = 1 << 20


def _us(value):
    return f"{value:,.0f}"


def _ratio(value):
    return "-" if value is None else f"{value:.2f}"


def _mib(value):
    return f"{value / MEGABYTE:.1f}"


def _allocs(value):
    return "-" if value is None else f"{value:,.0f}"


HEADER = ["mode", "p50", "p80", "p90", "p99", "p99.9", "CPU us", "CPU/heap", "p99/heap", "RSS MiB",
          "peak MiB", "allocs", "busy", "requests", "errors"]
GO_HEADER = [*HEADER, "GC/1000", "GC us", "pause us"]


def header_of(language):
    """The columns of a language's table: Go has a garbage collector to show."""
    return GO_HEADER if language == "Go" else HEADER


def gc_cells(row):
    """The garbage collector's columns of one row."""
    if row["language"] != "Go":
        return []
    return [f"{row['gc_cycles_per_1000_requests']:.1f}", f"{row['gc_cpu_us_per_request']:.1f}",
            f"{row['gc_pause_us_per_request']:.2f}"]


def cells_of(row, comparison):
    """One row as text."""
    latency = row["latency_us"]
    return [row["mode"], *(_us(latency[p]) for p in ("p50", "p80", "p90", "p99", "p999")),
            _us(row["cpu_us_per_request"]), _ratio(comparison["cpu_to_heap"]),
            _ratio(comparison["p99_to_heap"]), _mib(row["rss_bytes"]),
            _mib(row["rss_peak_bytes"]), _allocs(row["heap_allocs_per_request"]),
            f"{comparison['busy_share']:.0%}", f"{row['requests']:,}", str(row["errors"]),
            *gc_cells(row)]


SATURATION_HEADER = ["mode", "calls/s", "p50", "p99", "CPU us", "CPU/heap", "p99/heap",
                     "start MiB", "after burst MiB", "idle MiB", "idle/start", "errors"]


def saturation_cells(entry):
    """One saturation entry as text."""
    return [entry["mode"], f"{entry['qps']:,.0f}", _us(entry["latency_us"]["p50"]),
            _us(entry["latency_us"]["p99"]), _us(entry["cpu_us_per_request"]),
            _ratio(entry["cpu_to_heap"]), _ratio(entry["p99_to_heap"]),
            _mib(entry["rss_start_bytes"]), _mib(entry["rss_burst_bytes"]),
            _mib(entry["rss_idle_bytes"]), _ratio(entry["rss_idle_to_start"]),
            str(entry["errors"])]


OVER_BUDGET_HEADER = ["Go mode", "request", "next call", "wire MiB", "limit MiB",
                      "RSS before", "RSS peak"]


def over_budget_cells(entry):
    """One over-budget entry as text."""
    limit = entry["request_bytes_max"]
    return [entry["mode"], entry["status"], entry["next_status"], _mib(entry["wire_bytes"]),
            "none" if limit is None else _mib(limit), _mib(entry["rss_before_bytes"]),
            _mib(entry["rss_peak_bytes"])]


BEYOND_HEADER = ["allocator, mode", "CPU us", "- empty", "/heap", "/brpc arena", "- attached",
                 "/heap", "/brpc arena", "p99/heap", "RSS/heap", "allocs", "- attached"]
BEYOND_TEXT = ("What the messages cost: CPU per request less that of an empty request, and less "
               "that of a request with the same bytes as an attachment, both in heap mode; ratios "
               "of the two to heap's and to brpc's own arena factory's. Heap allocations likewise.")


def beyond_cells(entry):
    """One entry on what messages cost beyond the framework, as text."""
    return [f"{entry['allocator']}, {entry['mode']}", _us(entry["cpu_us"]),
            _us(entry["cpu_us_beyond_empty"]), _ratio(entry["beyond_empty_to_heap"]),
            _ratio(entry["beyond_empty_to_brpc_arena"]), _us(entry["cpu_us_beyond_attached"]),
            _ratio(entry["beyond_attached_to_heap"]), _ratio(entry["beyond_attached_to_brpc_arena"]),
            _ratio(entry["p99_to_heap"]), _ratio(entry["rss_to_heap"]),
            _allocs(entry["heap_allocs"]), _allocs(entry["heap_allocs_beyond_attached"])]


def under(row):
    """What a group of rows runs under, as text."""
    return "Go" if row["language"] == "Go" else f"C++, {row['allocator']}"


def groups(results):
    """(workload, language, [(row, comparison), ...]) in the order of the run, one for each
    allocator."""
    grouped = {}
    for row, comparison in zip(results["rows"], results["comparisons"]):
        key = row["workload"], row["language"], row["allocator"]
        grouped.setdefault(key, []).append((row, comparison))
    return [(workload, language, pairs) for (workload, language, _), pairs in grouped.items()]


def render(header, lines):
    """Aligned text: the first column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    def text(line):
        rest = (line[i].rjust(widths[i]) for i in range(1, len(line)))
        return "  ".join([line[0].ljust(widths[0]), *rest])
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([text(header), rule, *(text(line) for line in lines)])


def terminal(results):
    """All tables for the terminal."""
    parts = []
    for workload, language, pairs in groups(results):
        first = pairs[0][0]
        parts.append(f"\n{workload}, {under(first)}: {first['qps_target']:,.1f} requests per "
                     f"second, latency in us from the scheduled send time")
        parts.append(render(header_of(language), [cells_of(*pair) for pair in pairs]))
    if results.get("beyond"):
        parts.append("\n" + BEYOND_TEXT)
        parts.append(render(BEYOND_HEADER, [beyond_cells(entry) for entry in results["beyond"]]))
    if results.get("over_budget"):
        parts.append("\na request of far more memory than bytes, then an ordinary one; MiB")
        parts.append(render(OVER_BUDGET_HEADER,
                            [over_budget_cells(e) for e in results["over_budget"]]))
    if results.get("saturation"):
        section = results["saturation"]
        parts.append(f"\n{section['workload']}: 4 calls in flight; then a burst of 32 in flight; "
                     f"then {section['idle_seconds']:.0f} s idle")
        parts.append(render(SATURATION_HEADER, [saturation_cells(e) for e in section["entries"]]))
    return "\n".join(parts)
