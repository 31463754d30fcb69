package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// JSON writes the review as the contract that its schema field names, indented, with a line
// end. Empty lists are [], never null. The review itself is not changed.
func JSON(w io.Writer, r *precedent.Review) error { return Value(w, withoutNil(r)) }

// Value writes a value of a command's --json as JSON does: indented, without HTML escapes,
// with a line end. Control and invisible characters are escaped.
func Value(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	// GitHub's runner would read it as a command.
	_, err := w.Write(bytes.ReplaceAll(escapeHidden(b.Bytes()), []byte("##["), []byte(`##\u005b`)))
	return err
}

// escapeHidden escapes the hidden characters of JSON. They occur in strings only, so the value
// is the same.
func escapeHidden(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		i += n
		if r < 0x7f {
			continue
		}
		if _, hidden := text.Hidden(r); !hidden {
			continue
		}
		out = append(out, data[done:i-n]...)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		done = i
	}
	return append(out, data[done:]...)
}

// withoutNil returns a copy of r without nil lists.
func withoutNil(r *precedent.Review) *precedent.Review {
	c := *r
	c.Schema = cmp.Or(c.Schema, precedent.ResultSchema)
	c.Target.Paths = list(c.Target.Paths)
	c.Findings = list(slices.Clone(c.Findings))
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Evidence, f.Cites = list(f.Evidence), list(f.Cites)
	}
	c.Finders = list(c.Finders)
	c.Coverage.Skipped = list(c.Coverage.Skipped)
	c.Coverage.Truncated = list(c.Coverage.Truncated)
	c.Coverage.NotChecked = list(c.Coverage.NotChecked)
	c.Memory.Hotspots = list(slices.Clone(c.Memory.Hotspots))
	for i := range c.Memory.Hotspots {
		c.Memory.Hotspots[i].Categories = list(c.Memory.Hotspots[i].Categories)
	}
	c.Memory.Insights = list(c.Memory.Insights)
	c.Memory.LearningsPending = list(slices.Clone(c.Memory.LearningsPending))
	c.Memory.LearningsUsed = list(slices.Clone(c.Memory.LearningsUsed))
	for _, some := range [][]precedent.LearningUse{c.Memory.LearningsUsed, c.Memory.LearningsPending} {
		for i := range some {
			some[i].Findings = list(some[i].Findings)
		}
	}
	c.Memory.Precedents = list(c.Memory.Precedents)
	c.Memory.PrecedentUse.Failures = list(c.Memory.PrecedentUse.Failures)
	c.Memory.Suppressed = list(c.Memory.Suppressed)
	c.TakenAway = list(c.TakenAway)
	c.Threads = list(c.Threads)
	c.Failures = list(c.Failures)
	if s := c.Since; s != nil {
		c.Since = &precedent.SinceLast{
			Review: s.Review, Fixed: list(s.Fixed), Still: list(s.Still), New: list(s.New),
			Unknown: list(s.Unknown),
		}
	}
	return &c
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
