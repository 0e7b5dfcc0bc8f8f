#!/usr/bin/env bash
# Gets a Go toolchain into build/go-toolchain when none on the PATH is new enough; see go_path.sh.
#
#   tools/setup_go.sh [GO]    GO: any Go since 1.11 to download with (default: `go` on the PATH)
#
# Go publishes its toolchains as modules, so an old Go, such as Debian's, can download a new one like
# any other module: through the same proxy, and checked against the same public checksum database. The
# files stay in the module cache; build/go-toolchain is a link to them.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/versions.env

toolchain=$GO_TOOLCHAIN
link=build/go-toolchain
bootstrap=${1:-go}

if [[ -z "${1:-}" ]] && tools/go_path.sh >/dev/null 2>&1; then
  exit 0
fi

# From a folder without go.mod: the module is named in full, and nobody's go.mod is asked.
empty=$(mktemp -d)
trap 'rmdir "$empty"' EXIT
module=golang.org/toolchain@v0.0.1-$toolchain.$("$bootstrap" env GOHOSTOS)-$("$bootstrap" env GOHOSTARCH)
echo "setup: downloading $module"
answer=$(cd "$empty" && GO111MODULE=on GOWORK=off GOFLAGS='' "$bootstrap" mod download -json "$module")
folder=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])' <<<"$answer")

# Modules hold neither executable bits nor nested go.mod files. A newer Go mends both by itself when it
# switches toolchains, in this same way; an old one does not know how.
while IFS= read -r renamed; do
  chmod u+w "$(dirname "$renamed")"
  cp -f "$renamed" "$(dirname "$renamed")/go.mod"
done < <(find "$folder" -name _go.mod)
chmod -R +x "$folder/bin" "$folder/pkg/tool"

mkdir -p build
ln -sfn "$folder" "$link"
"$link/bin/go" version
