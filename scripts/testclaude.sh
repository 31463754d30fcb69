#!/bin/sh
# Claude Code, which the tests of internal/engine/claude run against a scripted
# model without a network: from npm into .tools/claude, at the version that the
# engine's comments were measured with. Does nothing if it is there already.
set -eu

version=2.1.197

cd "$(dirname "$0")/.."
[ "$(uname -s)" = Linux ] || exit 0 # elsewhere those tests are not built
[ -z "${PRECEDENT_TEST_CLAUDE:-}" ] || exit 0
case "$(.tools/claude/node_modules/.bin/claude --version 2>/dev/null || true)" in
"$version "*) exit 0 ;;
esac

if ! command -v npm >/dev/null 2>&1; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to install Claude Code" >&2
		echo "hint: install Node.js, or set PRECEDENT_TEST_CLAUDE to the path of claude, or to off" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
fi

echo "installing for the tests: Claude Code $version"
mkdir -p .tools/claude
npm install --prefix .tools/claude --no-save --no-audit --no-fund --no-update-notifier --loglevel=error \
	"@anthropic-ai/claude-code@$version" >/dev/null
.tools/claude/node_modules/.bin/claude --version >/dev/null
