#!/usr/bin/env bash
# Builds the Debian packages of this checkout and the documents of what they are made from (CycloneDX).
#
#   packaging/build_debs.sh OUT [WORK]
#
# OUT gets the packages, WORK (by default OUT/work, emptied first) the sources and everything built. The
# version is CMake's; without the tag of that version it is one that is older than the release. The same
# commit gives the same bytes in every WORK: `make test-reproducible`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [[ $# -lt 1 || $# -gt 2 || "$1" == -* ]]; then
  echo "usage: packaging/build_debs.sh OUT [WORK]" >&2
  exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(realpath -m "${2:-$out/work}")
rm -rf "$work"
cd "$root"

version=$(tools/project_version.sh)
epoch=$(git log -1 --format=%ct)
if [[ $version == *+changed ]]; then
  echo "packages: note: of a tree with changes that are not committed"
fi

source=$work/harena-${version%%[~+]*}
mkdir -p "$source"
git ls-files -z | while IFS= read -r -d '' file; do
  if [[ -e $file ]]; then printf '%s\0' "$file"; fi
done | tar --null --files-from=- --mtime="@$epoch" -c | tar -x -C "$source"
cp -r "$source/packaging/debian" "$source/debian"
maintainer=$(sed -n 's/^Maintainer: //p' "$source/debian/control")
cat >"$source/debian/changelog" <<EOF
harena ($version-1) bookworm; urgency=medium

  * Built from the sources of this version; changelog.gz says what is new.

 -- $maintainer  $(LC_ALL=C date -R -u -d "@$epoch")
EOF

# The Go program, with the Go and the module cache of the caller: the packages of Debian's are too old.
go=$(tools/go_path.sh)
mkdir -p "$source/debian/tools"
(cd "$source/go/cmd/harena" && GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0 "$go" build -trimpath \
  -buildvcs=false -buildmode=pie -ldflags="-s -w -X main.version=$version" -o "$source/debian/tools/harena" .)

# Nothing of the caller's environment but where and when it is.
umask 022
cd "$source"
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" \
  LC_ALL="${LC_ALL:-C.UTF-8}" TZ="${TZ:-UTC}" DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)}" \
  dpkg-buildpackage --build=binary --no-sign
built=(obj-*)
export SOURCE_DATE_EPOCH=$epoch
python3 tools/sbom.py cpp --build-dir "${built[0]}" \
  --out "$work/harena-cpp.cdx.json" debian/libharena-dev/usr/lib/*/*.a \
  debian/protoc-gen-harena/usr/bin/protoc-gen-harena \
  debian/harena-replay/usr/libexec/harena/harena_replay_prepare "${built[0]}/cpp/examples/harena_example_server"
python3 tools/sbom.py go --go "$go" --out "$work/harena-go.cdx.json" go/cmd/harena

rm -f "$out"/*.deb "$out"/*.cdx.json
cp "$work"/*.deb "$work"/*.cdx.json "$out"
(cd "$out" && sha256sum -- *.deb *.cdx.json)
