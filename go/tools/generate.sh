#!/usr/bin/env bash
# Writes the Go code that is checked in for the .proto files; go/tools/protogen/plan.go says what.
#
#   go/tools/generate.sh            write it
#   go/tools/generate.sh --check    only compare; fails and names the files that are stale
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
root=../..
go=$("$root/tools/go_path.sh")
bin=$root/build/go-tools

args=()
if [[ "${1:-}" == "--check" ]]; then
  args=(-check)
elif [[ $# -gt 0 ]]; then
  echo "usage: go/tools/generate.sh [--check]" >&2
  exit 2
fi

mkdir -p "$bin"
"$go" build -o "$bin/" \
  google.golang.org/protobuf/cmd/protoc-gen-go \
  google.golang.org/grpc/cmd/protoc-gen-go-grpc \
  connectrpc.com/connect/cmd/protoc-gen-connect-go \
  github.com/planetscale/vtprotobuf/cmd/protoc-gen-go-vtproto \
  ./protogen
"$bin/protogen" -root "$root" -bin "$bin" "${args[@]}"
