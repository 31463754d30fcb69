#!/bin/sh
# What only make soak needs: Codex and lefthook from npm, into .tools, and as root on Debian Vim and pre-commit. Without
# the last two, their tests are skipped.
set -eu

codex=0.171.0
lefthook=2.2.2

cd "$(dirname "$0")/.."
. scripts/npm.sh
has() { # folder package version
	grep -qs "\"version\": \"$3\"" ".tools/$1/node_modules/$2/package.json"
}

if ! has codex @openai/codex $codex || ! has lefthook lefthook $lefthook; then
	need_npm "install Codex and lefthook" "install Node.js"
	echo "installing for the soak: Codex $codex, lefthook $lefthook"
	install .tools/codex "@openai/codex@$codex"
	install .tools/lefthook "lefthook@$lefthook"
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	for program in vim pre-commit; do
		command -v $program >/dev/null 2>&1 || DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $program
	done
fi
