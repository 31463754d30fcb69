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

if ! command -v npm >/dev/null 2>&1; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to install pnpm and yarn" >&2
		echo "hint: install Node.js, or set PRECEDENT_TEST_MANAGERS to off" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
fi

echo "installing for the tests: pnpm $pnpm, yarn $yarn and $berry"
install() { # folder package
	mkdir -p ".tools/managers/$1"
	npm install --prefix ".tools/managers/$1" --no-save --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error "$2" >/dev/null
}
install pnpm "pnpm@$pnpm"
install yarn "yarn@$yarn"
install berry "@yarnpkg/cli-dist@$berry"
