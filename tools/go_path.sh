#!/usr/bin/env bash
# Prints the path of the Go program to use: $GO when it is set, else `go` on the PATH, else
# build/go-toolchain. It has to be new enough for go.work: fails when it is not; `make setup` gets one.
set -euo pipefail
cd "$(dirname "$0")/.."

# `go env` itself refuses a go.work that wants a newer version, unless it may switch to that version.
is_new_enough() {
  local needed version
  needed=$(sed -n 's/^go //p' go.work)
  version=$(unset GOWORK; "$1" env GOVERSION 2>/dev/null) || return 1
  version=${version#go}
  [[ $(printf '%s\n' "$needed" "${version%% *}" | sort -V | head -n 1) == "$needed" ]]
}

candidates=(go "$PWD/build/go-toolchain/bin/go")
if [[ -n "${GO:-}" ]]; then
  candidates=("$GO")
fi
for candidate in "${candidates[@]}"; do
  if path=$(command -v "$candidate") && is_new_enough "$path"; then
    echo "$path"
    exit 0
  fi
done
echo "go_path: no Go $(sed -n 's/^go //p' go.work) or newer (${candidates[*]}): run \`make setup\`" >&2
exit 1
