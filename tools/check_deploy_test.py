#!/usr/bin/env python3
"""Shows broken dashboards and rules to the check and sees each reported."""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_deploy  # noqa: E402 (the path line above makes it importable)


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed: `make check-deploy` installs it")
class CheckDeployTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(check_deploy.ROOT / "deploy", self.root / "deploy")
        (self.root / "docs").mkdir()
        shutil.copy(check_deploy.ROOT / "docs/metrics.md", self.root / "docs/metrics.md")

    def problems_with(self, file, old, new):
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")
        return check_deploy.check(self.root)[0]

    def test_what_is_here_is_right(self):
        problems, count = check_deploy.check(self.root)
        self.assertEqual(problems, [])
        self.assertGreater(count, 30)

    def test_every_alert_and_every_panel_is_looked_at(self):
        rules = (self.root / "deploy/prometheus/harena_rules.yaml").read_text(encoding="utf-8")
        self.assertEqual(len(check_deploy.rule_expressions(rules)), rules.count("- alert:"))
        dashboard = json.loads((self.root / "deploy/grafana/harena.json").read_text(encoding="utf-8"))
        panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
        self.assertGreaterEqual(len(check_deploy.dashboard_expressions(dashboard)), len(panels))

    def test_a_metric_that_is_gone(self):
        found = self.problems_with("docs/metrics.md", "| `harena_scope_overflows_total`", "| `harena_other_total`")
        self.assertIn("harena_scope_overflows_total is no metric", found[0])

    def test_a_metric_that_an_alert_invents(self):
        found = self.problems_with("deploy/prometheus/harena_rules.yaml", "harena_stale_writes_total",
                                   "harena_late_writes_total")
        self.assertIn("harena_late_writes_total is no metric", found[0])

    def test_a_histogram_without_its_suffix(self):
        found = self.problems_with("deploy/grafana/harena.json", "harena_scope_used_bytes_bucket",
                                   "harena_scope_used_bytes")
        self.assertIn("harena_scope_used_bytes is no metric", found[0])

    def test_a_label_that_the_metric_has_not(self):
        found = self.problems_with("deploy/grafana/harena.json", "sum by (pool, state)", "sum by (pool, place)")
        self.assertIn("the label place", found[0])

    def test_an_expression_that_prometheus_cannot_read(self):
        found = self.problems_with("deploy/grafana/harena.json", "sum by (pool, state) (", "sum by (pool, state) ((")
        self.assertIn("promtool check rules dashboard.yaml", found[0])

    def test_an_alert_that_never_fires(self):
        found = self.problems_with("deploy/prometheus/harena_rules.yaml",
                                   "(harena_scopes_detached_oldest_seconds) > 600",
                                   "(harena_scopes_detached_oldest_seconds) > 6000")
        self.assertIn("promtool test rules", found[0])


if __name__ == "__main__":
    unittest.main()
