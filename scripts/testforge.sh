#!/bin/sh
# GitHub's own OpenAPI description, which the tests of internal/forge/github hold
# every request against: from npm into .tools/forge, one file of the 385 MB that
# the package unpacks to. Does nothing if it is there already.
set -eu

version=23.0.2
file=api.github.com.json

cd "$(dirname "$0")/.."
[ -z "${PRECEDENT_TEST_OPENAPI:-}" ] || exit 0
[ "$(cat .tools/forge/version 2>/dev/null || true)" != "$version" ] || [ ! -s ".tools/forge/$file" ] || exit 0

if ! command -v npm >/dev/null 2>&1; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to fetch GitHub's OpenAPI description" >&2
		echo "hint: install Node.js, or set PRECEDENT_TEST_OPENAPI to the path of $file of @octokit/openapi" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
fi

echo "fetching for the tests: GitHub's OpenAPI description $version"
mkdir -p .tools/forge
tmp=$(mktemp -d .tools/forge/fetch.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
# pack checks the archive against the registry's hash, and unpacks nothing.
npm pack --silent --pack-destination "$tmp" "@octokit/openapi@$version" >/dev/null
tar -xzf "$tmp"/*.tgz -C "$tmp" "package/generated/$file"
mv "$tmp/package/generated/$file" ".tools/forge/$file"
echo "$version" >.tools/forge/version
