package portable

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// The kinds of rows, in the order of files. Each is also the only key of its lines.
const (
	learningKind  = "learning"
	historyKind   = "history"
	dismissalKind = "rejection"
	forgottenKind = "forgotten"
	outcomeKind   = "outcome"
	labelKind     = "label"
	findingKind   = "finding"
	insightKind   = "insight"
)

var kinds = []string{
	learningKind, historyKind, dismissalKind, forgottenKind, outcomeKind, labelKind, findingKind, insightKind,
}

// Limits of a line. Times of other machines may be ahead by their clocks.
const (
	maxLine  = 256 << 10 // bytes; a history entry of the longest learning in any script, escaped
	maxShort = 300       // characters of names and ids
	maxPath  = 4_096     // characters, as of a file system
	maxAhead = 24 * time.Hour
	// maxEvidence limits each list of an insight; its pull requests and people grow with the years.
	maxEvidence = 5_000
	maxProse    = precedent.MaxLearningField
	longLived   = store.DismissalLife + maxAhead
)

// dismissal is a line of a precedent.Dismissal: without what is made on each machine.
type dismissal struct {
	ID          string             `json:"-"`
	Finding     string             `json:"-"`
	Fingerprint string             `json:"fingerprint"`
	Claim       string             `json:"claim"`
	Path        string             `json:"path,omitempty"`
	Symbol      string             `json:"symbol,omitempty"`
	Category    precedent.Category `json:"category,omitempty"`
	Severity    precedent.Severity `json:"severity"`
	Reason      string             `json:"reason,omitempty"`
	Who         string             `json:"who,omitempty"`
	At          time.Time          `json:"at"`
	ExpiresAt   time.Time          `json:"expires_at,omitzero"`
	Hits        int                `json:"-"`
	Accepted    int                `json:"-"`
	Rule        string             `json:"rule,omitempty"`
	Glob        string             `json:"glob,omitempty"`
	Source      string             `json:"source,omitempty"`
	Place       string             `json:"place,omitempty"`
}

// reader checks rows at a time.
type reader struct{ now time.Time }

func (r reader) parse(line []byte) (row, error) {
	if !utf8.Valid(line) {
		return row{}, errors.New("it is not UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := strict.Unmarshal(line, &fields); err != nil {
		return row{}, fmt.Errorf("it is not a JSON object: %w", err)
	}
	if len(fields) != 1 {
		return row{}, fmt.Errorf("want an object with one key, of %s", strings.Join(kinds, ", "))
	}
	for name, raw := range fields {
		if k, ok := forms[name]; ok {
			return k.parse(r, raw)
		}
	}
	return row{}, errors.New("unknown kind of row")
}

// form is how the rows of a kind are read and stored.
type form struct {
	parse func(reader, json.RawMessage) (row, error)
	rows  func(reader, store.Shared, func(row, error)) // passes on what is stored
	add   func(*store.Shared, any)                     // adds the value of a row to what is stored
}

var forms = map[string]form{
	learningKind: formOf(reader.learning, func(s *store.Shared) *[]precedent.Learning { return &s.Learnings }),
	historyKind:  formOf(reader.history, func(s *store.Shared) *[]store.SharedChange { return &s.History }),
	dismissalKind: converted(reader.dismissal,
		func(j precedent.Dismissal) dismissal { return dismissal(j) },
		func(j dismissal) precedent.Dismissal { return precedent.Dismissal(j) },
		func(s *store.Shared) *[]precedent.Dismissal { return &s.Dismissals }),
	forgottenKind: formOf(reader.forgotten, func(s *store.Shared) *[]store.Forgotten { return &s.Forgotten }),
	outcomeKind:   formOf(reader.outcome, func(s *store.Shared) *[]precedent.Outcome { return &s.Outcomes }),
	labelKind:     formOf(reader.label, func(s *store.Shared) *[]store.Label { return &s.Labels }),
	findingKind:   formOf(reader.finding, func(s *store.Shared) *[]store.SharedFinding { return &s.Findings }),
	insightKind:   formOf(reader.insight, func(s *store.Shared) *[]precedent.Insight { return &s.Insights }),
}

// formOf is the form of rows that are stored as they are written.
func formOf[T any](check func(reader, T) (row, error), list func(*store.Shared) *[]T) form {
	same := func(v T) T { return v }
	return converted(check, same, same, list)
}

func converted[T, S any](check func(reader, T) (row, error), from func(S) T, to func(T) S,
	list func(*store.Shared) *[]S,
) form {
	return form{
		parse: func(r reader, raw json.RawMessage) (row, error) {
			var v T
			if err := strict.UnmarshalKnown(raw, &v); err != nil {
				return row{}, err
			}
			return check(r, v)
		},
		rows: func(r reader, s store.Shared, add func(row, error)) {
			for _, v := range *list(&s) {
				add(check(r, from(v)))
			}
		},
		add: func(s *store.Shared, v any) { *list(s) = append(*list(s), to(v.(T))) },
	}
}

// finish sets the line of a row, in the one form that all machines write.
func (r row) finish(value any) (row, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any{r.kind: value}); err != nil {
		return row{}, err
	}
	r.value, r.line = value, strings.TrimSuffix(b.String(), "\n")
	if len(r.line) > maxLine {
		return row{}, errLong
	}
	return r, nil
}

// checkID refuses what has not the form of ids and fingerprints: at most 128 letters, digits and
// marks, the first a letter or digit.
func checkID(what, id string) error {
	const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if id == "" || len(id) > 128 || !strings.Contains(alphanumeric, id[:1]) ||
		strings.Trim(id, alphanumeric+"._:-") != "" {
		return fmt.Errorf("invalid %s %q", what, text.Cut(text.VisibleLine(id), 60))
	}
	return nil
}

// oneOf refuses what is not one of the values.
func oneOf[T ~string](what string, v T, valid ...T) error {
	if !slices.Contains(valid, v) {
		return fmt.Errorf("invalid %s %q", what, text.Cut(text.VisibleLine(string(v)), 60))
	}
	return nil
}

// moment cuts a time to milliseconds, as databases keep it, and refuses one that is missing or
// that no clock can show yet.
func (r reader) moment(what string, t *time.Time) error {
	switch *t = t.UTC().Truncate(time.Millisecond); {
	case t.UnixMilli() <= 0:
		return fmt.Errorf("%s is missing", what)
	case t.After(r.now.Add(maxAhead)):
		return fmt.Errorf("%s is in the future: %s", what, t.Format(time.RFC3339))
	}
	return nil
}

// clean makes texts safe, at most n characters each.
func clean(n int, texts ...*string) {
	settle(n, text.Clean, texts)
}

func cleanLine(n int, texts ...*string) {
	settle(n, func(s string) string { return text.Collapse(text.Clean(s)) }, texts)
}

// settle cleans and redacts texts until they stay the same, so that every machine writes the same bytes.
func settle(n int, clean func(string) string, texts []*string) {
	const rounds = 8 // two are almost always enough
	for _, s := range texts {
		for round := 0; ; round++ {
			redacted := secret.RedactText(clean(*s))
			cut := text.Cut(redacted, n)
			if cut == *s {
				break
			}
			if *s = cut; round == rounds {
				*s = ""
			}
		}
	}
}

// cleanPath makes paths and symbols safe, which are compared with those of changes.
func cleanPath(names ...*string) {
	for _, s := range names {
		*s = text.Cut(text.VisibleLine(*s), maxPath)
	}
}

func checkGlob(glob string) error {
	switch {
	case glob == "":
		return nil
	case utf8.RuneCountInString(glob) > precedent.MaxLearningGlob:
		return fmt.Errorf("the glob has more than %d characters", precedent.MaxLearningGlob)
	case text.VisibleLine(glob) != glob:
		return errors.New("the glob has hidden characters")
	}
	return guide.CheckGlob(glob)
}

func checkFinding(c precedent.Category, s precedent.Severity) error {
	return errors.Join(oneOf("category", c, append([]precedent.Category{""}, precedent.Categories...)...),
		oneOf("severity", s, append([]precedent.Severity{""}, precedent.Severities...)...))
}

func (r reader) learning(l precedent.Learning) (row, error) {
	l, err := r.checkLearning(l)
	if err != nil {
		return row{}, err
	}
	made := row{key: key{learningKind, l.ID}, at: l.UpdatedAt.UnixMilli(), final: l.State == precedent.LearningForgotten}
	return made.finish(l)
}

func (r reader) checkLearning(l precedent.Learning) (precedent.Learning, error) {
	l.Loaded, l.Used, l.LastUsed = 0, 0, time.Time{}
	l.ExpiresAt = l.ExpiresAt.UTC().Truncate(time.Millisecond)
	clean(maxProse, &l.Directive, &l.Rationale, &l.From.Words)
	cleanLine(maxShort, &l.Approver, &l.From.Who, &l.From.Thread, &l.From.Head)
	cleanLine(maxPath, &l.From.URL)
	err := errors.Join(
		checkID("id", l.ID), r.moment("updated_at", &l.UpdatedAt), r.moment("created_at", &l.CreatedAt),
		oneOf("kind", l.Kind, precedent.LearningKinds...),
		oneOf("state", l.State, precedent.LearningPending, precedent.LearningActive, precedent.LearningSuperseded,
			precedent.LearningExpired, precedent.LearningForgotten),
		oneOf("scope", l.Scope, precedent.RepositoryScope, precedent.OwnerScope),
		oneOf("source", l.From.By, precedent.FromThread, precedent.FromComment, precedent.FromCommand, precedent.FromImport,
			precedent.FromAgent),
		checkFinding(l.Category, ""), checkGlob(l.Glob),
	)
	for _, link := range []string{l.Supersedes, l.Contradicts} {
		if err == nil && link != "" {
			err = checkID("link", link)
		}
	}
	if a := l.About; err == nil && a != nil {
		about := *a
		cleanLine(maxProse, &about.Claim)
		cleanPath(&about.Path, &about.Symbol, &about.Place)
		err, l.About = errors.Join(checkID("fingerprint", about.Fingerprint),
			checkFinding(about.Category, about.Severity)), &about
	}
	if err == nil && strings.TrimSpace(l.Directive) == "" && l.State != precedent.LearningForgotten {
		err = errors.New("the directive is empty")
	}
	return l, err
}

func (r reader) history(c store.SharedChange) (row, error) {
	var err error
	if c.After, err = r.checkLearning(c.After); err != nil {
		return row{}, err
	}
	cleanLine(maxShort, &c.Who, &c.Action)
	if err := errors.Join(checkID("learning", c.Learning), r.moment("at", &c.At)); err != nil {
		return row{}, err
	}
	made, err := row{key: key{kind: historyKind}, at: c.At.UnixMilli(), of: c.Learning}.finish(c)
	sum := sha256.Sum256([]byte(made.line))
	made.id = fmt.Sprintf("%s/%015d/%s", c.Learning, made.at, hex.EncodeToString(sum[:8]))
	return made, err
}

func (r reader) dismissal(j dismissal) (row, error) {
	clean(maxProse, &j.Reason)
	cleanLine(maxProse, &j.Claim)
	cleanLine(maxShort, &j.Who, &j.Rule)
	cleanLine(maxPath, &j.Source)
	cleanPath(&j.Path, &j.Symbol, &j.Place)
	err := errors.Join(checkID("fingerprint", j.Fingerprint), r.moment("at", &j.At), checkFinding(j.Category, j.Severity),
		checkGlob(j.Glob))
	j.ExpiresAt = j.ExpiresAt.UTC().Truncate(time.Millisecond)
	if err == nil && j.ExpiresAt.After(r.now.Add(longLived)) {
		err = fmt.Errorf("expires_at is too far in the future: %s", j.ExpiresAt.Format(time.RFC3339))
	}
	if err != nil {
		return row{}, err
	}
	made := row{key: key{dismissalKind, j.Fingerprint}, at: j.At.UnixMilli(), until: j.ExpiresAt.UnixMilli()}
	return made.finish(j)
}

func (r reader) forgotten(f store.Forgotten) (row, error) {
	if err := errors.Join(checkID("fingerprint", f.Fingerprint), r.moment("at", &f.At)); err != nil {
		return row{}, err
	}
	return row{key: key{forgottenKind, f.Fingerprint}, at: f.At.UnixMilli()}.finish(f)
}

func (r reader) outcome(o precedent.Outcome) (row, error) {
	o.Finding = "" // made from the fingerprint on each machine
	clean(maxProse, &o.Title, &o.Proof, &o.Words)
	cleanLine(maxShort, &o.Who, &o.Thread, &o.Commit)
	cleanLine(maxPath, &o.URL)
	err := errors.Join(checkID("fingerprint", o.Fingerprint), r.moment("at", &o.At), checkFinding(o.Category, o.Severity),
		oneOf("outcome", o.Kind, precedent.OutcomeKinds...))
	if err == nil && o.PullRequest <= 0 {
		err = errors.New("pull_request is missing")
	}
	if err == nil && (o.Confidence < 0 || o.Confidence > 100) {
		err = errors.New("confidence is not in percent")
	}
	if err != nil {
		return row{}, err
	}
	made := row{
		key: key{outcomeKind, fmt.Sprintf("%010d/%s", o.PullRequest, o.Fingerprint)}, at: o.At.UnixMilli(),
		final: o.Kind != precedent.OutcomeUnknown,
	}
	return made.finish(o)
}

func (r reader) label(l store.Label) (row, error) {
	cleanLine(maxShort, &l.Finder, &l.Outcome)
	cleanPath(&l.Place)
	err := errors.Join(checkID("fingerprint", l.Fingerprint), r.moment("at", &l.At), checkFinding(l.Category, l.Severity))
	if err == nil && (l.Confidence < 0 || l.Confidence > 100) {
		err = errors.New("confidence is not in percent")
	}
	l.Refit = min(max(l.Refit, -100), 100)
	if err != nil {
		return row{}, err
	}
	return row{key: key{labelKind, l.Fingerprint}, at: l.At.UnixMilli()}.finish(l)
}

func (r reader) finding(f store.SharedFinding) (row, error) {
	cleanPath(&f.Path)
	err := errors.Join(checkID("fingerprint", f.Fingerprint), r.moment("first", &f.First), r.moment("last", &f.Last),
		oneOf("category", f.Category, precedent.Categories...), oneOf("severity", f.Severity, precedent.Severities...))
	if err == nil && (f.Path == "" || f.Seen <= 0) {
		err = errors.New("path or seen is missing")
	}
	if err != nil {
		return row{}, err
	}
	return row{key: key{findingKind, f.Fingerprint}, at: f.Last.UnixMilli()}.finish(f)
}

// insight checks an insight. What a person said of it stays on their machine.
func (r reader) insight(i precedent.Insight) (row, error) {
	i.Dismissed = nil
	words, err := memory.PlainSentence(i.Text)
	switch {
	case !i.Engine:
		i.Text = memory.CountsOf(&i)
	case err != nil:
		return row{}, fmt.Errorf("its text is not used: %w", err)
	default:
		i.Text = words
	}
	cleanLine(maxShort, &i.Text)
	err = errors.Join(checkID("id", i.ID), r.moment("created_at", &i.CreatedAt), r.moment("updated_at", &i.UpdatedAt),
		oneOf("state", i.State, precedent.InsightCandidate, precedent.InsightActive, precedent.InsightPaused),
		oneOf("category", i.Category, precedent.Categories...), checkGlob(i.Scope))
	if err == nil && max(len(i.Findings), len(i.Citations), len(i.PullRequests), len(i.People)) > maxEvidence {
		err = fmt.Errorf("it has more than %d findings, pull requests or people", maxEvidence)
	}
	for _, id := range slices.Concat(i.Findings, i.Citations) {
		if err == nil {
			err = checkID("finding", id)
		}
	}
	if err != nil {
		return row{}, err
	}
	i.People = slices.Clone(i.People)
	for n := range i.People {
		cleanLine(maxShort, &i.People[n])
	}
	return row{key: key{insightKind, i.ID}, at: i.UpdatedAt.UnixMilli()}.finish(i)
}

// fromStore returns the rows of a database. What does not meet the limits of a line is left
// out and counted.
func (r reader) fromStore(s store.Shared) (rows Rows, left int) {
	rows = Rows{}
	add := func(made row, err error) {
		if err != nil {
			left++
			return
		}
		rows[made.key] = made
	}
	for _, f := range forms {
		f.rows(r, s, add)
	}
	return rows, left
}

// describe is the first words of an error, on one line.
func describe(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return text.Cut(text.VisibleLine(cmp.Or(first, "invalid")), maxShort)
}
