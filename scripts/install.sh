#!/bin/sh
# Installs Precedent for this user: downloads the archive for this machine and the list of checksums, compares them, and
# only then unpacks it. Nothing is run. Read it before you run it.
#
#   sh install.sh                     into ~/.local/bin
#   BIN=/usr/local/bin sh install.sh  elsewhere
#   VERSION=v1.2.3 sh install.sh      a version instead of the last one
#   SUMS=SHA256 sh install.sh         only a release whose SHA256SUMS has this checksum
#   SIGNERS=FILE sh install.sh        check who signed the checksums, too: FILE as in ssh-keygen(1), ALLOWED SIGNERS
set -eu

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

BIN=${BIN:-${HOME:?}/.local/bin}
FROM=${FROM:-https://github.com/precedent-dev/precedent/releases}
if [ -n "${VERSION:-}" ]; then FROM=$FROM/download/$VERSION; else FROM=$FROM/latest/download; fi

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no archive for $(uname -s); see docs/getting-started.md" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
riscv64) arch=riscv64 ;;
*) fail "there is no archive for $(uname -m); see docs/getting-started.md" ;;
esac
archive=precedent-$os-$arch.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

get() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --proto '=https,http' -o "$work/$1" "$FROM/$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$work/$1" "$FROM/$1"
	else
		fail "neither curl nor wget was found"
	fi || fail "$FROM/$1 could not be downloaded"
}

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$work/$1" | cut -d ' ' -f 1
	else
		shasum -a 256 "$work/$1" | cut -d ' ' -f 1
	fi
}

get SHA256SUMS
if [ -n "${SIGNERS:-}" ]; then
	get SHA256SUMS.sig
	ssh-keygen -Y verify -f "$SIGNERS" -I release -n file -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" >/dev/null ||
		fail "the checksums are not signed by the key in $SIGNERS; nothing was installed"
fi
if [ -n "${SUMS:-}" ] && [ "$(sum SHA256SUMS)" != "$SUMS" ]; then
	fail "SHA256SUMS has another checksum than SUMS says; nothing was installed"
fi
get "$archive"
want=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
[ -n "$want" ] || fail "SHA256SUMS does not name $archive; nothing was installed"
[ "$(sum "$archive")" = "$want" ] || fail "$archive has another checksum than SHA256SUMS says; nothing was installed"

mkdir "$work/unpacked"
tar -xzf "$work/$archive" -C "$work/unpacked"
mkdir -p "$BIN"
cp "$work/unpacked"/precedent-*/precedent "$BIN/precedent.new"
chmod 755 "$BIN/precedent.new"
mv -f "$BIN/precedent.new" "$BIN/precedent"
echo "installed $BIN/precedent"
case :$PATH: in
*:"$BIN":*) ;;
*) echo "add $BIN to your PATH" ;;
esac
command -v git >/dev/null 2>&1 || echo "install git 2.38 or newer, which precedent runs"
