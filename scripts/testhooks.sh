#!/bin/sh
# Examples of what GitHub sends of events, which the tests of internal/forge/github
# decode: from npm into .tools/hooks, the one file of github.com. Does nothing if it
# is there already.
set -eu

version=7.6.1
file=index.json

cd "$(dirname "$0")/.."
[ -z "${PRECEDENT_TEST_WEBHOOKS:-}" ] || exit 0
[ "$(cat .tools/hooks/version 2>/dev/null || true)" != "$version" ] || [ ! -s ".tools/hooks/$file" ] || exit 0

if ! command -v npm >/dev/null 2>&1; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to fetch examples of GitHub's events" >&2
		echo "hint: install Node.js, or set PRECEDENT_TEST_WEBHOOKS to the path of api.github.com/$file of @octokit/webhooks-examples" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
fi

echo "fetching for the tests: examples of GitHub's events $version"
mkdir -p .tools/hooks
tmp=$(mktemp -d .tools/hooks/fetch.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
# pack checks the archive against the registry's hash, and unpacks nothing.
npm pack --silent --pack-destination "$tmp" "@octokit/webhooks-examples@$version" >/dev/null
tar -xzf "$tmp"/*.tgz -C "$tmp" "package/api.github.com/$file"
mv "$tmp/package/api.github.com/$file" ".tools/hooks/$file"
echo "$version" >.tools/hooks/version
