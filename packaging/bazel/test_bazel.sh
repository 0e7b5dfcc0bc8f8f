#!/usr/bin/env bash
# Builds the targets of cpp/BUILD.bazel with Debian's bazel (bazel-bootstrap) against the system's protobuf and
# gRPC. That bazel knows no modules: MODULE.bazel is not read, these stand-ins take the place of what it names.
#
#   packaging/bazel/test_bazel.sh WORK
set -euo pipefail
work=$(realpath -m "${1:?usage: test_bazel.sh WORK}")
cd "$(dirname "$0")/../.."
rm -rf "$work/source"
mkdir -p "$work/source"
cp -r cpp "$work/source/cpp"
cp -r packaging/bazel/system "$work/source/system"
mv "$work/source/system/WORKSPACE.system" "$work/source/WORKSPACE"
cd "$work/source"
trap 'bazel --output_user_root="$work/cache" shutdown || true' EXIT
bazel --output_user_root="$work/cache" build --compilation_mode=opt --jobs="${JOBS:-2}" \
  --noshow_progress --sandbox_debug=no //cpp:grpc //cpp:protoc-gen-harena
bazel-bin/cpp/protoc-gen-harena --help
