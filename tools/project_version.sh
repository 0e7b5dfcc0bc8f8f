#!/usr/bin/env bash
# Prints the version of this checkout: CMake's, and what tells it from the release when it is another commit
# than the release's tag: 0.1.0~git20261122.0123abcd, with +changed for what is not committed.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(harena VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
suffix=
# A folder of sources alone is a release's.
if [[ -e .git ]]; then
  if ! git tag --points-at HEAD | grep -qxF "v$version"; then
    suffix=~git$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y%m%d).$(git rev-parse --short=8 HEAD)
  fi
  if [[ -n $(git status --porcelain --untracked-files=no) ]]; then
    suffix+=+changed
  fi
fi
echo "$version$suffix"
