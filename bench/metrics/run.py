#!/usr/bin/env python3
"""What looking at a server costs it: CPU per RPC of the demo's servers, C++ and Go, while their metrics are
scraped and their live page is open, against the same server that nobody looks at.

Counting itself has no switch: it is in both. What it takes of an RPC is told beside, from what a scope of a
method costs more than one that counts nothing (scope_bench); C++ only. Both are shares of the server's CPU.

Two servers of a language run side by side, pinned to one core; slices of load go to them in turn, and only the
one that is looked at gets a scrape and what the page asks for, each second. A round's ratio is of its two
slices; told is the median of the rounds with its 95 % interval. Exit code 1 when a server gave wrong answers."""

import argparse
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from statistics import median

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "live")]
from common.child import Child, ChildError  # noqa: E402
from common.gotool import GoMissing  # noqa: E402
from common.machine import OtherWork, cores, machine  # noqa: E402
from intervals import median_interval  # noqa: E402
from live_servers import LANGUAGES, server_program  # noqa: E402

WORKLOADS = ("ranking_8k", "ranking_200k")
ANSWER_SECONDS = 5
# More than this share of the machine used by others disturbs the comparison.
OTHER_WORK_SHARE_MAX = 0.05


class Looking(threading.Thread):
    """A scrape and what an open page asks for, each second, until stop()."""

    def __init__(self, ready):
        super().__init__(daemon=True)
        page = f"http://{ready['live']}/harena/api"
        self._urls = [f"http://{ready['metrics']}/metrics", f"{page}/status", f"{page}/timeline"]
        self._over = threading.Event()
        self.rounds, self.failed = 0, None

    def run(self):
        """Asks, and waits for the next second."""
        try:
            while not self._over.is_set():
                for url in self._urls:
                    with urllib.request.urlopen(url, timeout=ANSWER_SECONDS) as answer:
                        answer.read()
                self.rounds += 1
                self._over.wait(1)
        except (OSError, urllib.error.URLError) as error:
            self.failed = error

    def stop(self):
        """Ends it. Raises when an answer failed to come, or none was asked for."""
        self._over.set()
        self.join()
        if self.failed or not self.rounds:
            raise ChildError(f"the server's metrics or page: {self.failed or 'never asked for'}")


class Subject:
    """A server, and how load is sent to it."""

    def __init__(self, arguments, language, looked_at):
        self._loader = Path(arguments.build_dir) / "bench/demo/harena_demo_loader"
        self.looked_at = looked_at
        watched = ["--live", "127.0.0.1:0", "--metrics", "127.0.0.1:0"] if looked_at else []
        self.child = Child([server_program(language, arguments.build_dir), "--mode", "codec",
                            "--cpu", cores()[0], "--request-bytes-max", 64 << 20, *watched])
        self.ready = self.child.answer()

    def slice(self, workload, qps, seconds):
        """CPU microseconds per RPC under so much load."""
        looking = Looking(self.ready) if self.looked_at else None
        if looking:
            looking.start()
        done = subprocess.run(
            [self._loader, "--port", str(self.ready["port"]), "--pid", str(self.ready["pid"]),
             "--cpu", str(cores()[1]), "--workload", workload, "--qps", str(qps), "--seconds",
             str(seconds)], capture_output=True, text=True, check=False, timeout=seconds + 120)
        if looking:
            looking.stop()
        if done.returncode:
            raise ChildError(f"loader for {workload}: {done.stderr.strip()[-2000:]}")
        report = json.loads(done.stdout)
        if report["errors"]:
            raise ChildError(f"{workload}: {report['errors']} errors, the first: {report['first_error']}")
        return report["server_cpu_seconds"] * 1e6 / len(report["latencies_us"])


def compare(arguments, language, workload):
    """The slices of both servers, round by round."""
    subjects = [Subject(arguments, language, looked_at) for looked_at in (False, True)]
    try:
        for subject in subjects:  # warm-up
            subject.slice(workload, arguments.qps[workload], min(2, arguments.seconds))
        rounds = []
        for number in range(arguments.rounds):
            order = subjects if number % 2 == 0 else subjects[::-1]
            cpu = {s.looked_at: s.slice(workload, arguments.qps[workload], arguments.seconds)
                   for s in order}
            rounds.append((cpu[False], cpu[True]))
        return rounds
    finally:
        for subject in subjects:
            subject.child.stop()


def counting_ns(build_dir):
    """What a method's counting adds to a scope, by scope_bench, in nanoseconds of CPU."""
    names = ("scope_one_page/harena", "scope_pool/harena")
    out = subprocess.run(
        [Path(build_dir) / "cpp/harena/scope/scope_bench", "--benchmark_format=json",
         f"--benchmark_filter=^({'|'.join(names)})$", "--benchmark_repetitions=9",
         "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.05"],
        capture_output=True, text=True, check=True).stdout
    times = {name: [] for name in names}
    for row in json.loads(out)["benchmarks"]:
        if row["run_type"] == "iteration":
            times[row["run_name"]].append(row["cpu_time"])
    alone, counted = (median(times[name]) for name in names)
    return max(0.0, counted - alone)


def row(language, workload, rounds, counting):
    """A line of the results."""
    ratios = [looked_at / alone for alone, looked_at in rounds]
    low, high = median_interval(ratios)
    cpu = median(alone for alone, _ in rounds)
    share = counting / 1000 / cpu if language == "c++" else None
    return {"language": language, "workload": workload, "cpu_us": cpu, "ratio": median(ratios), "ratio_low": low,
            "ratio_high": high, "rounds": rounds, "counting_share": share}


def show(rows, counting, other_work):
    """The results as a table in Markdown."""
    print("\n| server | workload | CPU µs per RPC | looked at / not | 95 % interval | counting |\n|---|---|--:|--:|--:|--:|")
    for r in rows:
        share = "" if r["counting_share"] is None else f"{100 * r['counting_share']:.3f} %"
        print(f"| {r['language']} | {r['workload']} | {r['cpu_us']:,.1f} | {r['ratio']:.4f} | "
              f"{r['ratio_low']:.4f} to {r['ratio_high']:.4f} | {share} |")
    print(f"\n{len(rows[0]['rounds'])} rounds. Counting adds {counting:.0f} ns to a scope (C++).")
    if other_work > OTHER_WORK_SHARE_MAX:
        print(f"Others used {100 * other_work:.0f} % of the machine meanwhile: these numbers are worth little.")


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", default="build/release")
    parser.add_argument("--out", default="out/bench/metrics.json")
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=10, help="of a slice")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 2 seconds, to see that it works")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.seconds = 3, 2
    arguments.qps = dict(zip(WORKLOADS, (1500, 100)))
    return arguments


def main():
    arguments = parse()
    others = OtherWork()
    counting = counting_ns(arguments.build_dir)
    rows = []
    try:
        for language in arguments.languages:
            for workload in WORKLOADS:
                print(f"{language}, {workload} ...", file=sys.stderr, flush=True)
                rows.append(row(language, workload, compare(arguments, language, workload), counting))
    except (ChildError, GoMissing) as error:
        sys.exit(f"bench-metrics: {error}")
    other_work = others.share()
    out = Path(arguments.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"machine": machine(cores()), "counting_ns": counting, "other_work": other_work,
                               "rows": rows}, indent=1) + "\n", encoding="utf-8")
    show(rows, counting, other_work)


if __name__ == "__main__":
    main()
