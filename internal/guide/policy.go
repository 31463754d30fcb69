package guide

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of a policy. The file is written by hand.
const (
	maxPolicyBytes  = 64 << 10
	maxPolicyErrors = 50
	maxRows         = 200  // of one list
	maxInstruction  = 2000 // characters
	maxInline       = 100
	maxDays         = 3650
)

// PolicyError is an error in a policy, and its position. The section with the error
// has no effect; the rest of the policy applies.
type PolicyError struct {
	File      string
	Line, Col int    // from 1
	Section   string // the top-level key that it is below; empty if the whole file has no effect
	Msg       string
	Hint      string // what to write instead; may be empty
}

func (e *PolicyError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Effect says what has no effect because of the error; empty for a key that is not known.
func (e *PolicyError) Effect() string {
	if e.Section == "" {
		return "the whole file has no effect"
	}
	if slices.Contains(Keys(), e.Section) {
		return "the section " + e.Section + " has no effect"
	}
	return ""
}

// sections returns the top-level keys that a policy can have, each with the function that reads it into p.
func (d *decoder) sections(p *precedent.Policy) fields {
	minor := []precedent.MinorDisplay{precedent.MinorFold, precedent.MinorShow, precedent.MinorOff}
	citations := []precedent.CitationDisplay{
		precedent.PrecedentsQuiet, precedent.PrecedentsFull, precedent.PrecedentsAnonymous, precedent.PrecedentsOff,
	}
	return fields{
		"threshold": func(n *yaml.Node) {
			if i, ok := d.number(n, 0, 100); ok {
				p.Threshold = &i
			}
		},
		"max_inline_comments":       d.whole(&p.MaxInline, maxInline),
		"focus_areas":               func(n *yaml.Node) { p.Focus = rows(d, n, d.category) },
		"ignore":                    func(n *yaml.Node) { p.Ignore = rows(d, n, d.ignored) },
		"finders":                   func(n *yaml.Node) { p.Finders = d.switches(n) },
		"instructions":              func(n *yaml.Node) { p.Instructions = rows(d, n, d.instruction) },
		"severity_floors":           func(n *yaml.Node) { p.Floors = rows(d, n, d.floor) },
		"maintainers":               func(n *yaml.Node) { p.Maintainers = rows(d, n, d.maintainer) },
		"linters":                   func(n *yaml.Node) { p.Linters = d.linters(n) },
		"minor":                     choice(d, &p.Minor, minor, "a way to show minor findings"),
		"include_positive_feedback": d.onOff(&p.NoPraise, true),
		"request_changes":           d.onOff(&p.RequestChanges, false),
		"pass_without_model":        d.onOff(&p.PassWithoutModel, false),
		"precedents":                choice(d, &p.Precedents, citations, "a way to cite the comments of people"),
		"learnings":                 func(n *yaml.Node) { d.learnings(n, &p.Learnings) },
		"reviews":                   func(n *yaml.Node) { p.Reviews = d.reviews(n) },
		"labels":                    func(n *yaml.Node) { p.Labels = d.labels(n) },
		"gate":                      func(n *yaml.Node) { d.gate(n, &p.Gate) },
		"fix":                       func(n *yaml.Node) { d.fix(n, &p.Fix) },
		"language": func(n *yaml.Node) {
			p.Language, _ = d.matching(n, languageTag, "a language tag such as de or pt-BR", "")
		},
	}
}

func (d *decoder) category(n *yaml.Node) (c precedent.Category) {
	choice(d, &c, precedent.Categories, "a category")(n)
	return c
}

func (d *decoder) ignored(n *yaml.Node) string {
	s, ok := d.glob(n)
	if ok && MatchesAll(s) {
		d.fail(n, "the glob ignores every file", "list only paths that need no review; to review less, turn off finders")
	}
	return s
}

func (d *decoder) switches(n *yaml.Node) map[string]bool {
	all := map[string]bool{}
	for key, value := range d.mapping(n) {
		if !slices.Contains(d.finders, key.Value) {
			d.fail(key, "unknown finder "+quote(key.Value), "known: "+strings.Join(d.finders, ", "))
			continue
		}
		all[key.Value], _ = d.boolean(value)
	}
	return all
}

func (d *decoder) instruction(n *yaml.Node) (i precedent.Instruction) {
	d.row(n, fields{
		"paths": func(v *yaml.Node) { i.Paths, _ = d.glob(v) },
		"text": func(v *yaml.Node) {
			i.Text = d.prose(v, "text", maxInstruction, "shorten it, or move it to a guide file")
		},
	})
	return i
}

func (d *decoder) floor(n *yaml.Node) (f precedent.SeverityFloor) {
	d.row(n, fields{
		"paths":    func(v *yaml.Node) { f.Paths, _ = d.glob(v) },
		"severity": choice(d, &f.Severity, precedent.Severities, "a severity"),
	})
	return f
}

func (d *decoder) maintainer(n *yaml.Node) string {
	s, _ := d.matching(n, login, "a login", "write the name of an account, without @; teams cannot be listed")
	return s
}

func (d *decoder) linters(n *yaml.Node) (all []string) {
	for _, row := range d.list(n) {
		s, ok := d.matching(row, linterName, "the name of a linter",
			"write a name such as ruff or golangci-lint; only the operator can configure commands")
		if ok && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

var captures = []precedent.LearningCapture{precedent.CaptureAuto, precedent.CaptureAsk, precedent.CaptureOff}

// learnings reads which learnings are used.
func (d *decoder) learnings(n *yaml.Node, l *precedent.LearningPolicy) {
	d.read(n, fields{
		"enabled":      d.onOff(&l.Off, true),
		"max_age_days": d.whole(&l.MaxAgeDays, maxDays),
		"capture":      choice(d, &l.Capture, captures, "a way to capture learnings"),
		"scope": func(v *yaml.Node) { // the repository's own, or also those that others of the owner share
			s, _ := d.oneOf(v, []string{"local", "global"}, "a scope of learnings")
			l.Global = s == "global"
		},
	})
}

var (
	login       = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	linterName  = text.Pattern(`^[a-z][a-z0-9-]{0,39}$`)
	languageTag = text.Pattern(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)
)

// ParsePolicy parses a policy. name is the file's name for errors; finders are the
// names that can be turned on and off. Every error is a *PolicyError. If the file as
// a whole is invalid, the policy is empty; an error in a section only drops that
// section. Where the default allows more than the section may have allowed, the closest
// restriction takes its place: see failClosed.
func ParsePolicy(data []byte, name string, finders []string) (precedent.Policy, []error) {
	p, _, errs := parsePolicy(data, name, finders)
	return p, errs
}

// Sections returns the sections of the file of a policy that have an effect, as one line of YAML each, by key.
// Those that failClosed has restricted are as they hold in p. The finders are those of ParsePolicy.
func Sections(p precedent.Policy, data []byte, finders []string) map[string]string {
	_, sections, _ := parsePolicy(data, PolicyFile, finders)
	all := map[string]string{}
	for key, value := range sections {
		line, err := yaml.Marshal(flow(value))
		if err == nil {
			all[key] = strings.TrimSpace(string(line))
		}
	}
	if p.Gate.Broken != "" {
		all["gate"] = "{enabled: false}"
	}
	if p.Fix.Broken != "" {
		all["fix"] = "{enabled: false}"
	}
	if p.Precedents == precedent.PrecedentsOff {
		all["precedents"] = string(p.Precedents)
	}
	if all["learnings"] == "" && p.Learnings.Off {
		all["learnings"] = "{enabled: false}"
	}
	if p.RequestChanges {
		all["request_changes"] = "true"
	}
	return all
}

// flow returns a copy that is written in one line, without comments.
func flow(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	if n.Kind != yaml.ScalarNode {
		c.Style = yaml.FlowStyle
	}
	for _, part := range n.Content {
		c.Content = append(c.Content, flow(part))
	}
	return c
}

// parsePolicy is ParsePolicy, and returns the values of the sections without errors, too.
func parsePolicy(data []byte, name string, finders []string) (p precedent.Policy, sections map[string]*yaml.Node,
	errs []error,
) {
	d := &decoder{file: name, finders: finders}
	root := d.decodeRoot(data)
	if root == nil {
		failClosed(&p, d.errs)
		return p, nil, d.errs
	}
	sections = map[string]*yaml.Node{}
	count := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		count[root.Content[i].Value]++
	}
	for i := 0; i+1 < len(root.Content) && !d.full; i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		before := len(d.errs)
		d.section = cmp.Or(key.Value, "?")
		next := p // each section has its own fields
		read, known := d.sections(&next)[key.Value]
		switch {
		case !d.key(key):
		case count[key.Value] > 1:
			d.fail(key, "the key "+quote(key.Value)+" is given more than once", "keep one; all of them are ignored")
		case !known:
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, Keys()))
		case d.isLiteral(value):
			if read(value); len(d.errs) == before && !d.full {
				p, sections[key.Value] = next, value
			}
		}
	}
	failClosed(&p, d.errs)
	return p, sections, d.errs
}

// UnreadablePolicy is the policy of a repository in which something else than a readable file
// has the policy's name.
func UnreadablePolicy(name, why string) (precedent.Policy, []error) {
	var p precedent.Policy
	errs := []error{&PolicyError{File: name, Line: 1, Col: 1, Msg: why, Hint: "commit a text file under this name"}}
	failClosed(&p, errs)
	return p, errs
}

// failClosed restricts what an error could loosen. What the gate runs and what may be fixed is not
// known then, so nothing is run or fixed; nothing is cited, no learning is used or captured, and blocking findings
// request changes.
// All other sections only add to what is reviewed and shown if they are missing. A key that is not
// known counts as the one that it resembles.
func failClosed(p *precedent.Policy, errs []error) {
	for _, err := range errs {
		var e *PolicyError
		if !errors.As(err, &e) {
			continue
		}
		meant := e.Section
		if meant != "" && !slices.Contains(Keys(), meant) {
			meant = text.Closest(meant, Keys())
		}
		if e.Section == "" || meant == "gate" {
			p.Gate = precedent.Gate{Off: true, Broken: cmp.Or(p.Gate.Broken, e.Error())}
		}
		if e.Section == "" || meant == "fix" {
			p.Fix = precedent.FixPolicy{Off: true, Broken: cmp.Or(p.Fix.Broken, e.Error())}
		}
		switch meant {
		case "precedents":
			p.Precedents = precedent.PrecedentsOff
		case "learnings":
			p.Learnings = precedent.LearningPolicy{Off: true}
		case "request_changes":
			p.RequestChanges = true
		}
	}
}

// Keys lists every known key of a policy, sorted.
func Keys() []string { return slices.Sorted(maps.Keys(new(decoder).sections(new(precedent.Policy)))) }

func toStrings[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// quote formats text from the file for an error, which may be posted: short, on one line, without credentials and
// hidden characters.
func quote(s string) string { return strconv.Quote(text.Cut(secret.RedactText(s), 60)) }

// nearest returns the hint for a misspelled word: the closest known word, or all of them.
func nearest(s string, known []string) string {
	if best := text.Closest(s, known); best != "" {
		return "did you mean " + best + "?"
	}
	if len(known) == 0 {
		return ""
	}
	return "known: " + strings.Join(known, ", ")
}
