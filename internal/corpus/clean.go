package corpus

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits on what is kept of a comment, in bytes. GitHub allows 65,536 characters in a body.
const (
	maxBody  = 64 << 10
	maxHunk  = 4 << 10
	maxTitle = 1 << 10
	maxPath  = 4 << 10
	maxName  = 256
	maxURL   = 2 << 10
)

// hunkLines is how many lines of code are kept with a comment: the commented line and those
// before it.
const hunkLines = 12

// bots are logins of programs whose accounts do not say so.
var bots = []string{
	"codecov-io", "codecov-commenter", "coveralls", "houndci-bot", "hound", "sonarcloud", "sonarqubecloud",
	"drahtbot", "k8s-ci-robot", "googlebot", "mergify", "dependabot", "dependabot-preview", "renovate",
	"renovate-bot", "greenkeeper", "snyk-bot", "pep8speaks", "deepsource-autofix", "codeclimate", "codacy-bot",
	"lgtm-com", "stale", "vercel", "netlify", "copilot", "copilot-pull-request-reviewer", "coderabbitai",
	"github-actions", "gitea-actions", "forgejo-actions", "bors", "rust-highfive", "rustbot", "homu",
	"allcontributors", "cla-bot", "linux-foundation-easycla", "googlecla", "codefactor-io", "sourcery-ai",
	"gemini-code-assist", "qodo-merge-pro", "cursor", "ellipsis-dev", "greptile-apps",
}

// isBotLogin reports whether a login is a program's.
func isBotLogin(login string) bool {
	login = strings.ToLower(login)
	return strings.HasSuffix(login, "[bot]") || slices.Contains(bots, login)
}

// ownMarker begins the hidden line of comments that Precedent posts. That anybody can write it
// does not matter: it only leaves out a comment of its author.
const ownMarker = "<!-- precedent:"

// clean returns the comment as it is stored; nil if it is not, which is counted. One that was edited so that nothing is
// left is deleted.
func (c *Corpus) clean(in Comment, left *Saved) *precedent.CorpusComment {
	out := in.CorpusComment
	gone := precedent.CorpusComment{Kind: out.Kind, ID: out.ID, Pull: out.Pull, Root: out.Root, DeletedAt: out.DeletedAt}
	switch {
	case !out.DeletedAt.IsZero():
		return &gone
	case in.Bot || isBotLogin(in.Author):
		left.Bot++
		return nil
	case c.Me != "" && in.AuthorID == c.Me || strings.Contains(string(in.Body), ownMarker):
		left.Own++
		return nil
	}
	out.Body = precedent.Untrusted(cleanText(string(in.Body), maxBody))
	if strings.TrimSpace(string(out.Body)) == "" {
		left.Empty++
		if !in.UpdatedAt.After(in.At) {
			return nil
		}
		gone.DeletedAt = in.UpdatedAt
		return &gone
	}
	out.Author = cmp.Or(oneLine(in.Author, maxName), "ghost")
	out.AuthorID = precedent.ForgeID(oneLine(string(in.AuthorID), maxName))
	hunk := secret.RedactText(text.Visible(HunkTail(string(in.Hunk))))
	out.Hunk = precedent.Untrusted(hunk)
	out.Path = oneLine(in.Path, maxPath)
	out.Commit = oneLine(in.Commit, maxName)
	out.URL = cleanURL(in.URL)
	return &out
}

// cleanText returns prose without hidden characters and secrets.
func cleanText(s string, limit int) string {
	return secret.RedactText(strings.TrimSpace(text.Clean(text.Head(s, limit))))
}

// HunkTail returns the last lines of a diff hunk: what is kept with a comment.
func HunkTail(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\r\n"), "\n")
	s = strings.Join(lines[max(0, len(lines)-hunkLines):], "\n")
	if len(s) > maxHunk {
		s = s[len(s)-maxHunk:]
		if _, whole, ok := strings.Cut(s, "\n"); ok {
			s = whole
		}
		s = strings.ToValidUTF8(s, "")
	}
	return s
}

// oneLine returns text of one line, without control characters.
func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text.Head(s, limit))
	return strings.ToValidUTF8(s, "")
}

// cleanURL returns the address of a web page, or "".
func cleanURL(s string) string {
	if len(s) > maxURL || strings.ContainsAny(s, " <>\"'`\n\r\t\\") {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return s
}

// cleanPull returns the pull request as it is stored.
func cleanPull(p store.CorpusPull) store.CorpusPull {
	p.Title = text.Collapse(cleanText(p.Title, maxTitle))
	p.Author = oneLine(p.Author, maxName)
	p.AuthorID = precedent.ForgeID(oneLine(string(p.AuthorID), maxName))
	return p
}
