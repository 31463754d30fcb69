// Command sbom writes a software bill of materials of a Go program: the modules
// that the linker put into it, as it says itself, whatever platform it is for.
// The form is CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json). The same
// program gives the same bytes: there is no serial number, and the time is the
// commit's.
//
//	go run ./scripts/sbom PROGRAM > PROGRAM.cdx.json
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("want the path of one Go program")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(billOf(info))
}

// bill is the document.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp  string     `json:"timestamp,omitempty"`
	Component  component  `json:"component"`
	Properties []property `json:"properties"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// dependency says only what is in the program, not which module wanted it: the
// program does not know.
type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

func billOf(info *debug.BuildInfo) bill {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = moduleOf("application", &info.Main)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.time":
			b.Metadata.Timestamp = s.Value
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.modified", "-trimpath":
			b.Metadata.Properties = append(b.Metadata.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b.Components = []component{moduleOf("library", &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, moduleOf("library", m))
	}
	slices.SortFunc(b.Components, func(x, y component) int { return cmp.Compare(x.Ref, y.Ref) })
	all := dependency{Ref: b.Metadata.Component.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{all}
	for _, c := range b.Components {
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
	}
	return b
}

// moduleOf describes a module by its package URL
// (https://github.com/package-url/purl-spec), in which a plus is written as %2B.
func moduleOf(kind string, m *debug.Module) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version}
	c.PURL = "pkg:golang/" + m.Path + "@" + strings.NewReplacer("%", "%25", "+", "%2B", "(", "%28", ")", "%29").Replace(m.Version)
	c.Ref = c.PURL
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
