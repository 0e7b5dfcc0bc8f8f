#!/usr/bin/env bash
# What Go modules have to hold besides their tests: gofmt, go vet, staticcheck, tidy go.mod files, and a
# core that requires nothing. Says everything that is wrong, then fails.
#
#   tools/go_check.sh MODULE...
set -euo pipefail
cd "$(dirname "$0")/.."

go=$(tools/go_path.sh)
PATH=$(dirname "$go"):$PATH
export PATH GOWORK=off
staticcheck=$PWD/build/go-tools/staticcheck
"$go" build -C go/tools -o "$(dirname "$staticcheck")/" honnef.co/go/tools/cmd/staticcheck

problems=0
complain() {
  echo "go_check: $*" >&2
  problems=$((problems + 1))
}

# Runs a command in a module's folder.
in_module() {
  local module=$1
  shift
  (cd "$module" && "$@") || complain "$module: \`${*/#$PWD\//}\` failed"
}

unformatted=$(gofmt -l "$@" | sort -u)
if [[ -n $unformatted ]]; then
  complain "not in gofmt's format, \`make format\` mends this:"$'\n'"$unformatted"
fi
for module in "$@"; do
  in_module "$module" "$go" mod tidy -diff
  in_module "$module" "$go" vet ./...
  in_module "$module" "$staticcheck" ./...
done
in_module go "$go" vet -tags=harena_debug ./...
in_module go "$staticcheck" -tags=harena_debug ./...

# Whoever takes the arena takes nothing else.
if grep -n '^require' go/go.mod; then
  complain "go/go.mod requires a module: arena and scope need the standard library only"
fi
# The modules agree with each other when go.work joins them.
roots=("${@/#/./}")
roots=("${roots[@]/%//...}")
GOWORK=$PWD/go.work "$go" list -deps "${roots[@]}" >/dev/null || complain "go.work: the modules do not load together"

if [[ $problems -gt 0 ]]; then
  exit 1
fi
echo "go: $# modules, no problem"
