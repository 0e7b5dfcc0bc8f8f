#!/bin/bash
# Runs inside of the clean Debian, without a network: replays captured calls of the example's service with what
# apt-get installed, by somebody who may write in their own folder only.
set -euo pipefail
useradd --create-home user
cd /home/user
su user -c 'harena replay /srv/example/capture --proto /srv/example/proto/harena/bench/v1/demo.proto \
  -I /srv/example/proto --quick --rounds 1 --slice-ms 5 --out report' >replay.log 2>&1 || { cat replay.log; exit 1; }
python3 - <<'END'
import json
from pathlib import Path

results = json.loads(Path("report/replay.json").read_text(encoding="utf-8"))
modes = [row["mode"] for row in results["rows"]]
if modes != ["heap", "heap_clear", "arena", "pages", "reuse", "codec"]:
    raise SystemExit(f"packages: harena replay measured {modes}")
page = Path("report/report.html").read_text(encoding="utf-8")
if results["verdict"][0].split()[0] not in page or "Chart.js" not in page:
    raise SystemExit("packages: the report of harena replay lacks its verdict or its charts")
print(f"packages: harena replay measured {len(modes)} modes: {results['verdict'][0]}")
END
