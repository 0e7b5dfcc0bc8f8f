"""From raw slices to table rows. Pure functions: no processes, no clock, no files.

A slice is one loader report (loader_main.cc): one cell, one round. Per round the percentiles are
exact, over that round's raw latencies. A row shows the median over rounds, except p99.9, which is
taken over the latencies of all rounds pooled, since one round has too few. A ratio to heap is the
median over rounds of the ratio within that round, so that drift of the machine cancels.
"""

import math
from statistics import median

from plan import BASELINE, BUSY_LIMIT, GO_ALLOCATOR, RATE_HELD

PERCENTILES = {"p50": 0.50, "p80": 0.80, "p90": 0.90, "p99": 0.99, "p999": 0.999}
# More than this share of the machine used by others disturbs the comparison.
OTHER_WORK_SHARE_MAX = 0.05
# The loader was late if it sent later than this and than this share of the latency itself.
SEND_LAG_US_MAX = 1000
SEND_LAG_SHARE_MAX = 0.10


def percentile(ordered, share):
    """The nearest-rank percentile of an ordered, non-empty list: a value that really occurred."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def latency_summary(latencies):
    """Mean and percentiles of one list of raw latencies."""
    if not latencies:
        return {"mean": 0.0, **{key: 0.0 for key in PERCENTILES}}
    ordered = sorted(latencies)
    summary = {"mean": sum(ordered) / len(ordered)}
    summary.update({key: percentile(ordered, share) for key, share in PERCENTILES.items()})
    return summary


def cpu_us(report):
    """Server CPU per answered request, in microseconds."""
    return report["server_cpu_seconds"] * 1e6 / max(1, len(report["latencies_us"]))


def busy_share(report):
    """The part of its core that the server used."""
    return report["server_cpu_seconds"] / report["seconds"]


def over_rounds(rounds):
    """Latencies of one cell: medians over rounds, p99.9 over all rounds pooled."""
    summaries = [latency_summary(report["latencies_us"]) for report in rounds]
    summary = {key: median(s[key] for s in summaries) for key in summaries[0]}
    pooled = [latency for report in rounds for latency in report["latencies_us"]]
    summary["p999"] = latency_summary(pooled)["p999"]
    return {key: round(value, 1) for key, value in summary.items()}


def collector(rounds):
    """What the garbage collector did, over all rounds with their warm-ups; None without one."""
    used = [report.get("go_usage") for report in rounds]
    if not all(used):
        return {"gc_cycles_per_1000_requests": None, "gc_cpu_us_per_request": None,
                "gc_pause_us_per_request": None}
    requests = max(1, sum(r["requests"] + r["warm_up_requests"] for r in rounds))
    def per_request(key, scale):
        return round(sum(u[key] for u in used) * scale / requests, 2)
    return {"gc_cycles_per_1000_requests": per_request("gc_cycles", 1000),
            "gc_cpu_us_per_request": per_request("gc_cpu_seconds", 1e6),
            "gc_pause_us_per_request": per_request("gc_pause_seconds", 1e6)}


def count_key(cell):
    """What the count of allocations depends on."""
    return cell.workload, cell.mode, cell.language


def row(cell, rounds, heap_allocs):
    """One row of results.json."""
    return {
        "workload": cell.workload,
        "language": cell.language,
        "framework": cell.framework,
        "mode": cell.mode,
        "allocator": cell.allocator,
        "qps_target": round(rounds[0]["qps_target"], 2),
        "qps": round(median(r["qps"] for r in rounds), 2),
        "latency_us": over_rounds(rounds),
        "cpu_us_per_request": round(median(cpu_us(r) for r in rounds), 1),
        "rss_bytes": int(median(r["rss_bytes"] for r in rounds)),
        "rss_peak_bytes": max(r["rss_peak_bytes"] for r in rounds),
        "heap_allocs_per_request": None if heap_allocs is None else round(heap_allocs, 1),
        **collector(rounds),
        "requests": sum(r["requests"] for r in rounds),
        "errors": sum(r["errors"] for r in rounds),
    }


def paired_ratio(rounds, baseline, value):
    """Median over rounds of value(cell) / value(baseline)."""
    ratios = [value(r) / value(b) for r, b in zip(rounds, baseline) if value(b) > 0]
    return round(median(ratios), 3) if ratios else None


def comparison(cell, rounds, baseline):
    """What the tables show beside a row: ratios to heap under the same allocator, busy shares."""
    return {
        "workload": cell.workload,
        "language": cell.language,
        "mode": cell.mode,
        "allocator": cell.allocator,
        "cpu_to_heap": paired_ratio(rounds, baseline, cpu_us),
        "p99_to_heap": paired_ratio(
            rounds, baseline, lambda r: latency_summary(r["latencies_us"])["p99"]),
        "rss_to_heap": paired_ratio(rounds, baseline, lambda r: r["rss_bytes"]),
        "busy_share": round(median(busy_share(r) for r in rounds), 3),
        "loader_busy_share": round(
            median(r["loader_cpu_seconds"] / r["seconds"] for r in rounds), 3),
        "send_lag_us_p99": round(median(r["send_lag_us"]["p99"] for r in rounds), 1),
    }


def summarise(slices, heap_allocs):
    """Rows and comparisons of all cells. `slices` maps a cell to its rounds."""
    rows, comparisons = [], []
    for cell, rounds in slices.items():
        baseline = next(other for key, other in slices.items()
                        if (key.workload, key.language, key.mode, key.allocator)
                        == (cell.workload, cell.language, BASELINE, cell.allocator))
        rows.append(row(cell, rounds, heap_allocs.get(count_key(cell))))
        comparisons.append(comparison(cell, rounds, baseline))
    return rows, comparisons


def problems(slices):
    """Wrong or missing answers, as sentences: they make any run wrong."""
    found = []
    for cell, rounds in slices.items():
        errors = sum(r["errors"] for r in rounds)
        if errors:
            first = next(r["first_error"] for r in rounds if r["errors"])
            found.append(f"{name(cell)}: {errors} errors, the first: {first}")
    return found


def disturbances(slices):
    """Rates that were not what the plan wants, as sentences: they make the numbers worthless, but
    say nothing against the servers."""
    found = []
    for cell, rounds in slices.items():
        target = rounds[0]["qps_target"]
        rate = median(r["qps"] for r in rounds)
        if target > 0 and rate < RATE_HELD * target:
            found.append(f"{name(cell)}: the rate was not held: {rate:.1f} of {target:.1f} per "
                         "second")
        busy = median(busy_share(r) for r in rounds)
        is_reference = cell.mode == BASELINE and cell.allocator in ("glibc", GO_ALLOCATOR)
        if target > 0 and is_reference and busy >= BUSY_LIMIT:
            found.append(f"{name(cell)}: {busy:.0%} of its core is busy; the comparison wants less "
                         f"than {BUSY_LIMIT:.0%}. Was the machine busy with something else?")
    return found


def cautions(slices, other_work_share):
    """What makes the latencies doubtful without making the run wrong, as sentences."""
    found = []
    if other_work_share > OTHER_WORK_SHARE_MAX:
        found.append(f"Other programs used {other_work_share:.0%} of this machine's cores during "
                     "the run.")
    late = {}
    for cell, rounds in slices.items():
        lag = median(r["send_lag_us"]["p99"] for r in rounds)
        if lag > max(SEND_LAG_US_MAX, SEND_LAG_SHARE_MAX * over_rounds(rounds)["p99"]):
            late[cell] = lag
    if late:
        worst = max(late, key=late.get)
        found.append(f"In {len(late)} of {len(slices)} cells 1 % of the requests were sent late, "
                     f"at worst by more than {late[worst]:,.0f} us ({name(worst)}). Their "
                     "latencies include that.")
    return found


def name(cell):
    """A cell as text."""
    language = "" if cell.language == "C++" else f"{cell.language}, "
    return f"{cell.workload}, {language}{cell.mode}, {cell.allocator}"
