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

. scripts/npm.sh
need_npm "install Claude Code" \
	"install Node.js, or set PRECEDENT_TEST_CLAUDE to the path of claude, or to off"

echo "installing for the tests: Claude Code $version"
install_scripted .tools/claude "@anthropic-ai/claude-code@$version"
.tools/claude/node_modules/.bin/claude --version >/dev/null
