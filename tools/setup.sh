#!/usr/bin/env bash
# Installs what Harena is built with. Does nothing, quickly, when nothing is missing.
#
#   tools/setup.sh            install the missing Debian packages (as root, or through sudo)
#   tools/setup.sh --list     only name every package
#   tools/setup.sh PACKAGE... these as well, which only some targets need
#   tools/setup.sh --upgrade PACKAGE...  instead: bring these up to date
#
# Elsewhere than on Debian and its relatives it installs nothing: it names what is needed, and fails
# only when one of the tools is really absent. A new enough Go comes from tools/setup_go.sh, on any system.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/versions.env

packages=(
  # build
  build-essential cmake ninja-build ccache pkg-config python3
  # what Harena links to: protobuf and gRPC, with their compilers
  libprotobuf-dev libprotoc-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc libabsl-dev
  # what the exporter links to
  prometheus-cpp-dev
  # the live page
  libboost-dev nlohmann-json3-dev
  # files of settings
  libyaml-cpp-dev
  # tests
  libgtest-dev libgmock-dev librapidcheck-dev python3-grpcio python3-h2
  # benchmarks and the demo: the allocators of the comparison and the report's charts among them
  libbenchmark-dev libcli11-dev libjs-chart.js
  libtcmalloc-minimal4 libjemalloc2 libmimalloc2.0
  # second compiler (sanitizer builds), second linker (one test), formatter, static analysis
  "clang-$CLANG_VERSION" "libclang-rt-$CLANG_VERSION-dev" "clang-format-$CLANG_VERSION"
  "clang-tidy-$CLANG_VERSION" "lld-$CLANG_VERSION"
)
# One program per package group that a build cannot do without.
programs=(c++ cmake ninja pkg-config python3 protoc grpc_cpp_plugin)
# Debian's Go is too old to build with, and new enough to download a newer one. A Go that is there already
# will do as well.
if ! command -v go >/dev/null; then
  packages+=(golang-go ca-certificates)
  programs+=(go)
fi

if [[ "${1:-}" == "--list" ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi
upgrade=()
if [[ "${1:-}" == "--upgrade" && $# -gt 1 ]]; then
  shift
  upgrade=("$@")
elif [[ "${1:-}" == -* ]]; then
  echo "usage: tools/setup.sh [--list | --upgrade PACKAGE... | PACKAGE...]" >&2
  exit 2
else
  packages+=("$@")
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  absent=()
  for program in "${programs[@]}"; do
    command -v "$program" >/dev/null || absent+=("$program")
  done
  if [[ ${#absent[@]} -eq 0 ]]; then
    exec tools/setup_go.sh  # CMake says which library is missing, if one is
  fi
  echo "setup: this is no Debian system. Missing: ${absent[*]}" >&2
  echo "setup: please install what corresponds to these Debian $DEBIAN_RELEASE packages:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 1
fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' "${packages[@]}" 2>/dev/null |
  sed -n 's/^installed \([^:]*\).*/\1/p') || true
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
missing+=("${upgrade[@]}")
if [[ ${#missing[@]} -eq 0 ]]; then
  exec tools/setup_go.sh
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages, and neither root nor sudo to install them. As root:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${missing[@]}"
exec tools/setup_go.sh
