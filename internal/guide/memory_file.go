package guide

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
)

// MemoryFile holds what a team shares of its memory, changed by pull request.
const MemoryFile = ".precedent/memory.yaml"

// Limits of a memory file.
const (
	MaxMemoryBytes = 1 << 20
	maxMemoryRows  = 5_000 // of each list
)

// SharedMemory is the content of a memory file.
type SharedMemory struct {
	Dismissals []precedent.Rejection // without ids of findings; each has its fingerprint as id
	Learnings  []precedent.Learning
}

// ParseMemory parses a memory file, strictly like a policy: a mapping with the lists dismissals
// and learnings. Name is that of the file, for errors. Every error is a *PolicyError, and leaves
// out only its row. The texts are not yet free of markup and credentials.
func ParseMemory(data []byte, name string) (SharedMemory, []error) {
	d := &decoder{file: name, bytes: MaxMemoryBytes, rows: maxMemoryRows}
	var m SharedMemory
	root := d.decodeRoot(data)
	if root == nil {
		return m, d.errs
	}
	for key, value := range d.mapping(root) {
		if !slices.Contains([]string{"dismissals", "learnings"}, key.Value) {
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, []string{"dismissals", "learnings"}))
			continue
		}
		if !d.isLiteral(value) {
			continue
		}
		for _, row := range d.list(value) {
			before := len(d.errs)
			if key.Value == "dismissals" {
				if j := d.dismissal(row); len(d.errs) == before && !d.full {
					m.Dismissals = append(m.Dismissals, j)
				}
			} else if l := d.sharedLearning(row); len(d.errs) == before && !d.full {
				m.Learnings = append(m.Learnings, l)
			}
		}
	}
	return m, d.errs
}

// fingerprintText is the form of fingerprints and ids.
var fingerprintText = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._:-]{0,127}$`)

func (d *decoder) identifier(n *yaml.Node) string {
	s, ok := d.scalar(n, "an id")
	if ok && !fingerprintText.MatchString(s) {
		d.fail(n, "want an id, not "+quote(s), "")
	}
	return s
}

// dismissalKeys are the keys of a dismissal in the order in which they are written.
var dismissalKeys = []string{"fingerprint", "claim", "rule", "path", "symbol", "category", "severity", "paths", "reason", "who", "at", "source", "place"}

func (d *decoder) dismissal(n *yaml.Node) precedent.Rejection {
	var j precedent.Rejection
	for key, value := range d.mapping(n) {
		switch key.Value {
		case "fingerprint":
			j.Fingerprint = d.identifier(value)
		case "place":
			j.Place = d.identifier(value)
		case "claim":
			j.Claim = d.words(value)
		case "rule":
			j.Rule = d.words(value)
		case "path":
			j.Path = d.words(value)
		case "symbol":
			j.Symbol = d.words(value)
		case "category":
			s, _ := d.oneOf(value, toStrings(precedent.Categories), "a category")
			j.Category = precedent.Category(s)
		case "severity":
			s, _ := d.oneOf(value, toStrings(precedent.Severities), "a severity")
			j.Severity = precedent.Severity(s)
		case "paths":
			j.Glob, _ = d.glob(value)
		case "reason":
			j.Reason = d.words(value)
		case "who":
			j.Who = d.words(value)
		case "source":
			j.Source = d.words(value)
		case "at":
			s, ok := d.scalar(value, "a time in quotes, such as \"2026-01-31T09:00:00Z\"")
			at, err := time.Parse(time.RFC3339, s)
			if ok && err != nil {
				d.fail(value, "want a time in quotes, such as \"2026-01-31T09:00:00Z\", not "+quote(s), "")
			}
			j.At = at
		default:
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, dismissalKeys))
		}
	}
	if n.Kind == yaml.MappingNode && (j.Fingerprint == "" || j.Claim == "" || j.Severity == "" || j.At.IsZero()) {
		d.fail(n, "a row needs fingerprint, claim, severity and at", "precedent memory export --shared writes them")
	}
	j.ID = j.Fingerprint
	return j
}

// sharedLearning reads a row of a learnings file that may also have an id and a name.
func (d *decoder) sharedLearning(n *yaml.Node) precedent.Learning {
	var id, who string
	plain := *n
	plain.Content = nil
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch key, value := n.Content[i], n.Content[i+1]; {
			case key.Value == "id" && id == "":
				id = d.identifier(value)
			case key.Value == "who" && who == "":
				who = d.words(value)
			default:
				plain.Content = append(plain.Content, key, value)
			}
		}
	}
	l := d.learning(&plain)
	l.ID, l.From.Who = cmp.Or(id, l.ID), cmp.Or(who, l.From.Who)
	return l
}

// WriteMemory returns a memory file, sorted, that ParseMemory reads. The texts must be clean, on
// one line where they are names. Rows that it would refuse are left out, and counted.
func WriteMemory(m SharedMemory) (file []byte, left int, err error) {
	dismissals, learnings := slices.Clone(m.Dismissals), slices.Clone(m.Learnings)
	slices.SortFunc(dismissals, func(a, b precedent.Rejection) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Fingerprint, b.Fingerprint))
	})
	slices.SortFunc(learnings, func(a, b precedent.Learning) int {
		return cmp.Or(strings.Compare(a.Glob, b.Glob), strings.Compare(a.ID, b.ID))
	})
	var b bytes.Buffer
	b.WriteString("# What the team dismissed and taught. Written by precedent memory export --shared.\n# Reviews read it from the base commit: what is removed here holds no longer.\n")
	list := func(name string, rows []*yaml.Node) error {
		var kept []*yaml.Node
		for _, row := range rows {
			text, err := yaml.Marshal(map[string]any{name: []*yaml.Node{row}})
			if err != nil {
				return err
			}
			if _, errs := ParseMemory(text, MemoryFile); len(errs) > 0 {
				left++
				continue
			}
			kept = append(kept, row)
		}
		if len(kept) == 0 {
			return nil
		}
		text, err := yaml.Marshal(map[string]any{name: kept})
		b.Write(text)
		return err
	}
	var rows []*yaml.Node
	for _, j := range dismissals {
		values := []string{
			j.Fingerprint, j.Claim, j.Rule, j.Path, j.Symbol, string(j.Category), string(j.Severity), j.Glob, j.Reason, j.Who,
			j.At.UTC().Format(time.RFC3339Nano), j.Source, j.Place,
		}
		rows = append(rows, mappingOf(dismissalKeys, values))
	}
	if err := list("dismissals", rows); err != nil {
		return nil, 0, fmt.Errorf("write %s: %w", MemoryFile, err)
	}
	rows = nil
	for _, l := range learnings {
		rows = append(rows, mappingOf([]string{"id", "kind", "directive", "why", "paths", "category", "who"},
			[]string{l.ID, string(l.Kind), l.Directive, l.Rationale, l.Glob, string(l.Category), l.From.Who}))
	}
	if err := list("learnings", rows); err != nil {
		return nil, 0, fmt.Errorf("write %s: %w", MemoryFile, err)
	}
	if b.Len() > MaxMemoryBytes || max(len(dismissals), len(learnings)) > maxMemoryRows {
		return nil, 0, fmt.Errorf("write %s: it would have more than %d KiB or %d rows", MemoryFile, MaxMemoryBytes>>10, maxMemoryRows)
	}
	return b.Bytes(), left, nil
}

// mappingOf makes a mapping of the values that are not empty. Texts are in quotes where YAML
// would read something else.
func mappingOf(keys, values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i, v := range values {
		if v = strings.TrimSpace(v); v == "" || !utf8.ValidString(v) {
			continue
		}
		value := &yaml.Node{}
		value.SetString(strings.TrimLeft(v, "@"))
		if keys[i] == "at" || strings.Contains(v, "\n") || v == "<<" {
			value.Style = yaml.DoubleQuotedStyle
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: keys[i]}, value)
	}
	return n
}
