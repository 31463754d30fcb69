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

. scripts/npm.sh
need_npm "fetch examples of GitHub's events" \
	"install Node.js, or set PRECEDENT_TEST_WEBHOOKS to the path of api.github.com/$file of @octokit/webhooks-examples"

echo "fetching for the tests: examples of GitHub's events $version"
fetch_file .tools/hooks @octokit/webhooks-examples "$version" "api.github.com/$file"
echo "$version" >.tools/hooks/version
