#!/bin/sh
# GitHub's own descriptions of what it takes, which the tests of
# internal/forge/github hold every request against: of its REST API (one file of
# the 385 MB that the package unpacks to) and the schema of its GraphQL. From npm
# into .tools/forge. Does nothing about what is there already.
set -eu

openapi=23.0.2
graphql=15.26.1

cd "$(dirname "$0")/.."

need_npm() {
	! command -v npm >/dev/null 2>&1 || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to fetch GitHub's descriptions" >&2
		echo "hint: install Node.js, or set PRECEDENT_TEST_OPENAPI to the path of api.github.com.json of @octokit/openapi" >&2
		echo "hint: and PRECEDENT_TEST_GRAPHQL to that of schema.graphql of @octokit/graphql-schema" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
}

# fetch PACKAGE VERSION PATH: one file of a package, unless it is there.
fetch() {
	file=$(basename "$3")
	[ "$(cat ".tools/forge/$file.version" 2>/dev/null || true)" != "$2" ] || [ ! -s ".tools/forge/$file" ] || return 0
	need_npm
	echo "fetching for the tests: $1 $2"
	mkdir -p .tools/forge
	tmp=$(mktemp -d .tools/forge/fetch.XXXXXX)
	trap 'rm -rf "$tmp"' EXIT
	# pack checks the archive against the registry's hash, and unpacks nothing.
	npm pack --silent --pack-destination "$tmp" "$1@$2" >/dev/null
	tar -xzf "$tmp"/*.tgz -C "$tmp" "package/$3"
	mv "$tmp/package/$3" ".tools/forge/$file"
	echo "$2" >".tools/forge/$file.version"
	rm -rf "$tmp"
}

[ -n "${PRECEDENT_TEST_OPENAPI:-}" ] || fetch @octokit/openapi "$openapi" generated/api.github.com.json
[ -n "${PRECEDENT_TEST_GRAPHQL:-}" ] || fetch @octokit/graphql-schema "$graphql" schema.graphql
