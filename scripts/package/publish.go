package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// formulaText is a formula of Homebrew (https://docs.brew.sh/Formula-Cookbook).
var formulaText = template.Must(template.New("").Parse(`class Precedent < Formula
  desc "Code reviewer that remembers"
  homepage "{{.Source}}"
  version "{{.Version}}"
{{range $os, $of := .Systems}}
  on_{{$os}} do{{range $arch, $file := $of}}
    on_{{$arch}} do
      url "{{$.URL}}/{{$file.Name}}"
      sha256 "{{$file.Sum}}"
    end{{end}}
  end
{{end}}
  depends_on "git"

  def install
    bin.install "precedent"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/precedent.bash" => "precedent"
    zsh_completion.install "completions/_precedent"
    fish_completion.install "completions/precedent.fish"
  end

  test do
    system "#{bin}/precedent", "version"
  end
end
`))

// formula returns the formula of Homebrew for the archives.
func (r *release) formula(sums map[string]string) ([]byte, error) {
	type archive struct{ Name, Sum string }
	systems := map[string]map[string]archive{}
	for name, sum := range sums {
		for goos, system := range map[string]string{"darwin": "macos", "linux": "linux"} {
			for goarch, arch := range map[string]string{"amd64": "intel", "arm64": "arm"} {
				if name == (program{os: goos, arch: goarch}).name()+".tar.gz" {
					if systems[system] == nil {
						systems[system] = map[string]archive{}
					}
					systems[system][arch] = archive{name, sum}
				}
			}
		}
	}
	var b bytes.Buffer
	err := formulaText.Execute(&b, map[string]any{
		"Source": r.source, "Version": strings.TrimPrefix(r.version, "v"), "URL": r.url, "Systems": systems,
	})
	return b.Bytes(), err
}

// scoop returns the manifest of Scoop (https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests) for the archives.
func (r *release) scoop(sums map[string]string) ([]byte, error) {
	version := strings.TrimPrefix(r.version, "v")
	architecture := map[string]any{}
	for goarch, name := range map[string]string{"amd64": "64bit", "arm64": "arm64"} {
		file := program{os: "windows", arch: goarch}.name() + ".zip"
		if sum := sums[file]; sum != "" {
			architecture[name] = map[string]string{"url": r.url + "/" + file, "hash": sum}
		}
	}
	return indented(map[string]any{
		"version": version, "description": "Code reviewer that remembers", "homepage": r.source,
		"suggest": map[string]string{"git": "git"}, "architecture": architecture,
		"extract_dir": "precedent-" + version, "bin": "precedent.exe",
	})
}

// provenance returns the statement of how the files were made (https://slsa.dev/spec/v1.0/provenance). Who signs the
// checksums, which name it, stands for it.
func (r *release) provenance(sums map[string]string) ([]byte, error) {
	type subject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	var subjects []subject
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".rb") {
			subjects = append(subjects, subject{name, map[string]string{"sha256": sums[name]}})
		}
	}
	return indented(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1", "subject": subjects,
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          r.source + "/blob/main/scripts/release.sh",
				"externalParameters": map[string]string{"version": r.version},
				"resolvedDependencies": []any{map[string]any{
					"uri": "git+" + r.source + "@refs/tags/" + r.version, "digest": map[string]string{"gitCommit": r.commit},
				}},
			},
			"runDetails": map[string]any{"builder": map[string]string{"id": r.source + "/blob/main/scripts/package"}},
		},
	})
}

func indented(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return append(data, '\n'), nil
}
