"""The cells of whole RPCs, by grpc-go and by trpc-go: a demo server per mode on one core, a client on
another, requests at a rate that the framework's baseline holds."""

from programs import HERE, BenchError

from common.child import ANSWER_SECONDS, Child
from common.machine import cores

WORKLOADS = ("ranking_200k", "ranking_8k")
MODES = {"grpc": ("heap", "vtproto", "codec"), "trpc": ("heap", "codec")}
BASELINE = "heap"
# The rate aims at this share of the baseline's core.
BUSY_TARGET = 0.55


class Process(Child):
    """A child that prints lines of JSON. It ends with its standard input."""

    failure = BenchError

    def __init__(self, command):
        super().__init__(command, cwd=HERE)


def is_rpc(group):
    """Whether a group is one of these."""
    return group.partition("/")[0] in MODES


def load(command, server, port, group, seconds, qps=0):
    """Loads a server; the client's report with what the server used meanwhile."""
    client = Process([*command, "-port", port, "-cpu", cores()[1],
                      "-workload", group.partition("/")[2], "-seconds", seconds, "-qps", qps])
    try:
        client.answer()
        server.say("usage")
        before = server.answer()
        client.say("go")
        report = client.answer(seconds + ANSWER_SECONDS)
        server.say("usage")
        after = server.answer()
    finally:
        client.stop()
    if report["errors"]:
        raise BenchError(f"{group}: {report['errors']} errors, the first: "
                         f"{report['first_error']}")
    return report, {key: after[key] - before[key] for key in before}, after["rss_peak_bytes"]


def measure(programs, group, mode, seconds, qps=0):
    """One cell on a fresh server; a result in the shape of bench-go's, with latencies besides."""
    framework = group.partition("/")[0]
    server = Process([programs.servers[framework], "--mode", mode, "--cpu", cores()[0]])
    try:
        port = server.answer()["port"]
        report, used, peak = load(programs.loaders[framework], server, port, group, seconds, qps)
    finally:
        server.stop()
    requests = report["requests"]
    return {
        "group": group, "row": mode, "unit": "request", "ops": requests, "units": 1,
        "cpu_ns_per_unit": used["cpu_seconds"] * 1e9 / requests,
        "wall_ns_per_unit": report["p50_us"] * 1e3,
        "gc_cpu_ns_per_unit": used["gc_cpu_seconds"] * 1e9 / requests,
        "allocs_per_op": used["allocations"] / requests,
        "bytes_per_op": used["bytes"] / requests,
        "gcs_per_1000_ops": used["gc_cycles"] * 1000 / requests,
        "rss_peak_bytes": peak,
        **{key: report[key] for key in ("p50_us", "p90_us", "p99_us", "send_lag_p99_us", "qps")},
        "qps_target": qps,
        "busy_share": used["cpu_seconds"] / report["seconds"],
    }


def rate(programs, group, seconds):
    """The rate at which the baseline uses BUSY_TARGET of its core: from its CPU per request with
    one call in flight, then corrected by what an open loop at that rate really used."""
    closed = measure(programs, group, BASELINE, seconds)
    first = BUSY_TARGET * 1e9 / closed["cpu_ns_per_unit"]
    opened = measure(programs, group, BASELINE, seconds, first)
    return first * min(1.0, BUSY_TARGET / opened["busy_share"])


def cells():
    """The cells in the shape of bench-go's list."""
    return [{"group": f"{framework}/{workload}", "row": mode, "unit": "request", "units": 1,
             "missing": ""}
            for framework, modes in MODES.items() for workload in WORKLOADS for mode in modes]
