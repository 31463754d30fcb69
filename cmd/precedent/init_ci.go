package main

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/precedent-dev/precedent/internal/git"
)

// ciFiles are the workflows of each forge, by the name of the forge.
//
//go:embed ci
var ciFiles embed.FS

// ciFolders is where forges look for workflows.
var ciFolders = map[string]string{"github": ".github/workflows", "gitea": ".gitea/workflows"}

// actionPlaceholder stands for the action's commit in the embedded workflows.
const actionPlaceholder = "@COMMIT # VERSION"

// unknownCommit replaces an unknown commit, so that a workflow fails to start.
const unknownCommit = "0000000000000000000000000000000000000000"

// ciFile is a workflow that init writes.
type ciFile struct {
	name string // from the top of the work tree, with slashes
	data []byte
}

// workflows returns the files for a forge. pinned reports whether they contain the
// commit of the action that belongs to this program.
func workflows(forge string) (files []ciFile, pinned bool, err error) {
	folder, ok := ciFolders[forge]
	if !ok {
		return nil, false, hinted(fmt.Errorf("no workflows for %q", forge), "use --ci github or --ci gitea")
	}
	commit, version := actionCommit(debug.ReadBuildInfo())
	if commit == "" {
		commit, version = unknownCommit, "replace this with the commit of the release that you use"
	}
	entries, err := fs.ReadDir(ciFiles, path.Join("ci", forge))
	if err != nil {
		return nil, false, fmt.Errorf("read workflows: %w", err)
	}
	for _, e := range entries {
		data, err := ciFiles.ReadFile(path.Join("ci", forge, e.Name()))
		if err != nil {
			return nil, false, fmt.Errorf("read workflows: %w", err)
		}
		text := strings.ReplaceAll(string(data), actionPlaceholder, "@"+commit+" # "+version)
		files = append(files, ciFile{path.Join(folder, e.Name()), []byte(text)})
	}
	return files, commit != unknownCommit, nil
}

// actionCommit returns the commit that this program was built from, and its version;
// empty if that is unknown, or if the build has uncommitted changes.
func actionCommit(info *debug.BuildInfo, ok bool) (commit, version string) {
	if !ok {
		return "", ""
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.modified" && s.Value != "false":
			return "", ""
		case s.Key == "vcs.revision" && git.IsObjectID(s.Value):
			commit = s.Value
		}
	}
	if commit == "" {
		return "", ""
	}
	if regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(info.Main.Version) {
		return commit, info.Main.Version
	}
	return commit, "the commit of the program that wrote this"
}

// writeWorkflows writes the workflows of a forge below the top of a work tree.
// Without force it writes nothing if one of them exists.
func (a *app) writeWorkflows(top, forge string, force bool) error {
	files, pinned, err := workflows(forge)
	if err != nil {
		return err
	}
	again := "precedent init --ci " + forge + " --force"
	if !force {
		for _, f := range files {
			if err := checkAbsent(top, f.name, again); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		if err := writeNew(top, f.name, f.data, force, again); err != nil {
			return err
		}
		a.printWritten(top, f.name)
	}
	if !pinned {
		a.notice("this build does not know its commit: replace %s in these files with the commit of a release", unknownCommit)
	}
	return a.printAdvice(ciAdvice[forge]...)
}

// ciAdvice is what the user has to do by hand.
var ciAdvice = map[string][]string{
	"github": {
		"Commit them. Then set two secrets of the repository:",
		"  gh secret set ANTHROPIC_API_KEY       (without it only analyzers run)",
		`  gh secret set PRECEDENT_MARKER_KEY --body "$(openssl rand -hex 32)"`,
		"The second one signs the comments, so that no other workflow can pass off its own as precedent's.",
		"docs/github.md describes their permissions, and the choices for pull requests from forks.",
	},
	"gitea": {
		"Commit it. Then set the secrets ANTHROPIC_API_KEY, PRECEDENT_TOKEN and PRECEDENT_MARKER_KEY of the repository.",
		"The last one signs the comments; this makes one: openssl rand -hex 32",
	},
}
