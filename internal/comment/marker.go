package comment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// markerVersion begins every marker, and is part of what is signed.
const markerVersion = "precedent:1"

// maxTitle limits the title in a marker, in bytes: a finding's has at most 90 characters.
const maxTitle = 400

var (
	// token matches valid fields of a marker. It cannot match the end of an HTML comment.
	token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z]+(?:[._-][0-9A-Za-z]+)*$`) })
	// titles are encoded without the dash of base64: some parsers do not allow two of them
	// within an HTML comment.
	titles = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._").WithPadding(base64.NoPadding).Strict()
	// fields are the names of the fields, in order.
	fields = []string{
		"kind", "thread", "review", "fp", "finding", "head", "category", "severity", "confidence", "title",
		"lines", "run", "spent", "answers", "tries", "sig",
	}
)

// sanitized returns the marker without invalid fields, and without a title that holds a
// secret.
func (m Marker) sanitized(own secret.Own) Marker {
	for _, s := range []*string{&m.Thread, &m.Review, &m.Fingerprint, &m.Finding, &m.Head, &m.Run, &m.Answers} {
		if len(*s) > maxFieldOf(s == &m.Answers) || !token().MatchString(*s) {
			*s = ""
		}
	}
	if !slices.Contains(precedent.Categories, m.Category) {
		m.Category = ""
	}
	if !slices.Contains(precedent.Severities, m.Severity) {
		m.Severity = ""
	}
	if _, ok := parseSpending(m.Spent.String()); !ok {
		m.Spent = Spending{}
	}
	m.Confidence = max(0, min(m.Confidence, 100))
	m.Tries = max(0, min(m.Tries, maxTries))
	if m.End = max(m.Start, m.End); m.Start < 1 || m.End > maxLine {
		m.Start, m.End = 0, 0
	}
	m.Title = strings.ToValidUTF8(sanitize(m.Title, own), "")
	if len(m.Title) > maxTitle {
		m.Title = strings.ToValidUTF8(m.Title[:maxTitle], "")
	}
	return m
}

// maxField limits fields other than the title and the answers, in bytes: a hash of 512 bits in
// hexadecimal.
const maxField = 128

func maxFieldOf(answers bool) int {
	if answers {
		return MaxAnswers
	}
	return maxField
}

// firstFields is the number of fields in the first markers that were posted.
const firstFields = 10

func (m Marker) values() []string {
	confidence := ""
	if m.Confidence != 0 {
		confidence = strconv.Itoa(m.Confidence)
	}
	lines, tries := "", ""
	if m.Tries != 0 {
		tries = strconv.Itoa(m.Tries)
	}
	if m.Start > 0 {
		lines = fmt.Sprintf("%d-%d", m.Start, m.End)
	}
	v := []string{
		string(m.Kind), m.Thread, m.Review, m.Fingerprint, m.Finding, m.Head,
		string(m.Category), string(m.Severity), confidence, titles.EncodeToString([]byte(m.Title)), lines, m.Run,
		m.Spent.String(), m.Answers, tries,
	}
	for len(v) > firstFields && v[len(v)-1] == "" { // so that comments of older programs keep their signature
		v = v[:len(v)-1]
	}
	return v
}

// maxTries limits the incomplete reviews that are counted.
const maxTries = 99

// maxLine limits the line numbers in a marker; no file that is reviewed has as many.
const maxLine = 1 << 30

// marker returns the hidden line.
func (w Writer) marker(m Marker) string {
	var b strings.Builder
	b.WriteString("<!-- " + markerVersion)
	for i, v := range m.values() {
		if v != "" {
			fmt.Fprintf(&b, " %s=%s", fields[i], v)
		}
	}
	if !w.Key.IsZero() {
		fmt.Fprintf(&b, " %s=%x", fields[len(fields)-1], w.sign(m, w.identities()[0]))
	}
	return b.String() + " -->"
}

// identities are what the repository is called in signatures: its number, which stays when it
// is renamed, and its name, by which older comments are signed.
func (w Writer) identities() []precedent.Repo {
	p := w.PullRequest
	if p.RepoID == "" {
		return []precedent.Repo{p.Repo}
	}
	return []precedent.Repo{precedent.NumberedRepo(p.Repo.Host, p.RepoID), p.Repo}
}

// sign returns the HMAC of the marker and the pull request. Each value follows its length, so
// that the boundaries are unambiguous.
func (w Writer) sign(m Marker, r precedent.Repo) []byte {
	h := hmac.New(sha256.New, []byte(w.Key.secret()))
	signed := append([]string{
		markerVersion, strings.ToLower(r.Host), strings.ToLower(r.Owner), strings.ToLower(r.Name),
		strconv.Itoa(w.PullRequest.Number),
	}, m.values()...)
	for _, v := range signed {
		h.Write([]byte(strconv.Itoa(len(v))))
		h.Write([]byte{0})
		h.Write([]byte(v))
	}
	return h.Sum(nil)
}

// footer returns the visible line. A summary has none: the report ends with a line for people.
func (w Writer) footer(m Marker) string {
	if m.Kind == Summary {
		return ""
	}
	return "\n\n<sub>" + w.finder() + "</sub>"
}

func (w Writer) finder() string {
	if len(w.Finder) > maxField || !token().MatchString(w.Finder) {
		return "precedent"
	}
	return w.Finder
}

// tail returns the end of every comment: footer and marker.
func (w Writer) tail(m Marker) string { return w.footer(m) + "\n\n" + w.marker(m) + "\n" }

// Read returns the marker that ends a comment. It is false if there is none, if it differs
// from what the Writer writes, or, with a key, if it was not signed with it for the
// PullRequest. Without a key, signatures are ignored: only the author of the comment vouches
// for it.
func (w Writer) Read(body string) (Marker, bool) {
	body = strings.TrimRight(body, " \t\r\n")
	if last := body[strings.LastIndexByte(body, '\n')+1:]; len(last) > maxMarker || !strings.HasPrefix(last, "<!-- ") {
		return Marker{}, false // most comments; avoids parsing them as Markdown
	}
	line, ok := markdown.LastComment(body)
	if !ok || strings.Contains(line, "\n") {
		return Marker{}, false
	}
	line, ok = strings.CutPrefix(line, "<!-- "+markerVersion+" ")
	if !ok {
		return Marker{}, false
	}
	line, ok = strings.CutSuffix(line, " -->")
	if !ok {
		return Marker{}, false
	}
	m, signature, ok := parse(strings.Split(line, " "))
	if !ok {
		return Marker{}, false
	}
	if !w.Key.IsZero() {
		sum, err := hex.DecodeString(signature)
		return m, err == nil && slices.ContainsFunc(w.identities(),
			func(r precedent.Repo) bool { return hmac.Equal(sum, w.sign(m, r)) })
	}
	return m, true
}

// maxMarker limits a marker, in bytes: ten fields, the title and the signature.
const maxMarker = 4096

// parse reads the fields of a marker: known ones, in their order, each at most once.
func parse(words []string) (m Marker, signature string, ok bool) {
	values := make([]string, len(fields))
	next := 0
	for _, field := range words {
		name, value, _ := strings.Cut(field, "=")
		i := slices.Index(fields[next:], name)
		if i < 0 || value == "" {
			return Marker{}, "", false
		}
		next += i + 1
		values[next-1] = value
	}
	return decodeFields(values)
}

func decodeFields(values []string) (m Marker, signature string, ok bool) {
	title, err := titles.DecodeString(values[9])
	if err != nil || len(title) > maxTitle || !utf8.Valid(title) {
		return Marker{}, "", false
	}
	for i, v := range values {
		if i != 9 && v != "" && (len(v) > maxFieldOf(fields[i] == "answers") || !token().MatchString(v)) {
			return Marker{}, "", false
		}
	}
	m = Marker{
		Kind: Kind(values[0]), Thread: values[1], Review: values[2], Fingerprint: values[3], Finding: values[4],
		Head: values[5], Run: values[11], Answers: values[13],
		Category: precedent.Category(values[6]), Severity: precedent.Severity(values[7]), Title: string(title),
	}
	switch m.Kind {
	case Finding, Summary, Review, Reply, Answer:
	default:
		if !m.Kind.IsNote() {
			return Marker{}, "", false
		}
	}
	if v := values[8]; v != "" {
		if m.Confidence, err = strconv.Atoi(v); err != nil || m.Confidence < 1 || m.Confidence > 100 ||
			strconv.Itoa(m.Confidence) != v {
			return Marker{}, "", false
		}
	}
	if v := values[10]; v != "" {
		first, last, _ := strings.Cut(v, "-")
		m.Start, err = strconv.Atoi(first)
		if err == nil {
			m.End, err = strconv.Atoi(last)
		}
		if err != nil || m.Start < 1 || m.Start > m.End || m.End > maxLine || fmt.Sprintf("%d-%d", m.Start, m.End) != v {
			return Marker{}, "", false
		}
	}
	if v := values[12]; v != "" {
		var ok bool
		if m.Spent, ok = parseSpending(v); !ok {
			return Marker{}, "", false
		}
	}
	if v := values[14]; v != "" {
		if m.Tries, err = strconv.Atoi(v); err != nil || m.Tries < 1 || m.Tries > maxTries || strconv.Itoa(m.Tries) != v {
			return Marker{}, "", false
		}
	}
	known := (m.Category == "" || slices.Contains(precedent.Categories, m.Category)) &&
		(m.Severity == "" || slices.Contains(precedent.Severities, m.Severity))
	return m, values[15], known && m.Thread != ""
}

// sanitize makes text from outside safe: shortened, with credentials redacted, and withheld if
// it holds a secret of this process.
func sanitize(s string, own secret.Own) string {
	s = text.Head(s, maxOutside)
	if own.In(s) {
		return withheld
	}
	s, _ = secret.Redact("", s)
	return s
}

// maxOutside limits one text from outside, in bytes. Usually less is shown.
const maxOutside = 8 << 10
