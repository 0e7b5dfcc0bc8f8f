"""From slices to rows and text. Pure functions: no processes, no clock, no files.

A slice is one stretch of requests in one mode (main.cc). `runs` is a list of {mode: [slice, ...]}, one
for each set of processes; the slices of one round stand at the same index. A row has medians over all
slices; a ratio is the median over rounds of the ratio within the round, so that drift of the machine
cancels.
"""

from collections import namedtuple
from statistics import median

PHASES = ["parse", "build", "serialize", "destroy"]

Ratio = namedtuple("Ratio", "key header phases baseline")
RATIOS = [
    Ratio("to_heap", "/heap", PHASES, "heap"),
    Ratio("to_arena", "/arena", PHASES, "arena"),
    Ratio("parse_to_scan", "parse/scan", ["parse"], "bound_scan"),
    Ratio("serialize_to_arena", "ser/arena", ["serialize"], "arena"),
    Ratio("wire_to_arena", "p+s/arena", ["parse", "serialize"], "arena"),
]


def nanoseconds(one, phases):
    """What a slice's requests spent in these phases."""
    return sum(one[name] for name in phases)


def ratio_of(runs, mode, ratio):
    """Median over rounds of mode to the baseline; None without a baseline."""
    values = [nanoseconds(own, ratio.phases) / nanoseconds(base, ratio.phases)
              for run in runs if ratio.baseline in run
              for own, base in zip(run[mode], run[ratio.baseline])
              if nanoseconds(base, ratio.phases) > 0]
    return round(median(values), 3) if values else None


def rows_of(key, runs, counts):
    """The result rows of one block. `key` are the columns that all have in common; `counts` are heap
    allocations by mode."""
    rows = []
    for mode in runs[0]:
        slices = [one for run in runs for one in run[mode]]
        rows.append({
            **key, "mode": mode,
            "ns_per_request": round(median(nanoseconds(s, PHASES) for s in slices), 1),
            "phases_ns": {name: round(median(s[name] for s in slices), 1) for name in PHASES},
            "cpu_ns_per_request": round(median(s["cpu"] for s in slices), 1),
            "requests_per_second": round(median(s["requests_per_second"] for s in slices), 1),
            "heap_allocs_per_request": counts.get(mode)})
    return rows


def ratios_of(key, runs):
    """The ratios of one block, one entry for each mode."""
    return [{**key, "mode": mode, **{r.key: ratio_of(runs, mode, r) for r in RATIOS}}
            for mode in runs[0]]


def aligned(header, lines):
    """Aligned text: the first column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    return "\n".join("  " + "  ".join(
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths))) for line in [header, *lines])


def shown(value, form):
    """A number as text, or a dash for none."""
    return "-" if value is None else format(value, form)


def block(rows, ratios):
    """The table of one workload, allocator and thread count."""
    first = rows[0]
    threads = f"{first['threads']} thread{'s' if first['threads'] > 1 else ''}"
    header = ["mode", "us/request", *(r.header for r in RATIOS[:2]), *PHASES, "allocs",
              *(r.header for r in RATIOS[2:])]
    lines = []
    for row, ratio in zip(rows, ratios):
        lines.append([
            row["mode"], f"{row['ns_per_request'] / 1000:,.1f}",
            *(shown(ratio[r.key], ".2f") for r in RATIOS[:2]),
            *(f"{row['phases_ns'][name] / 1000:,.1f}" for name in PHASES),
            shown(row["heap_allocs_per_request"], ",.1f"),
            *(shown(ratio[r.key], ".2f") for r in RATIOS[2:])])
    return (f"\n{first['workload']}, {first['allocator']}, {threads}, "
            f"{first['request_bytes']:,.0f} bytes\n" + aligned(header, lines))


def thread_table(rows):
    """CPU per request and throughput of one workload and allocator over the thread counts. With more
    threads than cores these are what a lock would show in; the wall time of a phase then counts the
    waiting for a core."""
    counts = list(dict.fromkeys(row["threads"] for row in rows))
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    cells = {(row["mode"], row["threads"]): row for row in rows}
    header = ["mode", *(f"{count} thr, CPU us" for count in counts),
              *(f"{count} thr, req/s" for count in counts)]
    lines = [[mode, *(f"{cells[mode, n]['cpu_ns_per_request'] / 1000:,.1f}" for n in counts),
              *(f"{cells[mode, n]['requests_per_second']:,.0f}" for n in counts)]
             for mode in modes]
    first = rows[0]
    return (f"\n{first['workload']}, {first['allocator']}: CPU per request and requests per second "
            f"by threads\n" + aligned(header, lines))


def size_table(entries):
    """Nanoseconds per request byte by mode over the sizes."""
    sizes = list(dict.fromkeys(entry["request_bytes"] for entry in entries))
    modes = list(dict.fromkeys(entry["mode"] for entry in entries))
    cells = {(entry["mode"], entry["request_bytes"]): entry for entry in entries}
    lines = [[mode, *(f"{cells[mode, size]['ns_per_byte']:.2f}" for size in sizes)]
             for mode in modes]
    return ("\nranking requests of one shape: nanoseconds per byte of request, by bytes of request\n"
            + aligned(["mode", *(f"{size:,.0f}" for size in sizes)], lines))
