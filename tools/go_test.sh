#!/usr/bin/env bash
# Runs the tests of Go modules, and ends each with one line that .ci/run adds up:
#
#   go test: 123 passed, 0 failed, 1 skipped (go/pb, race)
#
#   tools/go_test.sh plain|race|debug|oldest MODULE...
#
# "oldest" is the oldest Go that the module's go.mod admits, which the go command downloads.
# A package that does not build counts as a failed test. Every module runs, also after a red one.
# GO_TEST_FLAGS holds more flags for `go test`, such as -run=Name.
set -euo pipefail
cd "$(dirname "$0")/.."

# gotestsum calls this when a module is through. Its total leaves out packages that failed as a whole, and
# its failures count them, so that what passed is counted in the events of `go test -json` instead.
if [[ "${1:-}" == "--line" ]]; then
  passed=$(grep -c '^{[^\\]*"Action":"pass",[^\\]*"Test":"' "$GOTESTSUM_JSONFILE") || true
  failed=$TESTS_FAILED
  if [[ $failed -eq 0 && $TESTS_ERRORS -gt 0 ]]; then
    failed=1
  fi
  echo "go test: $passed passed, $failed failed, $TESTS_SKIPPED skipped ($2, $3)"
  exit 0
fi

variant=${1:-}
case $variant in
  plain) flags=() ;;
  race) flags=(-race) ;;
  debug) flags=(-tags=harena_debug) ;;
  oldest) flags=() ;;
  *)
    echo "usage: tools/go_test.sh plain|race|debug|oldest MODULE..." >&2
    exit 2
    ;;
esac
shift

go=$(tools/go_path.sh)
PATH=$(dirname "$go"):$PATH
export PATH GOWORK=off
root=$PWD
"$go" build -C go/tools -o "$root/build/go-tools/" gotest.tools/gotestsum

events=$(mktemp)
trap 'rm -f "$events"' EXIT
status=0
for module in "$@"; do
  (
    cd "$module"
    if [[ $variant == oldest ]]; then
      GOTOOLCHAIN=go$(sed -n 's/^go //p' go.mod)
      export GOTOOLCHAIN
    fi
    # shellcheck disable=SC2086  # GO_TEST_FLAGS is a list
    "$root/build/go-tools/gotestsum" --format pkgname-and-test-fails --no-color --jsonfile "$events" \
      --post-run-command "$root/tools/go_test.sh --line $module $variant" \
      -- "${flags[@]}" ${GO_TEST_FLAGS:-} ./...
  ) || status=1
done
exit "$status"
