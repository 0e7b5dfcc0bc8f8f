#!/usr/bin/env bash
# Builds the packages twice, in folders of different depth, another time zone, locale and number of jobs, and
# compares what came out, byte by byte.
#
#   packaging/test/test_reproducible.sh WORK
set -euo pipefail
work=$(realpath -m "${1:?usage: test_reproducible.sh WORK}")
cd "$(dirname "$0")/../.."
rm -rf "$work"
JOBS=${JOBS:-2} TZ=UTC LC_ALL=C.UTF-8 packaging/build_debs.sh "$work/first" "$work/a"
(umask 077 && JOBS=1 TZ=Asia/Kathmandu LC_ALL=C \
  packaging/build_debs.sh "$work/second" "$work/another/deeper/folder/of/the/second/build")
sums() { (cd "$1" && sha256sum -- *); }
if ! diff <(sums "$work/first") <(sums "$work/second"); then
  echo "reproducible: the two builds differ: diffoscope $work/first $work/second" >&2
  exit 1
fi
echo "reproducible: $(sums "$work/first" | wc -l) files, the same bytes twice"
