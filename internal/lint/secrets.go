package lint

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/secret"
)

// secrets reports credentials in added lines, and key stores by file name. It scans a
// hunk with its context, because the line above can be what makes a value a secret.
func secrets(ctx context.Context, in *Input) Result {
	c := &collect{name: "secrets"}
	var scanner secret.Scanner
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if m, ok := scanner.Path(f.Path); ok && f.Status != diff.Deleted && (f.Status != diff.Renamed || len(f.Hunks) > 0) {
			c.add(keyStore(f, m))
		}
		for h := range f.Hunks {
			if ctx.Err() != nil {
				return c.result(ctx, nil)
			}
			if err := secretsIn(c, &scanner, f, &f.Hunks[h]); err != nil {
				return c.result(ctx, fmt.Errorf("stopped in %s: %w", f.Path, err))
			}
		}
	}
	return c.result(ctx, nil)
}

func secretsIn(c *collect, scanner *secret.Scanner, f *diff.File, h *diff.Hunk) error {
	var lines []diff.Line
	var texts []string
	added := false
	for _, l := range h.Lines {
		if l.Op != diff.Delete {
			lines, texts = append(lines, l), append(texts, l.Text)
			added = added || l.Op == diff.Add
		}
	}
	if !added {
		return nil
	}
	matches, err := scanner.Scan(f.Path, texts)
	for _, m := range matches {
		// In files that people neither write nor read, the catch-all rule takes
		// checksums for secrets. Rules for known formats still apply.
		if m.Generic() && f.Skip != "" {
			continue
		}
		for i := m.Line; i <= m.EndLine; i++ {
			if lines[i].Op == diff.Add {
				c.add(secretAt(f, lines[i], lines[m.EndLine], m))
				break
			}
		}
	}
	return err
}

// secretAt returns the finding for a secret, from the first added line that holds
// part of it to its last line. Only the quote contains the secret.
func secretAt(f *diff.File, first, last diff.Line, m secret.Match) precedent.Finding {
	kind := secretName(m.Rule)
	out := newFinding(f, precedent.Right, first)
	out.End = max(first.New, last.New)
	out.Category, out.Severity, out.Rule = precedent.Secrets, secretSeverity(m), m.Rule
	out.Title = title("Hard-coded secret: " + kind + " committed in " + path.Base(f.Path))
	var b strings.Builder
	fmt.Fprintf(&b, "This line commits what looks like a secret (%s) in plain text. ", kind)
	if m.EndLine > m.Line {
		fmt.Fprintf(&b, "The secret ends on line %d. ", out.End)
	}
	b.WriteString("Anyone who can read the repository, its forks, its history or its logs can use it, " +
		"and deleting the line later does not remove it from the history.\n\n" +
		"Treat it as leaked: revoke or rotate it now. Load it from the environment or a secret manager, and remove it from the branch's " +
		"history before merging. If it is a test value, replace it with an obviously fake one.")
	out.Body = b.String()
	return out
}

func keyStore(f *diff.File, m secret.Match) precedent.Finding {
	return precedent.Finding{
		Analyzer: true, Confidence: secretConfidence, Votes: 1, Verifier: precedent.Unchecked,
		Span:     precedent.Span{Path: f.Path, Side: precedent.Right},
		Category: precedent.Secrets, Severity: precedent.High, Rule: m.Rule,
		Title: title("Key store committed: " + path.Base(f.Path)),
		Body: "A PKCS #12 file holds certificates and their private keys. Anyone who can read the repository can copy it " +
			"and try passwords offline, and deleting the file later does not remove it from the history.\n\n" +
			"Move it to a secret manager, replace its keys, and remove it from the branch's history before merging.",
	}
}

// secretSeverity is the severity of a leak, by kind of rule.
func secretSeverity(m secret.Match) precedent.Severity {
	switch {
	case strings.HasSuffix(m.Rule, "-id"), strings.Contains(m.Rule, "publishable"), strings.Contains(m.Rule, "-pub-"):
		return precedent.Medium // half of a credential, or a public one
	case m.Generic(), strings.HasPrefix(m.Rule, "jwt"), strings.HasPrefix(m.Rule, "curl-"):
		return precedent.High // may be a test value
	}
	return precedent.Critical
}

// words are the spellings of the parts of rule names.
var words = map[string]string{
	"1password": "1Password", "api": "API", "aws": "AWS", "ad": "AD", "ca": "CA", "gcp": "Google Cloud", "github": "GitHub", "gitlab": "GitLab",
	"id": "ID", "jwt": "JSON Web Token", "npm": "npm", "oauth": "OAuth", "openai": "OpenAI", "pat": "personal access token", "pypi": "PyPI",
	"rsa": "RSA", "sdk": "SDK", "tf": "Terraform", "url": "URL", "uri": "URI", "kubernetes": "Kubernetes", "huggingface": "Hugging Face", "digitalocean": "DigitalOcean",
	"access": "access", "token": "token", "key": "key", "secret": "secret", "private": "private", "client": "client", "user": "user", "app": "app",
	"bot": "bot", "webhook": "webhook", "password": "password", "service": "service", "account": "account", "refresh": "refresh", "legacy": "legacy",
	"auth": "authorization", "header": "header", "generic": "generic", "live": "live", "long": "long", "short": "short", "lived": "lived", "pub": "public",
	"yaml": "YAML", "org": "organization", "personal": "personal", "deploy": "deploy", "workspace": "workspace", "config": "configuration",
}

// secretName is a readable name for a rule: "AWS access token".
func secretName(rule string) string {
	parts := strings.Split(rule, "-")
	for i, p := range parts {
		switch w, ok := words[p]; {
		case ok:
			parts[i] = w
		case p != "":
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, " ")
}
