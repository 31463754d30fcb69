// Command changelog moves the notes of changes into CHANGELOG.md, as the section of a release. A note is a file
// changes/KIND-NAME.md with what a user gets, in Markdown.
//
//	go run ./scripts/changelog v1.2.3
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// kinds are the headings of a section, by the beginning of the notes' names, in their order
// (https://keepachangelog.com/en/1.1.0/).
var kinds = []struct{ prefix, heading string }{
	{"security", "Security"}, {"added", "Added"}, {"changed", "Changed"}, {"deprecated", "Deprecated"}, {"removed", "Removed"}, {"fixed", "Fixed"},
}

// title begins CHANGELOG.md.
const title = "# Changes\n\nWhat users notice, by release. How to upgrade: [docs/upgrading.md](docs/upgrading.md).\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/changelog v1.2.3")
		os.Exit(2)
	}
	if err := release(".", os.Args[1], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

// release moves the notes below a folder into the section of a version.
func release(top, version string, at time.Time) error {
	if !regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(version) {
		return fmt.Errorf("%q is not a version such as v1.2.3", version)
	}
	section, notes, err := section(filepath.Join(top, "changes"))
	if err != nil {
		return err
	}
	if len(notes) == 0 {
		return errors.New("there are no notes in changes/")
	}
	file := filepath.Join(top, "CHANGELOG.md")
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	earlier := strings.TrimPrefix(string(before), title)
	if strings.Contains(earlier, "\n## "+version+" ") {
		return fmt.Errorf("CHANGELOG.md has a section of %s already", version)
	}
	text := title + "\n## " + version + " (" + at.UTC().Format(time.DateOnly) + ")\n" + section + earlier
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // it is published
		return err
	}
	for _, note := range notes {
		if err := os.Remove(note); err != nil {
			return err
		}
	}
	return nil
}

// section returns what the notes in a folder say, by kind, and their files.
func section(dir string) (text string, notes []string, err error) {
	all, err := filepath.Glob(filepath.Join(dir, "*.md")) // sorted
	if err != nil {
		return "", nil, err
	}
	for _, kind := range kinds {
		heading := "\n### " + kind.heading + "\n\n"
		for _, file := range all {
			if before, _, _ := strings.Cut(filepath.Base(file), "-"); before != kind.prefix {
				continue
			}
			note, err := os.ReadFile(file)
			if err != nil {
				return "", nil, err
			}
			words := strings.Join(strings.Fields(string(note)), " ")
			if !strings.HasSuffix(words, ".") {
				return "", nil, fmt.Errorf("%s is not one or more sentences", file)
			}
			text += heading + "- " + words + "\n"
			notes, heading = append(notes, file), ""
		}
	}
	if len(notes) < len(all) {
		return "", nil, fmt.Errorf("the name of a note in %s does not begin with security-, added-, changed-, deprecated-, removed- or fixed-", dir)
	}
	return text, notes, nil
}
