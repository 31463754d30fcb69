#!/bin/sh
# Release builds: a static program for each platform, a bill of materials beside
# it, and the checksums of all of them, in dist/ or $OUT. The same commit and the
# same Go give the same bytes, wherever it is built: compare SHA256SUMS.
#
#   sh scripts/release.sh                        all platforms
#   sh scripts/release.sh linux/amd64 …          these
set -eu

# What is built; a test builds something smaller.
PROGRAM=${PROGRAM:-./cmd/precedent}
OUT=${OUT:-dist}
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
GO=${GO:-go}
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
cd "$(dirname "$0")/.."

if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
	echo "release: there is something uncommitted, and the programs will say so" >&2
fi

# Whatever the environment says about how to build is not for a release, but for
# whether the commit is stamped on it: archives without .git have none.
GOFLAGS=-buildvcs=${BUILDVCS:-auto} GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0 LC_ALL=C
export GOFLAGS GOEXPERIMENT GOAMD64 GOARM64 CGO_ENABLED LC_ALL

mkdir -p "$OUT"
rm -f "$OUT"/precedent-* "$OUT/SHA256SUMS"
sbom=$(mktemp)
trap 'rm -f "$sbom"' EXIT
$GO build -o "$sbom" ./scripts/sbom

for platform in "$@"; do
	os=${platform%/*} arch=${platform#*/} suffix=
	[ "$os" != windows ] || suffix=.exe
	file=precedent-$os-$arch$suffix
	echo "building $file"
	GOOS=$os GOARCH=$arch $GO build -trimpath -ldflags '-s -w' -o "$OUT/$file" "$PROGRAM"
	"$sbom" "$OUT/$file" >"$OUT/precedent-$os-$arch.cdx.json"
done

cd "$OUT"
if command -v sha256sum >/dev/null 2>&1; then
	sha256sum precedent-* >SHA256SUMS
else
	shasum -a 256 precedent-* >SHA256SUMS # macOS
fi
