package comment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// markerVersion begins every marker, and is part of what is signed.
const markerVersion = "precedent:1"

// maxTitle limits the title in a marker, in bytes: a finding's has at most 90 characters.
const maxTitle = 400

// token matches valid ids in a marker.
var token = text.Pattern(`^[0-9A-Za-z]+(?:[._-][0-9A-Za-z]+)*$`)

// encoding is base64 without padding. It has no dash: some parsers do not allow two of them within an HTML comment.
var encoding = base64.RawStdEncoding.Strict()

// Limits of a marker.
const (
	maxField  = 128     // bytes of an id: a hash of 512 bits in hexadecimal
	maxTries  = 99      // incomplete reviews that are counted
	maxLine   = 1 << 30 // no file that is reviewed has as many lines
	maxMarker = 8192    // bytes of the line
)

// bounded returns the marker without invalid fields.
func (m Marker) bounded() Marker {
	for _, s := range []*string{&m.Thread, &m.Review, &m.Fingerprint, &m.Finding, &m.Head, &m.Run, &m.Answers} {
		most := maxField
		if s == &m.Answers {
			most = MaxAnswers
		}
		if len(*s) > most || !token().MatchString(*s) {
			*s = ""
		}
	}
	if !slices.Contains(precedent.Categories, m.Category) {
		m.Category = ""
	}
	if !slices.Contains(precedent.Severities, m.Severity) {
		m.Severity = ""
	}
	if _, err := time.Parse(time.DateOnly, m.Spent.Day); err != nil || m.Spent.Microdollars <= 0 ||
		m.Spent.Microdollars > maxSpent {
		m.Spent = Spending{}
	}
	m.Confidence = max(0, min(m.Confidence, 100))
	m.Tries = max(0, min(m.Tries, maxTries))
	if m.End = max(m.Start, m.End); m.Start < 1 || m.End > maxLine {
		m.Start, m.End = 0, 0
	}
	m.Title = strings.ToValidUTF8(m.Title[:min(len(m.Title), maxTitle)], "")
	return m
}

// sanitized returns the marker without invalid fields, and without a title that holds a
// secret.
func (m Marker) sanitized(own secret.Own) Marker {
	m.Title = strings.ToValidUTF8(sanitize(m.Title, own), "")
	return m.bounded()
}

// encode returns the fields of the marker as they are written and signed.
func (m Marker) encode() string {
	data, _ := json.Marshal(m) // strings and numbers
	return encoding.EncodeToString(data)
}

// marker returns the hidden line.
func (w Writer) marker(m Marker) string {
	fields := m.encode()
	if !w.Key.IsZero() {
		fields += " " + encoding.EncodeToString(w.sign(fields, w.identities()[0]))
	}
	return "<!-- " + markerVersion + " " + fields + " -->"
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

// sign returns the HMAC of the fields and the pull request.
func (w Writer) sign(fields string, r precedent.Repo) []byte {
	h := hmac.New(sha256.New, []byte(w.Key.secret()))
	fmt.Fprintf(h, "%q", []string{
		markerVersion, strings.ToLower(r.Host), strings.ToLower(r.Owner), strings.ToLower(r.Name),
		strconv.Itoa(w.PullRequest.Number), fields,
	})
	return h.Sum(nil)
}

// footer is the visible line below a comment.
const footer = "<sub>precedent</sub>"

// tail returns the end of a comment: footer and marker. A summary has no footer: the report ends with a line for people.
func (w Writer) tail(m Marker) string {
	hidden := "\n\n" + w.marker(m) + "\n"
	if m.Kind == Summary {
		return hidden
	}
	return "\n\n" + footer + hidden
}

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
	fields, signature, signed := strings.Cut(line, " ")
	m, ok := decode(fields)
	sum, err := encoding.DecodeString(signature)
	if !ok || err != nil || signed != (len(sum) == sha256.Size) {
		return Marker{}, false
	}
	return m, w.Key.IsZero() || slices.ContainsFunc(w.identities(), func(r precedent.Repo) bool {
		return hmac.Equal(sum, w.sign(fields, r))
	})
}

// decode reads what encode writes of a valid marker, and nothing else.
func decode(fields string) (m Marker, ok bool) {
	data, err := encoding.DecodeString(fields)
	if err != nil || strict.Unmarshal(data, &m) != nil || m != m.bounded() || m.encode() != fields {
		return Marker{}, false
	}
	known := slices.Contains([]Kind{Finding, Summary, Review, Reply, Answer}, m.Kind) || m.Kind.IsNote()
	return m, known && m.Thread != ""
}

// sanitize makes text from outside safe: shortened, with credentials redacted, and withheld if
// it holds a secret of this process.
func sanitize(s string, own secret.Own) string {
	s = text.Head(s, maxOutside)
	if own.In(s) {
		return withheld
	}
	return secret.RedactText(s)
}

// maxOutside limits one text from outside, in bytes. Usually less is shown.
const maxOutside = 8 << 10
