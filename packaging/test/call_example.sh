#!/bin/bash
# Runs inside of the clean Debian, with no network but its own loopback: each server answers one call.
set -euo pipefail
cd /srv/example
for server in by-cmake by-pkg-config; do
  "$server/server" 2>"$server.log" &
  pid=$!
  result=0
  by-cmake/client || result=$?
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  if [[ $result -ne 0 ]]; then
    cat "$server.log"
    echo "packages: the server built $server did not answer" >&2
    exit 1
  fi
  echo "packages: the README's server, built $server, answered a call"
done
