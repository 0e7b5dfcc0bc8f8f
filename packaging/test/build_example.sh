#!/bin/bash
# Runs inside of the clean Debian: builds the README's example against the installed packages, with CMake
# and with pkg-config. Nothing of Harena but what apt-get installed is there.
set -euo pipefail
cd /srv/example
cmake -S . -B by-cmake -DCMAKE_BUILD_TYPE=Release >cmake.log || { cat cmake.log; exit 1; }
cmake --build by-cmake --parallel "$(nproc)"

mkdir -p by-pkg-config/gen
protos=(harena/bench/v1/demo.proto harena/bench/v1/ranking.proto
  transit_realtime/gtfs_realtime.proto vector_tile/vector_tile.proto)
protoc -Iproto --cpp_out=by-pkg-config/gen --harena_out=codec,grpc:by-pkg-config/gen \
  --grpc_out=by-pkg-config/gen --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" "${protos[@]}"
read -ra cflags < <(pkg-config --cflags harena-grpc)
read -ra libs < <(pkg-config --libs harena-grpc)
generated=()
for proto in "${protos[@]}"; do
  generated+=("by-pkg-config/gen/${proto%.proto}.pb.cc")
done
c++ -std=c++20 -O1 -Iby-pkg-config/gen server.cc "${generated[@]}" by-pkg-config/gen/harena/bench/v1/demo.grpc.pb.cc \
  -o by-pkg-config/server "${cflags[@]}" "${libs[@]}"
