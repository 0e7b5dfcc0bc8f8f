"""From single results to rows, tables and benchstat's format. Pure functions."""

from statistics import median

import rpc_cells

MEBIBYTE = 1 << 20
MEDIANS = ("cpu_ns_per_unit", "wall_ns_per_unit", "gc_cpu_ns_per_unit", "allocs_per_op",
           "bytes_per_op", "gcs_per_1000_ops", "rss_peak_bytes")
LATENCIES = ("p50_us", "p90_us", "p99_us", "send_lag_p99_us", "qps", "qps_target", "busy_share")


def baseline_of(group, cells):
    """The first row of a group: what the others are compared with."""
    return next(c["row"] for c in cells if c["group"] == group)


def paired_ratio(own, base, key):
    """Median over rounds of own / base within the round; None where there is nothing to divide."""
    ratios = [o[key] / b[key] for o, b in zip(own, base) if b[key] > 0]
    return round(median(ratios), 3) if ratios else None


def rows(cells, results, failures=()):
    """One row per cell. `results` maps (group, row) to the results of all rounds, in order;
    `failures` holds those that failed. Without a baseline a group has no ratios."""
    made = []
    for cell in cells:
        key = cell["group"], cell["row"]
        row = {"group": cell["group"], "row": cell["row"], "unit": cell["unit"]}
        own = results.get(key)
        if not own:
            failed = "it failed" if key in failures else "not measured in this run"
            made.append({**row, "missing": cell["missing"] or failed})
            continue
        base = results.get((cell["group"], baseline_of(cell["group"], cells)), [])
        row.update({name: round(median(r[name] for r in own), 3) for name in MEDIANS})
        row["cpu_ns_per_unit_min"] = round(min(r["cpu_ns_per_unit"] for r in own), 3)
        row["cpu_ns_per_unit_max"] = round(max(r["cpu_ns_per_unit"] for r in own), 3)
        row["cpu_to_baseline"] = paired_ratio(own, base, "cpu_ns_per_unit")
        if "p99_us" in own[0]:
            row.update({name: round(median(r[name] for r in own), 3) for name in LATENCIES})
            row["p99_to_baseline"] = paired_ratio(own, base, "p99_us")
        row["runs"] = len(own)
        made.append(row)
    return made


def benchstat(results, versions):
    """All single results in the format of `go test -bench`, which benchstat reads."""
    lines = ["goos: linux", "pkg: github.com/harena-project/harena/bench/go",
             *(f"{name}: {version}" for name, version in versions.items())]
    for (group, row), own in results.items():
        for r in own:
            values = [f"{r['cpu_ns_per_unit']:.2f} cpu-ns/{r['unit']}",
                      f"{r['gc_cpu_ns_per_unit']:.2f} gc-ns/{r['unit']}",
                      f"{r['bytes_per_op']:.0f} B/op", f"{r['allocs_per_op']:.2f} allocs/op",
                      f"{r['gcs_per_1000_ops']:.3f} gcs/1000ops",
                      f"{r['rss_peak_bytes']} peak-RSS-bytes"]
            values += [f"{r[name]:.1f} {name.replace('_us', '-us')}"
                       for name in ("p50_us", "p99_us") if name in r]
            lines.append("\t".join([f"Benchmark{group[0].upper()}{group[1:]}/row={row}",
                                    str(r["ops"]), *values]))
    return "\n".join(lines) + "\n"


def amount(value):
    """A number with about three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


HEADER = ["row", "CPU ns", "ratio", "GC ns", "allocs/op", "B/op", "GCs/1000 op", "peak MiB"]
RPC_HEADER = ["row", "CPU us", "ratio", "p50 us", "p99 us", "p99 ratio", "allocs", "KiB",
               "GCs/1000", "peak MiB", "busy", "requests/s"]


def header_of(group):
    """A group's columns."""
    return RPC_HEADER if rpc_cells.is_rpc(group) else HEADER


def line_of(row):
    """One measured row as text."""
    ratio = "-" if row["cpu_to_baseline"] is None else f"{row['cpu_to_baseline']:.2f}"
    peak = f"{row['rss_peak_bytes'] / MEBIBYTE:.0f}"
    if "p99_us" in row:
        p99_ratio = "-" if row["p99_to_baseline"] is None else f"{row['p99_to_baseline']:.2f}"
        return [row["row"], amount(row["cpu_ns_per_unit"] / 1e3), ratio, amount(row["p50_us"]),
                amount(row["p99_us"]), p99_ratio, amount(row["allocs_per_op"]),
                amount(row["bytes_per_op"] / 1024), amount(row["gcs_per_1000_ops"]), peak,
                f"{row['busy_share']:.0%}", amount(row["qps"])]
    return [row["row"], amount(row["cpu_ns_per_unit"]), ratio, amount(row["gc_cpu_ns_per_unit"]),
            amount(row["allocs_per_op"]), amount(row["bytes_per_op"]),
            amount(row["gcs_per_1000_ops"]), peak]


def groups(all_rows):
    """(group, measured rows, missing rows) in order."""
    names = dict.fromkeys(row["group"] for row in all_rows)
    for name in names:
        own = [row for row in all_rows if row["group"] == name]
        yield (name, [r for r in own if "missing" not in r], [r for r in own if "missing" in r])


def render(header, lines):
    """Aligned text: the first column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    def text(line):
        rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))
        return "  ".join([line[0].ljust(widths[0]), *rest])
    return "\n".join([text(header), "  ".join("-" * w for w in widths), *map(text, lines)])


def terminal(all_rows):
    """All tables for the terminal."""
    parts = []
    for name, measured, missing in groups(all_rows):
        if not measured:
            continue
        parts.append(f"\n{name}, per {measured[0]['unit']}")
        parts.append(render(header_of(name), [line_of(row) for row in measured]))
        parts += [f"{row['row']}: not available: {row['missing']}" for row in missing]
    return "\n".join(parts)
