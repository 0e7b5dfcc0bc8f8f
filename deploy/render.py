#!/usr/bin/env python3
"""Draws the dashboard without Grafana: a real Prometheus scrapes the demo's servers, C++ and Go, under load; each
panel shows what it answers to the panel's queries. Needs prometheus and matplotlib."""

import argparse
import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (the backend has to be chosen first)

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from common.child import Child  # noqa: E402 (the path line above makes it importable)
from common.gotool import build, find_go  # noqa: E402

SCRAPE_SECONDS = 1
VARIABLES = {"$__rate_interval": "10s", "$job": ".*", "$instance": ".*", "$method": ".*"}
# What each server is asked, one after the other, in requests per second.
WORKLOADS = {"ranking_8k": 40, "vehicles": 15, "tile": 5}
COLUMNS = 4


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_prometheus(folder: Path, targets: dict[str, str], stack: contextlib.ExitStack) -> str:
    """Scrapes the targets, by job; returns the address of its API."""
    jobs = [{"job_name": job, "static_configs": [{"targets": [target]}]} for job, target in targets.items()]
    config = {"global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"},
              "rule_files": [str(ROOT / "deploy/prometheus/harena_rules.yaml")], "scrape_configs": jobs}
    path = folder / "prometheus.json"  # JSON is YAML
    path.write_text(json.dumps(config), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    log = stack.enter_context(open(folder / "prometheus.log", "w", encoding="utf-8"))
    process = subprocess.Popen(["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder / 'tsdb'}",
                                f"--web.listen-address={address}"], stdout=log, stderr=log)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return f"http://{address}"


def ask(api: str, path: str, **parameters) -> dict:
    with urllib.request.urlopen(f"{api}{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
        return json.load(answer)["data"]


def load(loader: Path, servers: list[dict], seconds: float) -> None:
    """Each workload for a while, on all servers at once."""
    for workload, qps in WORKLOADS.items():
        commands = [[loader, "--port", server["port"], "--pid", server["pid"], "--workload", workload,
                     "--qps", qps, "--seconds", seconds / len(WORKLOADS)] for server in servers]
        running = [subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) for command in commands]
        if any(process.wait() != 0 for process in running):
            sys.exit(f"the loader failed on {workload}")


def draw(axis, panel: dict, api: str, start: float, end: float) -> int:
    """Returns how many lines there are."""
    lines = 0
    for target in panel["targets"]:
        expression = target["expr"]
        for variable, value in VARIABLES.items():
            expression = expression.replace(variable, value)
        for series in ask(api, "/api/v1/query_range", query=expression, start=start, end=end, step=1)["result"]:
            legend = target["legendFormat"]
            for label, value in series["metric"].items():
                legend = legend.replace("{{" + label + "}}", value.rsplit("/", 1)[-1])
            points = [(float(at) - start, float(value)) for at, value in series["values"]]
            axis.plot(*zip(*points), label=legend, linewidth=1)
            lines += 1
    axis.set_title(f"{panel['title']} ({panel['fieldConfig']['defaults']['unit']})", fontsize=8)
    axis.tick_params(labelsize=6)
    axis.set_ylim(bottom=0)
    axis.set_xlim(0, end - start)
    if lines:
        axis.legend(fontsize=5, loc="upper left")
    else:
        axis.text(0.5, 0.5, "no data", transform=axis.transAxes, ha="center", fontsize=8, color="grey")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    folder = args.out.resolve()
    build(find_go(), folder / "bin", ["demo-server"])
    demo = args.build_dir / "bench/demo"
    with contextlib.ExitStack() as stack:
        common = ("--mode", "codec", "--metrics", "127.0.0.1:0", "--request-bytes-max", 64 << 20)
        servers = {}
        for job, program in {"cpp": demo / "harena_demo_server_codec", "go": folder / "bin/demo-server"}.items():
            child = Child([program, *common])
            stack.callback(child.stop)
            servers[job] = child.answer()
        api = start_prometheus(folder, {job: ready["metrics"] for job, ready in servers.items()}, stack)
        time.sleep(3 * SCRAPE_SECONDS)
        start = time.time()
        load(demo / "harena_demo_loader", list(servers.values()), args.seconds)
        end = time.time()
        panels = [panel for panel in json.loads((ROOT / "deploy/grafana/harena.json").read_text(encoding="utf-8"))
                  ["panels"] if panel["type"] != "row"]
        rows = -(-len(panels) // COLUMNS)
        figure, axes = pyplot.subplots(rows, COLUMNS, figsize=(5 * COLUMNS, 2.6 * rows), layout="constrained")
        for axis in axes.flat[len(panels):]:
            axis.remove()
        with_data = sum(draw(axis, panel, api, start, end) > 0 for axis, panel in zip(axes.flat, panels))
        figure.savefig(folder / "dashboard.png", dpi=90)
        unhealthy = [rule["name"] for group in ask(api, "/api/v1/rules")["groups"] for rule in group["rules"]
                     if rule["health"] != "ok"]
        down = [target["labels"]["job"] for target in ask(api, "/api/v1/targets")["activeTargets"]
                if target["health"] != "up"]
    if unhealthy or down:
        sys.exit(f"dashboard: rules {unhealthy} cannot be evaluated, targets {down} cannot be scraped")
    print(f"dashboard: {with_data} of {len(panels)} panels have data: {folder / 'dashboard.png'}")


if __name__ == "__main__":
    main()
