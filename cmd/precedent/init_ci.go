package main

import (
	"cmp"
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
var ciFolders = map[string]string{"github": ".github/workflows", "gitea": ".gitea/workflows", "gitlab": ".gitlab/ci"}

// releaseTag matches the version of a release.
var releaseTag = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// actionPlaceholder stands for the action's commit in the embedded workflows.
const actionPlaceholder = "@COMMIT # VERSION"

// releasePlaceholder stands for the version of a release, and unreleased replaces it if this program is of none.
const (
	releasePlaceholder = "@RELEASE@"
	unreleased         = "v0.0.0 # replace this with the release that you use"
)

// unknownCommit replaces an unknown commit, so that a workflow fails to start.
const unknownCommit = "0000000000000000000000000000000000000000"

type initFile struct {
	name string // from the top of the work tree, with slashes
	data []byte
}

// workflows returns the files for a forge. pinned reports whether they contain the
// commit of the action that belongs to this program.
func workflows(forge string) (files []initFile, pinned bool, err error) {
	folder, ok := ciFolders[forge]
	if !ok {
		return nil, false, hinted(fmt.Errorf("no workflows for %q", forge), "use --ci github, --ci gitea or --ci gitlab")
	}
	commit, version := actionCommit(debug.ReadBuildInfo())
	commit = cmp.Or(commit, unknownCommit)
	files, err = workflowsAt(forge, folder, commit, version)
	return files, commit != unknownCommit, err
}

// workflowsAt returns the files with an action of a commit. With the version of a release, the action downloads its
// program instead of building one.
func workflowsAt(forge, folder, commit, version string) (files []initFile, err error) {
	entries, err := fs.ReadDir(ciFiles, path.Join("ci", forge))
	if err != nil {
		return nil, fmt.Errorf("read workflows: %w", err)
	}
	note, input := version, ""
	switch {
	case commit == unknownCommit:
		note = "replace this with the commit of the release that you use"
	case version == "":
		note = "the commit of the program that wrote this"
	default:
		input = "\n          version: " + version + " # the program of this release, compared with its checksum"
	}
	fill := strings.NewReplacer(releasePlaceholder, cmp.Or(version, unreleased), actionPlaceholder, "@"+commit+" # "+note, "\n        with:",
		"\n        with:"+input)
	for _, e := range entries {
		data, err := ciFiles.ReadFile(path.Join("ci", forge, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read workflows: %w", err)
		}
		files = append(files, initFile{path.Join(folder, e.Name()), []byte(fill.Replace(string(data)))})
	}
	return files, nil
}

// actionCommit returns the commit that this program was built from, empty if that is unknown or if the build has
// uncommitted changes, and its version if that is one of a release.
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
	if commit != "" && releaseTag.MatchString(info.Main.Version) {
		version = info.Main.Version
	}
	return commit, version
}

func (a *app) writeWorkflows(top, forge string, force bool) error {
	files, pinned, err := workflows(forge)
	if err != nil {
		return err
	}
	if err := a.writeFiles(top, files, force, "precedent init --ci "+forge+" --force"); err != nil {
		return err
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
	"gitlab": {
		"Include it in .gitlab-ci.yml, and commit both:",
		"  include: [{local: .gitlab/ci/precedent.yml}]",
		"Set the variable ANTHROPIC_API_KEY of the project, masked; without it only analyzers run.",
	},
	"gitea": {
		"Commit it. Then set the secrets ANTHROPIC_API_KEY, PRECEDENT_TOKEN and PRECEDENT_MARKER_KEY of the repository.",
		"The last one signs the comments; this makes one: openssl rand -hex 32",
	},
}
