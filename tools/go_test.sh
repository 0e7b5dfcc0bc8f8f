#!/usr/bin/env bash
# Runs the tests of Go modules, and ends each with one line that .ci/run adds up:
#
#   go test: 123 passed, 0 failed, 1 skipped (go/pb, race)
#
#   tools/go_test.sh plain|race|debug|oldest MODULE...
#
# "oldest" is the oldest Go that the module's go.mod admits, which the go command downloads.
# A package that does not build counts as a failed test. Every module runs, also after a red one.
# GO_TEST_FLAGS holds more flags for `go test`, such as -run=Name, and GOTESTSUM_FLAGS for gotestsum, such
# as --rerun-fails=1. What failed and then passed counts as passed.
set -euo pipefail
cd "$(dirname "$0")/.."

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
    # shellcheck disable=SC2086  # both are lists
    "$root/build/go-tools/gotestsum" --format pkgname-and-test-fails --no-color --jsonfile "$events" \
      --post-run-command "python3 $root/tools/go_test_line.py $module $variant" \
      --packages ./... ${GOTESTSUM_FLAGS:-} -- "${flags[@]}" ${GO_TEST_FLAGS:-}
  ) || status=1
done
exit "$status"
