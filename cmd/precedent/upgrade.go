package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/precedent-dev/precedent/internal/report"
)

// releasesPage is where releases are published; scripts/install.sh downloads from there.
const releasesPage = "https://github.com/precedent-dev/precedent/releases"

type upgrade struct {
	Version string `json:"version"`          // of this program
	Latest  string `json:"latest,omitempty"` // the last release, if it was asked for
	Newer   bool   `json:"newer"`            // the last release is newer than this program
	How     string `json:"how"`              // a command that upgrades this program
}

func newUpgrade(a *app) *cobra.Command {
	var check bool
	page := releasesPage
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Print how to upgrade this program, and whether there is a newer release",
		Long: `Upgrade prints the command that upgrades this program, by where it is installed. It
changes nothing and asks nobody.

With --check it asks the page of releases for the last one. That request has no
information about you or your code. No other command looks for releases.

Exit status: 0; 1 with --check if there is a newer release.`,
		Example: "  precedent upgrade --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err == nil {
				program, err = filepath.EvalSymlinks(program)
			}
			if err != nil { // there is no /proc, for example
				program = ""
			}
			u := upgrade{Version: thisBuild().Version, How: howToUpgrade(filepath.ToSlash(program), installed)}
			if check {
				if u.Latest, err = latestRelease(cmd.Context(), page); err != nil {
					return err
				}
				u.Newer = semver.Compare(u.Latest, u.Version) > 0
			}
			if err := a.show(u, u.print); err != nil {
				return err
			}
			if u.Newer {
				return exitStatus(1)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask the page of releases whether there is a newer one")
	cmd.Flags().StringVar(&page, "from", page, "ask this page of releases, for --check: a `URL`")
	return a.data(cmd)
}

func (u upgrade) print(p *report.Page) {
	switch {
	case u.Newer:
		p.Say("", u.Latest+" is out; this is "+u.Version+". Read docs/upgrading.md, then:")
	case u.Latest != "":
		p.Say("", "the last release is "+u.Latest+"; this is "+u.Version)
		return
	default:
		p.Say("", "this is "+u.Version+". To upgrade:")
	}
	p.Line("  " + p.Ink(report.Cyan, u.How))
}

// tagOfRelease matches where the page of the last release redirects to.
var tagOfRelease = regexp.MustCompile(`/tag/(v[0-9]+\.[0-9]+\.[0-9]+)$`)

// latestRelease asks a page of releases, as GitHub and Gitea have them, for the version of the last one.
func latestRelease(ctx context.Context, page string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	const doing = "look for releases"
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, strings.TrimSuffix(page, "/")+"/latest", http.NoBody)
	if err != nil {
		return "", hinted(fmt.Errorf("%s: %w", doing, err), "write --from as https://host/owner/name/releases")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return "", hinted(fmt.Errorf("%s: %w", doing, err), "try again, or look at %s", page)
	}
	if err := resp.Body.Close(); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	tag := tagOfRelease.FindStringSubmatch(resp.Header.Get("Location"))
	if tag == nil {
		return "", hinted(errors.New(doing+": "+page+" names no release"), "it answered %s", resp.Status)
	}
	return tag[1], nil
}

// howToUpgrade returns the command that upgrades a program, by its path with slashes, empty if it is not known. has tells whether a file exists.
func howToUpgrade(program string, has func(file string) bool) string {
	lower := strings.ToLower(program)
	switch {
	case program == "":
		return "sh install.sh    # from " + releasesPage
	case strings.Contains(lower, "/cellar/"):
		return "brew upgrade precedent"
	case strings.Contains(lower, "/scoop/"):
		return "scoop update precedent"
	case program == "/usr/bin/precedent" && has("/var/lib/dpkg/info/precedent.list"):
		return "apt-get install ./precedent-linux-" + runtime.GOARCH + ".deb    # from " + releasesPage
	case program == "/usr/bin/precedent":
		return "dnf install ./precedent-linux-" + runtime.GOARCH + ".rpm    # from " + releasesPage
	case strings.Contains(program, "/go/bin/"):
		return "go install github.com/precedent-dev/precedent/cmd/precedent@latest"
	}
	return "BIN=" + filepath.ToSlash(filepath.Dir(program)) + " sh install.sh    # from " + releasesPage
}

func installed(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
