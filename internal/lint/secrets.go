package lint

import (
	"bytes"
	"context"
	"fmt"
	"index/suffixarray"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// secrets reports credentials in added lines, and key stores by file name. It scans a
// hunk with its context, because the line above can be what makes a value a secret.
func secrets(ctx context.Context, in *Input) Result {
	res := findSecrets(ctx, in)
	res.Findings = withoutCopies(res.Findings)
	return res
}

// withoutCopies leaves one finding of each value that a change commits in several files, with the other places.
func withoutCopies(all []precedent.Finding) (kept []precedent.Finding) {
	type leak struct {
		rule, secret string
		severity     precedent.Severity
	}
	first, copies := map[leak]int{}, map[int][]string{}
	for _, f := range all {
		l := leak{f.Rule, strings.Join(f.Secrets, "\x00"), f.Severity}
		i, known := first[l]
		if l.secret == "" || !known || kept[i].Path == f.Path { // copies in one file are a flood from the fourth on
			first[l] = len(kept)
			kept = append(kept, f)
			continue
		}
		copies[i] = append(copies[i], text.VisibleLine(f.String()))
	}
	for i, others := range copies {
		kept[i].Body += "\n\nThe change has the same value in other files, too: " + listed(others) + "."
	}
	return kept
}

func findSecrets(ctx context.Context, in *Input) Result {
	c := &collect{name: "secrets"}
	var scanner secret.Scanner
	scanned := in.Secrets()
	deleted := sync.OnceValue(func() *suffixarray.Index { return suffixarray.New(deletedText(in.Change)) })
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if m, ok := scanner.Path(f.Path); ok && f.Status != diff.Deleted && (f.Status != diff.Renamed || len(f.Hunks) > 0) {
			c.add(keyStore(f, m))
		}
		s := secretsOf{file: f, deleted: deleted}
		for h := range f.Hunks {
			if ctx.Err() != nil {
				return c.result(ctx, nil)
			}
			if err := s.read(&scanner, &f.Hunks[h], scanned.hunks[&f.Hunks[h]]); err != nil {
				s.add(c)
				return c.result(ctx, fmt.Errorf("stopped in %s: %w", f.Path, err))
			}
		}
		s.add(c)
	}
	return c.result(ctx, nil)
}

// deletedText returns the lines that a change deletes.
func deletedText(c *diff.Change) []byte {
	var b bytes.Buffer
	for i := range c.Files {
		for h := range c.Files[i].Hunks {
			for _, l := range c.Files[i].Hunks[h].Lines {
				if l.Op == diff.Delete {
					b.WriteString(l.Text + "\n")
				}
			}
		}
	}
	return b.Bytes()
}

// secretsOf reads one file.
type secretsOf struct {
	file    *diff.File
	deleted func() *suffixarray.Index // what the change deletes, in all files
	// testKeys and lookAlikes are findings that together become one each.
	credentials, testKeys, lookAlikes []precedent.Finding
	before                            []string // what is in the line before each of the credentials
}

// read adds the credentials in a hunk, and keeps what is probably none. It scans the hunk
// again, for reports alone, if scanning for both cost too much.
func (s *secretsOf) read(scanner *secret.Scanner, h *diff.Hunk, scanned scannedHunk) error {
	matches, err := scanned.found, scanned.err
	if len(matches) == 0 && err == nil {
		return nil
	}
	lines, _ := sideLines(h, diff.Add)
	all := texts(lines)
	if err != nil {
		matches, err = scanner.Scan(s.file.Path, all)
	}
	for _, m := range matches {
		// In files that people neither write nor read, in styles and in texts for users, the rules for any value take
		// checksums and words for secrets. Rules for known formats still apply.
		if m.Generic() && (s.file.Skip != "" || styleFile().MatchString(s.file.Path) || s.file.Content != "" || isLocale(s.file.Path) ||
			m.Line == m.EndLine && (isUnread(all[m.Line], len(m.Secret)) || isListed(all[m.Line], m.Start, m.End))) {
			continue
		}
		first := slices.IndexFunc(lines[m.Line:m.EndLine+1], func(l diff.Line) bool { return l.Op == diff.Add })
		if first < 0 {
			continue
		}
		f := secretAt(s.file, lines[m.Line+first], lines[m.EndLine], m)
		if m.Rule == "gcp-api-key" && isOfFirebase(s.file.Path, all[max(0, m.Line-near):min(len(all), m.Line+near)]) {
			f.Severity, f.Confidence = precedent.Medium, partialConfidence
		}
		if len(s.deleted().Lookup([]byte(m.Secret), 1)) > 0 {
			f.Severity = precedent.Low
			f.Body += " The change only moves it: the base has it already."
		}
		class := m.Class(s.file.Path, all)
		switch {
		case class == secret.TestKey, m.Rule == "private-key" && s.file.IsVendored():
			s.testKeys = append(s.testKeys, f)
		case class == secret.LookAlike:
			s.lookAlikes = append(s.lookAlikes, f)
		default:
			s.credentials = append(s.credentials, f)
			s.before = append(s.before, strings.TrimSpace(all[m.Line][:m.Start]))
		}
	}
	return err
}

// listedWords is how many words are around a value in a list of names, such as the keywords of a language.
const listedWords = 10

// isListed reports whether what is from start to end in a line is one word in a list of many: names in small letters
// with spaces between them, which next to each other look like a name and its value.
func isListed(line string, start, end int) bool {
	before, after := strings.Fields(line[:start]), strings.Fields(line[end:])
	if len(before) < listedWords || len(after) < listedWords {
		return false
	}
	around := slices.Concat(before[len(before)-listedWords:], after[:listedWords])
	return !slices.ContainsFunc(around, func(w string) bool {
		return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" || w[0] < 'A'
	})
}

// maxAlike is the number of values with the same name in a file from which on they are data of tests.
const maxAlike = 8

// localeCode matches code that has the texts of a program in a language, by its name or its folder; messages is that of Yii.
var localeCode = text.Pattern(`(?i)(^|/)(locales?|_locales|i18n|l10n|intl|lang|langs|languages?|translations?|nls)/(.*/)?((messages_)?[a-z]{2,3}([-_][a-z]{2,8})?(/[^/]*)?|[\w-]+\.[a-z]{2}([-_][a-z]{2,4})?)\.(php|[cm]?[jt]s|rb|py|dart|lua)$` +
	`|(^|/)messages/[a-z]{2}([-_][a-z]{2,4})?/[^/]+\.php$`)

func isLocale(name string) bool { return localeCode().MatchString(name) }

var styleFile = text.Pattern(`\.(css|scss|less)$`)

// add adds the credentials of the file, then one finding for all its test keys, and one for all that is
// probably no credential.
func (s *secretsOf) add(c *collect) {
	alike := map[string]int{}
	for _, before := range s.before {
		alike[before]++
	}
	for i, f := range s.credentials {
		switch n := alike[s.before[i]]; {
		case f.Confidence >= issuedConfidence:
			c.add(f)
		case n >= maxAlike && s.before[i] != "":
			s.testKeys = append(s.testKeys, f)
		case s.isPublicHalf(i):
			s.lookAlikes = append(s.lookAlikes, f)
		default:
			c.add(f)
		}
	}
	s.addFolded(c, s.testKeys, testKeyConfidence, "Test key", " with the form of a credential, in a test, a fixture, "+
		"documentation or settings for development, or known to everyone. Make sure that it opens nothing.")
	s.addFolded(c, s.lookAlikes, lookAlikeConfidence, "Possible secret", " where credentials often are. By its letters or its "+
		"name it is rather a name, a hash, a public key or a placeholder.")
}

// isPublicHalf reports whether the next or the previous line has the secret that belongs to the key of a program, as a
// credential of its own: API_KEY beside API_SECRET. Such a key is an identifier (RFC 5849, section 1.1).
func (s *secretsOf) isPublicHalf(i int) bool {
	before := strings.ToLower(s.before[i])
	at := strings.LastIndex(before, "key")
	if at < 0 {
		return false
	}
	secret := before[:at] + "secret" + before[at+len("key"):]
	for j := max(0, i-1); j < min(len(s.before), i+2); j++ {
		apart := s.credentials[j].Start - s.credentials[i].Start
		if apart*apart == 1 && strings.ToLower(s.before[j]) == secret {
			return true
		}
	}
	return false
}

// addFolded adds one finding for all of a kind, with the places and the secrets of all.
func (s *secretsOf) addFolded(c *collect, all []precedent.Finding, confidence int, kind, what string) {
	if len(all) == 0 {
		return
	}
	f := all[0]
	f.Severity, f.Confidence = precedent.Low, confidence
	f.Title = title(kind + ": " + secretName(f.Rule) + " in " + path.Base(f.Path))
	f.Body = count(all) + what
	for _, other := range all[1:] {
		f.Secrets = append(f.Secrets, other.Secrets...)
		if len(f.Evidence) < maxEvidence {
			f.Evidence = append(f.Evidence, other.Evidence...)
		}
	}
	c.add(f)
}

// count is the start of a body: "This file has 3 values (lines 2, 5 and 9)".
func count(all []precedent.Finding) string {
	if len(all) == 1 {
		return "This line has a value"
	}
	var lines []string
	for _, f := range all {
		lines = append(lines, strconv.Itoa(f.Start))
	}
	return fmt.Sprintf("This file has %d values (lines %s)", len(all), listed(lines))
}

// The files in which an app has the key that names its project to Firebase, and the line beside the key in others. It is in
// every copy of the app; see https://firebase.google.com/docs/projects/api-keys.
var (
	firebaseFile = text.Pattern(`(^|/)(google-services\.json|GoogleService-Info\.plist|firebase_options\.dart)$`)
	firebaseLine = text.Pattern(`(?i)\bauth_?domain\b.*\.firebaseapp\.com\b`)
)

// near is the number of lines around a key of Firebase that name its project.
const near = 4

func isOfFirebase(name string, around []string) bool {
	return firebaseFile().MatchString(name) || slices.ContainsFunc(around, firebaseLine().MatchString)
}

// secretAt returns the finding for a secret, from the first added line that holds
// part of it to its last line. Only the quote contains the secret.
func secretAt(f *diff.File, first, last diff.Line, m secret.Match) precedent.Finding {
	kind := secretName(m.Rule)
	out := newFinding(f, precedent.Right, first)
	out.End = max(first.New, last.New)
	out.Category, out.Severity, out.Rule = precedent.Secrets, secretSeverity(m, f.Path), m.Rule
	out.Confidence, out.Secrets = confidenceOfSecret(m), []string{m.Secret}
	out.Title = title("Hard-coded secret: " + kind + " committed in " + path.Base(f.Path))
	var b strings.Builder
	fmt.Fprintf(&b, "This line commits what looks like a secret (%s) in plain text. ", kind)
	if m.EndLine > m.Line {
		fmt.Fprintf(&b, "The secret ends on line %d. ", out.End)
	}
	if m.IsEncrypted() {
		b.WriteString("It is encrypted, so it is as safe as its passphrase, which can be tried offline. ")
	}
	b.WriteString("Anyone who can read the repository, its forks, its history or its logs can use it, " +
		"and deleting the line later does not remove it from the history.\n\n" +
		"Treat it as leaked: revoke or rotate it now. Load it from the environment or a secret manager, and remove it " +
		"from the branch's " +
		"history before merging. If it is a test value, replace it with an obviously fake one.")
	out.Body = b.String()
	return out
}

func keyStore(f *diff.File, m secret.Match) precedent.Finding {
	out := newFileFinding(f)
	out.Category, out.Severity, out.Rule, out.Confidence = precedent.Secrets, precedent.High, m.Rule, keyStoreConfidence
	out.Title = title("Key store committed: " + path.Base(f.Path))
	out.Body = "A key store holds certificates and their private keys. Anyone who can read the repository can copy it " +
		"and try passwords offline, and deleting the file later does not remove it from the history.\n\n" +
		"Move it to a secret manager, replace its keys, and remove it from the branch's history before merging."
	return out
}

// programFile matches files of programs. A value with the name of a credential is often none there, or one that every
// copy of the program has on purpose.
var programFile = text.Pattern(`(?i)\.([cm]?[jt]sx?|vue|svelte|html?|go|py|rb|php|java|kts?|scala|groovy|cs|vb|fs|swift|mm?` +
	`|c|cc|cpp|cxx|hh?|hpp|rs|dart|exs?|erl|hs|clj|lua|p[lm]|r|jl|sql)$`)

// secretSeverity is the severity of a leak, by kind of rule and of file.
func secretSeverity(m secret.Match, path string) precedent.Severity {
	switch {
	case m.Partial(), m.IsEncrypted(), m.Invented(), m.ByName() && programFile().MatchString(path):
		return precedent.Medium
	case m.Generic(), strings.HasPrefix(m.Rule, "jwt"), strings.HasPrefix(m.Rule, "curl-"), strings.HasSuffix(m.Rule, "-app-key"):
		return precedent.High // may be a test value
	}
	return precedent.Critical
}

// words are the spellings of the parts of rule names. A part that is in neither list is the name of a service.
var (
	words = map[string]string{
		"1password": "1Password", "api": "API", "aws": "AWS", "ad": "AD", "ca": "CA", "gcp": "Google Cloud", "github": "GitHub",
		"gitlab": "GitLab", "id": "ID", "jwt": "JSON Web Token", "npm": "npm", "oauth": "OAuth", "openai": "OpenAI",
		"pat": "personal access token", "pypi": "PyPI", "rsa": "RSA", "sdk": "SDK", "tf": "Terraform", "url": "URL", "uri": "URI",
		"huggingface": "Hugging Face", "digitalocean": "DigitalOcean", "auth": "authorization", "pub": "public", "yaml": "YAML",
		"org": "organization", "config": "configuration",
	}
	plainWords = strings.Fields("access token key secret private client user app bot webhook password service account refresh " +
		"legacy header generic live long short lived personal deploy workspace assigned credential")
)

// secretName is a readable name for a rule: "AWS access token".
func secretName(rule string) string {
	if rule == "invented-password" || strings.HasPrefix(rule, "password-in-") {
		return "password"
	}
	parts := strings.Split(rule, "-")
	for i, p := range parts {
		switch w, ok := words[p]; {
		case ok:
			parts[i] = w
		case p != "" && !slices.Contains(plainWords, p):
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, " ")
}
