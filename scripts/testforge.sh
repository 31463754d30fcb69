#!/bin/sh
# GitHub's own descriptions of what it takes, which the tests of
# internal/forge/github hold every request against: of its REST API (one file of
# the 385 MB that the package unpacks to) and the schema of its GraphQL. From npm
# into .tools/forge. Does nothing about what is there already.
set -eu

openapi=23.0.2
graphql=15.26.1

cd "$(dirname "$0")/.."

. scripts/npm.sh

# fetch PACKAGE VERSION PATH: one file of a package, unless it is there.
fetch() {
	file=$(basename "$3")
	[ "$(cat ".tools/forge/$file.version" 2>/dev/null || true)" != "$2" ] || [ ! -s ".tools/forge/$file" ] || return 0
	need_npm "fetch GitHub's descriptions" \
		"install Node.js, or set PRECEDENT_TEST_OPENAPI to the path of api.github.com.json of @octokit/openapi" \
		"and PRECEDENT_TEST_GRAPHQL to that of schema.graphql of @octokit/graphql-schema"
	echo "fetching for the tests: $1 $2"
	fetch_file .tools/forge "$1" "$2" "$3"
	echo "$2" >".tools/forge/$file.version"
}

[ -n "${PRECEDENT_TEST_OPENAPI:-}" ] || fetch @octokit/openapi "$openapi" generated/api.github.com.json
[ -n "${PRECEDENT_TEST_GRAPHQL:-}" ] || fetch @octokit/graphql-schema "$graphql" schema.graphql
