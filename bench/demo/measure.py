"""The measurements of a run: calibration, interleaved rounds, allocation counts, saturation."""

import tempfile
import time
from pathlib import Path
from statistics import median

import stats
from plan import BASELINE, BOMB_BYTES_MAX, BUSY_TARGET, GO_ALLOCATOR, Cell
from servers import Server, load, running, send_bomb

CALIBRATE_SECONDS = 0.7
VERIFY_SECONDS = 1.0
COUNT_SECONDS = 0.4


def calibrate(programs, cpus, server):
    """The rate at which heap mode uses BUSY_TARGET of its core: from its CPU per request with one
    call in flight, then corrected by what an open loop at that rate really used."""
    closed = load(programs, server, cpus[1], in_flight=1, seconds=CALIBRATE_SECONDS)
    rate = BUSY_TARGET * 1e6 / stats.cpu_us(closed)
    opened = load(programs, server, cpus[1], qps=rate, seconds=VERIFY_SECONDS)
    return rate * min(1.0, BUSY_TARGET / stats.busy_share(opened))


def measure_workload(programs, cpus, plan, cells, progress):
    """All cells of one workload and language: calibrated once under the first, which is heap, then
    round after round. Returns the slices by cell."""
    workload, language = cells[0].workload, cells[0].language
    seconds = plan.slice_seconds(workload, language)
    slices = {cell: [] for cell in cells}
    with running(programs, cells, cpus[0]) as servers:
        progress.step(f"{workload}: finding the rate of {language}", 2)
        rate = calibrate(programs, cpus, servers[cells[0]])
        for number in range(plan.rounds):
            # Every other round goes backwards, so that no mode always follows the same one.
            for cell in cells if number % 2 == 0 else reversed(cells):
                progress.step(f"{cell.workload} at {rate:.0f}/s: round {number + 1} of {plan.rounds}, "
                              f"{cell.language}, {cell.mode}, {cell.allocator}", seconds)
                slices[cell].append(
                    load(programs, servers[cell], cpus[1], qps=rate, seconds=seconds))
    return slices


def count_allocations(programs, cpus, plan, progress):
    """Heap allocations per request by (workload, mode, language), in runs of their own. In C++ the
    calls are counted before they reach an allocator, so one allocator stands for all."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for workload in plan.workloads:
            for cell in plan.counted(workload):
                progress.step(f"{workload}: counting allocations, {cell.language}, {cell.mode}",
                              COUNT_SECONDS)
                file = Path(folder) / f"{workload}-{cell.mode}-{cell.language}"
                server = Server(programs, cell, cpus[0], count_file=file)
                try:
                    report = load(programs, server, cpus[1], in_flight=1, seconds=COUNT_SECONDS,
                                  warm_up=plan.count_warm_up, alloc_count_file=file)
                finally:
                    server.stop()
                counts[stats.count_key(cell)] = report["heap_allocs_per_request"]
    return counts


def measure_over_budget(programs, cpus, plan, progress):
    """What a request that takes far more memory than it has bytes does to each Go server, and what
    the next call gets. Returns the entries and what was wrong, as sentences."""
    entries, problems = [], []
    for mode in plan.go_modes:
        progress.step(f"over-budget request: {mode}", 2)
        options = ["-request-bytes-max", str(BOMB_BYTES_MAX)] if mode == "codec" else []
        server = Server(programs, Cell("trips", mode, GO_ALLOCATOR, "Go"), cpus[0],
                        options=options)
        try:
            before = server.rss_bytes()
            answer = send_bomb(programs, server)
            entries.append({"language": "Go", "mode": mode, **answer,
                            "request_bytes_max": BOMB_BYTES_MAX if options else None,
                            "rss_before_bytes": before, "rss_peak_bytes": server.rss_peak_bytes()})
        finally:
            server.stop()
        if answer["next_status"] != "OK":
            problems.append(f"over budget, Go, {mode}: the next call got {answer['next_status']}")
        if options and answer["status"] != "ResourceExhausted":
            problems.append(f"over budget, Go, {mode}: the request got {answer['status']}: "
                            f"{answer['message']}")
    return entries, problems


def measure_saturation(programs, cpus, plan, progress):
    """Four calls in flight in interleaved rounds; a burst of 32 in flight; then idle together."""
    cells = [Cell(plan.saturation_workload, mode) for mode in plan.modes]
    slices = {cell: [] for cell in cells}
    memory = {cell: {} for cell in cells}
    with running(programs, cells, cpus[0]) as servers:
        for cell, server in servers.items():
            progress.step(f"saturation: warming up {cell.mode}", 1)
            load(programs, server, cpus[1], in_flight=4, seconds=1)
            memory[cell]["rss_start_bytes"] = server.rss_bytes()
        for number in range(plan.rounds):
            for cell in cells if number % 2 == 0 else reversed(cells):
                progress.step(f"saturation, 4 in flight: round {number + 1} of {plan.rounds}, "
                              f"{cell.mode}", plan.saturation_seconds)
                slices[cell].append(load(programs, servers[cell], cpus[1], in_flight=4,
                                         seconds=plan.saturation_seconds))
        bursts = {}
        for cell, server in servers.items():
            progress.step(f"burst, 32 in flight: {cell.mode}", plan.burst_seconds)
            bursts[cell] = load(programs, server, cpus[1], in_flight=32,
                                seconds=plan.burst_seconds)
            memory[cell]["rss_burst_bytes"] = server.rss_bytes()
        progress.step("idle after the burst", plan.idle_seconds)
        time.sleep(plan.idle_seconds)
        for cell, server in servers.items():
            server.check_alive()
            memory[cell]["rss_idle_bytes"] = server.rss_bytes()
    entries = [saturation_entry(cell, slices, bursts[cell], memory[cell]) for cell in cells]
    both = {cell: [*slices[cell], bursts[cell]] for cell in cells}
    section = {"workload": plan.saturation_workload, "idle_seconds": plan.idle_seconds,
               "entries": entries}
    return section, stats.problems(both)


def saturation_entry(cell, slices, burst, memory):
    """One line of the saturation table."""
    rounds = slices[cell]
    versus = stats.comparison(cell, rounds, slices[Cell(cell.workload, BASELINE)])
    return {
        "mode": cell.mode,
        "qps": round(median(r["qps"] for r in rounds), 1),
        "latency_us": stats.over_rounds(rounds),
        "cpu_us_per_request": round(median(stats.cpu_us(r) for r in rounds), 1),
        "cpu_to_heap": versus["cpu_to_heap"],
        "p99_to_heap": versus["p99_to_heap"],
        **memory,
        "rss_idle_to_start": round(memory["rss_idle_bytes"] / memory["rss_start_bytes"], 3),
        "errors": sum(r["errors"] for r in rounds) + burst["errors"],
    }
