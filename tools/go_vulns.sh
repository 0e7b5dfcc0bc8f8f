#!/usr/bin/env bash
# Looks for known vulnerabilities in what the Go modules call, with govulncheck and Go's own database.
#
#   tools/go_vulns.sh MODULE...
#
# Fails when one is found. Where the database cannot be reached it says that nothing was checked and
# succeeds; HARENA_VULNS_REQUIRED=1 makes that a failure too, for releases. GOVULNDB names another
# database, such as a local copy: file:///usr/share/vulndb.
# First a vulnerability is planted, which has to be found: a check that finds nothing must be able to.
set -euo pipefail
cd "$(dirname "$0")/.."

go=$(tools/go_path.sh)
PATH=$(dirname "$go"):$PATH
export PATH GOWORK=off
database=()
if [[ -n "${GOVULNDB:-}" ]]; then
  database=(-db "$GOVULNDB")
fi
tool=$PWD/build/go-tools/govulncheck
"$go" build -C go/tools -o "$(dirname "$tool")/" golang.org/x/vuln/cmd/govulncheck

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir "$planted/index" "$planted/ID"
id=GO-2000-0001
cat >"$planted/ID/$id.json" <<END
{"schema_version": "1.3.1", "id": "$id", "modified": "2000-01-01T00:00:00Z", "summary": "planted",
 "database_specific": {"url": "https://pkg.go.dev/vuln/$id"},
 "affected": [{"package": {"name": "google.golang.org/protobuf", "ecosystem": "Go"},
   "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
   "ecosystem_specific": {"imports": [{"path": "google.golang.org/protobuf/proto"}]}}]}
END
echo '{"modified": "2000-01-01T00:00:00Z"}' >"$planted/index/db.json"
echo '[{"path": "google.golang.org/protobuf", "vulns": [{"id": "'$id'", "modified": "2000-01-01T00:00:00Z"}]}]' \
  >"$planted/index/modules.json"
status=0
found=$(cd go/pb && "$tool" -db "file://$planted" -scan package ./... 2>&1) || status=$?
if [[ $status -ne 3 || $found != *$id* ]]; then
  echo "go_vulns: govulncheck did not find the planted vulnerability (exit code $status):" >&2
  head -n 20 <<<"$found" >&2
  exit 1
fi

failed=()
for module in "$@"; do
  status=0
  answer=$(cd "$module" && "$tool" "${database[@]}" ./... 2>&1) || status=$?
  if [[ $status -eq 0 ]]; then
    continue
  elif [[ $answer == *"fetching vulnerabilities"* ]]; then
    echo "go_vulns: the database of vulnerabilities cannot be reached: NO Go module was checked for known vulnerabilities"
    echo "  ($answer)"
    [[ -z "${HARENA_VULNS_REQUIRED:-}" ]]
    exit
  fi
  failed+=("$module")
  printf 'go_vulns: %s (exit code %d)\n%s\n' "$module" "$status" "$answer" >&2
done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "go_vulns: red: ${failed[*]}" >&2
  exit 1
fi
echo "go_vulns: $# modules, no vulnerability known"
