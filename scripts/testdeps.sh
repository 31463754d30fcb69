#!/bin/sh
# What the tests need beyond Go: git, a C compiler for the race detector, SQLite's
# command for backups, and on Linux bubblewrap for the sandbox, systemd-analyze for the unit, rpm
# for the packages, Chromium for the pages, and PostgreSQL, whose programs Debian keeps off PATH.
# As root on Debian it installs what is missing. Elsewhere it only lists it and fails,
# because tests that are silently skipped prove nothing.
set -eu

missing=
need() { # program, Debian package
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need go golang
need git git
need gcc gcc
[ "$(uname)" != Linux ] || need bwrap bubblewrap
[ "$(uname)" != Linux ] || [ "${PRECEDENT_TEST_CHROMIUM:-}" = off ] || need chromium chromium
[ "$(uname)" != Linux ] || [ "${PRECEDENT_TEST_RPM:-}" = off ] || need rpm rpm
[ "$(uname)" != Linux ] || [ "${PRECEDENT_TEST_SYSTEMD:-}" = off ] || need systemd-analyze systemd
if [ "${PRECEDENT_TEST_POSTGRESQL:-}" != off ] && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
	need initdb postgresql
fi
# cgo needs the C library's headers beside the compiler.
if command -v gcc >/dev/null 2>&1 && ! echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1; then
	missing="$missing libc6-dev"
fi

[ -n "$missing" ] || exit 0

case "$missing" in *golang*)
	echo "missing: Go 1.26 or newer (https://go.dev/dl)" >&2
	exit 1
	;;
esac
case "$missing" in *gcc*) missing="$missing libc6-dev" ;; esac

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing for the tests:$missing"
	apt-get update -q
	# shellcheck disable=SC2086 # a list of package names
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
	exit 0
fi
echo "missing for the tests:$missing" >&2
echo "hint: on Debian or Ubuntu: sudo apt-get install$missing" >&2
exit 1
