// Command sbom writes a software bill of materials for a Go program: the modules that
// the program says it was linked from. It works for programs of any platform. The
// format is CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json). The output is
// reproducible: it has no serial number, and the time is the commit's.
//
//	go run ./scripts/sbom PROGRAM > PROGRAM.cdx.json
package main

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
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
	return write(out, billOf(info))
}

func write(out io.Writer, b *cyclonedx.BOM) error {
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cyclonedx.SpecVersion1_6)
}

func billOf(info *debug.BuildInfo) *cyclonedx.BOM {
	program := moduleOf(cyclonedx.ComponentTypeApplication, &info.Main)
	m := &cyclonedx.Metadata{Component: &program, Properties: &[]cyclonedx.Property{}}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.time":
			m.Timestamp = s.Value
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.modified", "-trimpath":
			*m.Properties = append(*m.Properties, cyclonedx.Property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	modules := []cyclonedx.Component{moduleOf(cyclonedx.ComponentTypeLibrary, &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, moduleOf(cyclonedx.ComponentTypeLibrary, m))
	}
	slices.SortFunc(modules, func(x, y cyclonedx.Component) int { return cmp.Compare(x.BOMRef, y.BOMRef) })
	// The program does not record which module requires which.
	all := cyclonedx.Dependency{Ref: program.BOMRef, Dependencies: &[]string{}}
	dependencies := []cyclonedx.Dependency{all}
	for _, c := range modules {
		*all.Dependencies = append(*all.Dependencies, c.BOMRef)
		dependencies = append(dependencies, cyclonedx.Dependency{Ref: c.BOMRef})
	}
	b := cyclonedx.NewBOM()
	b.Metadata, b.Components, b.Dependencies = m, &modules, &dependencies
	return b
}

// moduleOf describes a module by its package URL
// (https://github.com/package-url/purl-spec), in which a plus is written as %2B.
func moduleOf(kind cyclonedx.ComponentType, m *debug.Module) cyclonedx.Component {
	purl := "pkg:golang/" + m.Path + "@" + strings.NewReplacer("%", "%25", "+", "%2B", "(", "%28", ")", "%29").Replace(m.Version)
	c := cyclonedx.Component{Type: kind, Name: m.Path, Version: m.Version, PackageURL: purl, BOMRef: purl}
	if m.Sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
