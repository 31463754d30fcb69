#!/bin/sh
# What reads our formats in the tests of internal/report: Microsoft's SARIF
# Multitool, from npm into .tools/sarif, and reviewdog's own parser, built into
# .tools/reviewdog at the version of internal/report/testdata/reviewdog/go.mod.
# Does nothing if they are there already.
set -eu

version=5.7.0

cd "$(dirname "$0")/.."

if [ -z "${PRECEDENT_TEST_REVIEWDOG:-}" ]; then
	source=internal/report/testdata/reviewdog
	if [ ! -x .tools/reviewdog ] || [ -n "$(find "$source" -newer .tools/reviewdog -type f)" ]; then
		echo "building for the tests: reviewdog's parser"
		mkdir -p .tools
		(cd "$source" && go build -mod=readonly -buildvcs=false -o "$OLDPWD/.tools/reviewdog" .)
		touch .tools/reviewdog
	fi
fi

[ -z "${PRECEDENT_TEST_SARIF:-}" ] || exit 0
! grep -qs "\"version\": \"$version\"" .tools/sarif/node_modules/@microsoft/sarif-multitool/package.json || exit 0

if ! command -v npm >/dev/null 2>&1; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to install the SARIF Multitool" >&2
		echo "hint: install Node.js, or set PRECEDENT_TEST_SARIF to the path of sarif-multitool, or to off" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
fi

echo "installing for the tests: SARIF Multitool $version"
mkdir -p .tools/sarif
npm install --prefix .tools/sarif --no-save --no-audit --no-fund --no-update-notifier --loglevel=error \
	"@microsoft/sarif-multitool@$version" >/dev/null
.tools/sarif/node_modules/.bin/sarif-multitool version >/dev/null
