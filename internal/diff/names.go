package diff

import (
	"path"
	"slices"
	"strings"
)

// lockNames are files in which package managers pin resolved versions. Names are
// exact: "cargo.lock" is not a lock file.
var lockNames = nameSet(
	// JavaScript
	"package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-lock.yml bun.lock bun.lockb deno.lock",
	"jspm.lock",
	// Go
	"go.sum go.work.sum Gopkg.lock glide.lock",
	// Rust, C, C++, Zig
	"Cargo.lock Cargo.toml.orig conan.lock vcpkg-lock.json esy.lock",
	// Python
	"poetry.lock Pipfile.lock pdm.lock uv.lock pixi.lock conda-lock.yml conda-lock.yaml requirements.lock",
	"requirements-dev.lock pylock.toml",
	// Ruby, PHP, Perl
	"Gemfile.lock gems.locked Berksfile.lock Puppetfile.lock Policyfile.lock.json composer.lock symfony.lock",
	"cpanfile.snapshot carton.lock",
	// JVM, Android, .NET
	"gradle.lockfile buildscript-gradle.lockfile settings-gradle.lockfile maven_install.json packages.lock.json",
	"paket.lock project.lock.json build.sbt.lock",
	// Swift, Objective-C, Dart
	"Podfile.lock Cartfile.resolved Package.resolved Package.pins Mintfile.lock pubspec.lock",
	// Erlang, Elixir, Gleam, Haskell, OCaml, PureScript, Elm, Nim, D, Crystal, Lean, Julia, R, Lua
	"mix.lock rebar.lock stack.yaml.lock cabal.project.freeze spago.lock nimble.lock dub.selections.json",
	"shard.lock lake-manifest.json Manifest.toml JuliaManifest.toml renv.lock packrat.lock luarocks.lock",
	"lazy-lock.json",
	// Blockchain languages
	"Move.lock Scarb.lock soldeer.lock foundry.lock",
	// Nix, infrastructure, build systems, tools
	"flake.lock devenv.lock devbox.lock npins.json .terraform.lock.hcl Chart.lock helmfile.lock",
	"MODULE.bazel.lock WORKSPACE.bazel.lock buf.lock Brewfile.lock.json aqua-checksums.json mise.lock prek.lock",
	"apm.lock.yaml",
)

// lockPatterns match lock files with varying names.
var lockPatterns = pattern(`^(` +
	`.*\.opam\.locked` + // OCaml
	`|pylock\..+\.toml` + // PEP 751
	`|Manifest-v\d+(\.\d+)*\.toml` + // Julia, one for each version
	`|mise\..+\.lock|.*\.gradle\.lockfile|conda-.*-lock\.ya?ml)$`)

// IsLock reports whether a file is, by its name, one in which a package manager pins versions.
func IsLock(name string) bool {
	base := path.Base(name)
	return lockNames[base] || lockPatterns().MatchString(base) || strings.HasPrefix(name, "gradle/dependency-locks/")
}

// vendoredDirs are folders with third-party code, anywhere in the tree.
var vendoredDirs = nameSet(
	"node_modules bower_components jspm_packages web_modules", // JavaScript
	"third_party third-party thirdparty ThirdParty 3rdparty 3rd-party 3rd_party",
	"site-packages dist-packages .venv __pypackages__", // Python
	"Pods Godeps elm-stuff .pub-cache",
)

// vendoredPaths are parts of paths with third-party code.
var vendoredPaths = []string{
	"Carthage/Checkouts/", "Carthage/Build/",
	".yarn/releases/", ".yarn/plugins/", ".yarn/sdks/", ".yarn/unplugged/", ".yarn/cache/", ".yarn/versions/",
	"wwwroot/lib/", "vendor/bundle/", "vendor/cache/", "vendor/composer/", "vendor/gems/",
	"Libraries/Pods/", "SourcePackages/checkouts/",
}

// assetDirs are folders in which "vendor" means copied scripts and styles.
var assetDirs = nameSet(
	"static public assets resources web www wwwroot dist js javascript javascripts css style styles stylesheets",
	"scripts lib libs",
)

// vendoredLibrary matches copies of well-known browser libraries with a version in the name.
var vendoredLibrary = pattern(`(?i)^(jquery([.-]ui)?|bootstrap|angular|react(-dom)?|vue|lodash|underscore|backbone|` +
	`d3|moment|three|chart|knockout|modernizr|mootools|prototype|dojo|ext-all|handlebars|ember|require|leaflet` +
	`|normalize|font-?awesome|tinymce|ckeditor|codemirror|highlight|popper|select2` +
	`|datatables)[.-]v?\d+(\.\d+)+[^/]*\.(js|mjs|css)$`)

// isVendored reports whether the path is in a folder for third-party code. The word vendor alone is not
// enough within a program's own folders, where it can be a business term.
func isVendored(name string) bool {
	dirs := strings.Split(name, "/")
	base := dirs[len(dirs)-1]
	dirs = dirs[:len(dirs)-1]
	if vendoredLibrary().MatchString(base) || len(dirs) > 0 && dirs[0] == "deps" {
		return true
	}
	for i, d := range dirs {
		switch {
		case vendoredDirs[d]:
			return true
		case d != "vendor" && d != "vendors":
		case i == 0, assetDirs[dirs[i-1]]:
			return true
		case i+1 < len(dirs) && strings.Contains(dirs[i+1], "."): // a host: vendor/github.com
			return true
		case i+1 == len(dirs) && (base == "modules.txt" || base == "autoload.php"):
			return true
		}
	}
	return slices.ContainsFunc(vendoredPaths, func(p string) bool {
		return strings.HasPrefix(name, p) || strings.Contains(name, "/"+p)
	})
}

// generatedName matches generated files without a header.
var generatedName = pattern(`(^|/)__generated__/` + // Relay, GraphQL
	`|(^|/)\.pnp\.(cjs|js|loader\.mjs)$` + // Yarn
	`|(^|/)\.idea/|\.xcworkspacedata$|\.xcuserstate$|\.nib$` + // written by the editor
	`|(^|/)htmlcov/|(^|/)\.sqlx/query-[0-9a-f]+\.json$|\.(js|mjs|cjs|css|ts)\.map$|\.zep\.(c|h|php)$|\.feature\.cs$` +
	`|\.designer\.(cs|vb)$|\.Designer\.(cs|vb)$`)

func isGenerated(name string) bool { return generatedName().MatchString(name) }

func nameSet(lists ...string) map[string]bool {
	names := map[string]bool{}
	for _, list := range lists {
		for name := range strings.FieldsSeq(list) {
			names[name] = true
		}
	}
	return names
}
