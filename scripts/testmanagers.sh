#!/bin/sh
# The package managers with which the tests of internal/gate fetch: pnpm, yarn 1 and a
# later yarn, from npm into .tools/managers. Does nothing if they are there already.
set -eu

pnpm=10.34.9
yarn=1.22.22
berry=4.18.1

cd "$(dirname "$0")/.."
[ -z "${PRECEDENT_TEST_MANAGERS:-}" ] || exit 0
has() { # folder package version
	grep -qs "\"version\": \"$3\"" ".tools/managers/$1/node_modules/$2/package.json"
}
if has pnpm pnpm $pnpm && has yarn yarn $yarn && has berry @yarnpkg/cli-dist $berry; then
	exit 0
fi

. scripts/npm.sh
need_npm "install pnpm and yarn" \
	"install Node.js, or set PRECEDENT_TEST_MANAGERS to off"

echo "installing for the tests: pnpm $pnpm, yarn $yarn and $berry"
install .tools/managers/pnpm "pnpm@$pnpm"
install .tools/managers/yarn "yarn@$yarn"
install .tools/managers/berry "@yarnpkg/cli-dist@$berry"
