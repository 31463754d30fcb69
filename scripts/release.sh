#!/bin/sh
# Builds a release: a static program per platform, a bill of materials for each,
# and the checksums, in dist/ or $OUT. The build is reproducible: the same commit
# and Go version give the same SHA256SUMS on any machine.
#
#   sh scripts/release.sh                        all platforms
#   sh scripts/release.sh linux/amd64 …          only these
set -eu

# The program to build; a test builds a smaller one.
PROGRAM=${PROGRAM:-./cmd/precedent}
OUT=${OUT:-dist}
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
GO=${GO:-go}
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 linux/riscv64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
cd "$(dirname "$0")/.."

if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
	echo "release: warning: there are uncommitted changes, and the programs will be marked as modified" >&2
fi

# Ignore build settings from the environment, except whether to stamp the commit:
# archives without .git have none.
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
