#!/usr/bin/env python3
"""Holds deploy/ against docs/metrics.md: every expression of the dashboard and of the alert rules names metrics and
labels that exist, and is one that Prometheus understands; the rules pass their tests. Needs promtool."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Those of Prometheus itself, and of histograms.
GIVEN_LABELS = {"job", "instance", "le"}
COMMON_LABELS = {"## Per method": {"framework", "method", "server"}, "## Per page pool": {"pool"}}
# What Grafana puts in.
VARIABLES = {"$__rate_interval": "1m", "$job": ".*", "$instance": ".*", "$method": ".*"}


def read_metrics(page: str) -> dict[str, set[str]]:
    """The names that a scrape may show, with their labels."""
    metrics: dict[str, set[str]] = {}
    common: set[str] = set()
    for line in page.splitlines():
        if line.startswith("## "):
            common = COMMON_LABELS.get(line, set())
        if not line.startswith("| `harena_"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        labels = common | set(re.findall(r"`([^`]+)`", cells[4]))
        name = cells[1].strip("`")
        suffixes = ("_bucket", "_sum", "_count") if cells[2] == "histogram" else ("",)
        metrics |= {name + suffix: labels for suffix in suffixes}
    return metrics


def dashboard_expressions(dashboard: dict) -> list[str]:
    targets = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    return targets + [match for variable in dashboard["templating"]["list"] if variable["type"] == "query"
                      for match in re.findall(r"label_values\((\w+),", variable["definition"])]


def rule_expressions(rules: str) -> list[str]:
    """Of a file of rules, whose expressions are on one line or in a block of more deeply indented ones."""
    found = re.findall(r"^( +)expr: (?:\|\n((?:\1  .*\n)+)|(.+)\n)", rules, re.MULTILINE)
    return [block or line for _, block, line in found]


def labels_in(expression: str) -> set[str]:
    lists = re.findall(r"\b(?:by|on|without|ignoring|group_left|group_right) *\(([^)]*)\)", expression)
    matchers = re.findall(r"(\w+) *(?:=~|!~|!=|=)", " ".join(re.findall(r"\{([^}]*)\}", expression)))
    return {label.strip() for names in lists for label in names.split(",") if label.strip()} | set(matchers)


def problems_of(expression: str, metrics: dict[str, set[str]]) -> list[str]:
    names = set(re.findall(r"\bharena_\w+", expression))
    problems = [f"{name} is no metric of docs/metrics.md: {expression}" for name in sorted(names - metrics.keys())]
    if not names:
        problems.append(f"no metric of Harena's: {expression}")
    known = GIVEN_LABELS.union(*(metrics[name] for name in names & metrics.keys()))
    return problems + [f"no metric of it has the label {label}: {expression}"
                       for label in sorted(labels_in(expression) - known)]


def promtool(*arguments: str, cwd: Path) -> list[str]:
    done = subprocess.run(["promtool", *arguments], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return [] if done.returncode == 0 else [f"promtool {' '.join(arguments)}:\n{done.stdout}"]


def syntax_problems(expressions: list[str]) -> list[str]:
    """What promtool says of the dashboard's expressions as if they were rules."""
    lines = ["groups:", "  - name: dashboard", "    rules:"]
    for number, expression in enumerate(expressions):
        for variable, value in VARIABLES.items():
            expression = expression.replace(variable, value)
        lines += [f"      - record: expression_{number}", f"        expr: {json.dumps(expression)}"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "dashboard.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return promtool("check", "rules", "dashboard.yaml", cwd=Path(folder))


def check(root: Path) -> tuple[list[str], int]:
    metrics = read_metrics((root / "docs/metrics.md").read_text(encoding="utf-8"))
    shown = dashboard_expressions(json.loads((root / "deploy/grafana/harena.json").read_text(encoding="utf-8")))
    rules = root / "deploy/prometheus"
    alerts = rule_expressions((rules / "harena_rules.yaml").read_text(encoding="utf-8"))
    problems = [problem for expression in shown + alerts for problem in problems_of(expression, metrics)]
    problems += syntax_problems(shown)
    problems += promtool("check", "rules", "harena_rules.yaml", cwd=rules)
    problems += promtool("test", "rules", "harena_rules_test.yaml", cwd=rules)
    return problems, len(shown) + len(alerts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    problems, count = check(parser.parse_args().root)
    for problem in problems:
        print(f"check_deploy: {problem}", file=sys.stderr)
    if not problems:
        print(f"deploy: {count} expressions, no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
