#!/usr/bin/env bash
# Runs every safety test and closes with what they counted: tools/test_safety.sh BUILD...
#
# In each build (release, asan, tsan) the tests with ctest's label `safety`; then the Go tests whose names
# begin with TestSafety. All of them run, also after a red one. tools/safety_report.py says how tests count.
# The logs stay in out/safety.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -eq 0 || $1 == -* ]]; then
  sed -n '2,6s/^# //p' "$0"
  exit 2
fi
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
logs=out/safety
rm -rf "$logs"
mkdir -p "$logs"
status=0

for build in "$@"; do
  echo "safety tests: build/$build"
  cmake --build "build/$build" -j "$jobs" --target harena_safety_programs
  # ctest keeps all that passing tests print in its log alone.
  ctest --test-dir "build/$build" -L '^safety$' -j "$jobs" --no-tests=error --output-on-failure \
    --progress || status=1
  cp "build/$build/Testing/Temporary/LastTest.log" "$logs/$build.log"
done

mapfile -t go_tests < <(grep -rl --include='*_test.go' '^func TestSafety' go || true)
if [[ ${#go_tests[@]} -ne 0 ]]; then
  go=$(tools/go_path.sh)
  PATH=$(dirname "$go"):$PATH
  export PATH GOWORK=off
  modules=$(sed -n 's/^\t\.\///p' go.work)
  for module in $modules; do
    # A module's packages are below it, but for those of modules of their own; the go command knows.
    printf '%s\n' "${go_tests[@]}" | grep -q "^$module/" || continue
    log=$logs/${module//\//-}.log
    echo "safety tests: $module"
    (cd "$module" && "$go" test -count=1 -v -run '^TestSafety' ./...) >"$log" 2>&1 || {
      status=1
      cat "$log"
    }
    # It was a deeper module's test that was found.
    grep -q '^=== RUN' "$log" || rm -f "$log"
  done
fi

python3 tools/safety_report.py "$logs"/*.log || status=1
if [[ $status -ne 0 ]]; then
  echo "safety tests: FAILED; the logs are in $logs" >&2
fi
exit "$status"
