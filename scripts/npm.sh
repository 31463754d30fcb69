# Functions for the scripts that get something from npm, which source this file in the root of the project.

# need_npm PURPOSE HINT...: installs npm if it is not there, as root on Debian, or says what is missing.
need_npm() {
	! command -v npm >/dev/null 2>&1 || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "missing for the tests: npm, to $1" >&2
		shift
		printf 'hint: %s\n' "$@" >&2
		exit 1
	fi
	echo "installing for the tests: nodejs npm"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nodejs npm >/dev/null
}

# install_scripted FOLDER PACKAGE...: installs packages of npm into a folder, and runs their scripts.
install_scripted() {
	folder=$1
	shift
	mkdir -p "$folder"
	npm install --prefix "$folder" --no-save --no-audit --no-fund --no-update-notifier --loglevel=error "$@" >/dev/null
}

# install FOLDER PACKAGE...: does it without running scripts of the packages.
install() { install_scripted "$@" --ignore-scripts; }

# fetch_file FOLDER PACKAGE VERSION PATH: puts one file of a package into a folder. pack checks the archive
# against the registry's hash, and unpacks nothing.
fetch_file() {
	mkdir -p "$1"
	tmp=$(mktemp -d "$1/fetch.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	npm pack --silent --pack-destination "$tmp" "$2@$3" >/dev/null
	tar -xzf "$tmp"/*.tgz -C "$tmp" "package/$4"
	mv "$tmp/package/$4" "$1/"
	rm -rf "$tmp"
}
