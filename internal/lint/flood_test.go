package lint

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
)

// conflictsAt makes a file with a conflict on every third line.
func conflictsAt(path string, n int) *diff.Change {
	return added(path, strings.Repeat("<<<<<<< x\n=======\n>>>>>>> y\n", n))
}

// TestFlood: many findings of a rule in a file are one, at the first place, however many they are.
func TestFlood(t *testing.T) {
	same(t, run(t, "conflict-markers", &Input{Change: conflictsAt("a.txt", maxApart)}), "a.txt:1 conflict-marker high",
		"a.txt:4 conflict-marker high", "a.txt:7 conflict-marker high")
	for _, n := range []int{maxApart + 1, maxPlaces, 40, maxFindings + 7, 20_000} {
		r := run(t, "conflict-markers", &Input{Change: conflictsAt("a.txt", n)})
		same(t, r, "a.txt:1 conflict-marker high")
		f := r.Findings[0]
		if want := fmt.Sprintf("(%d places in this file)", n); !strings.HasSuffix(f.Title, want) {
			t.Errorf("title %q, want %q at its end", f.Title, want)
		}
		if want := "a.txt:1, a.txt:4, a.txt:7, a.txt:10"; !strings.Contains(f.Body, want) {
			t.Errorf("body %q, want %q", f.Body, want)
		}
		if len(f.Evidence) != min(n, maxEvidence) || len(f.Body) > 2000 {
			t.Errorf("%d pieces of evidence, body of %d", len(f.Evidence), len(f.Body))
		}
		if r.Status != precedent.StatusOK || r.Error != "" {
			t.Errorf("%s, %q", r.Status, r.Error)
		}
	}
}

// TestFloodsApart: files, rules, severities and dropped findings do not mix, and each rule's place is its own.
func TestFloodsApart(t *testing.T) {
	c := &collect{name: "x"}
	at := func(path string, start, end int, rule string, severity precedent.Severity) precedent.Finding {
		return precedent.Finding{Span: precedent.Span{Path: path, Start: start, End: end}, Rule: rule, Severity: severity}
	}
	for i := range 5 {
		titled, dropped := at("a", 10+i, 10+i, "r", precedent.Low), at("a", 50+i, 50+i, "r", precedent.Low)
		titled.Title, dropped.Dropped = fmt.Sprint("Title ", i), precedent.TurnedOff
		for _, f := range []precedent.Finding{
			titled,
			at("b", 20+i, 20+i, "r", precedent.Low),
			at("a", 30+i, 30+i, "s", precedent.Low),
			at("a", 40+i, 40+i, "r", precedent.High),
			dropped,
			at("a", 60+3*i, 61+3*i, "r", precedent.Low),
			at("a", 0, 0, "r", precedent.Low),
		} {
			c.add(f)
		}
	}
	got := needs.Each(c.list(), func(f precedent.Finding) string { return f.String() })
	want := strings.Fields("a:10 b:20 a:30 a:40 a:50 a:60-61 a a:63-64 a a:66-67 a a:69-70 a a:72-73 a")
	needs.Equal(t, want, got)
	if body := c.list()[0].Body; !strings.Contains(body, "\n- a:12: Title 2") {
		t.Errorf("places with different titles: %q", body)
	}
}

// TestBounded: of too many findings the worst are listed, and everything counts as read.
func TestBounded(t *testing.T) {
	c := &collect{name: "x"}
	for i := range 2 * maxFindings {
		f := precedent.Finding{Span: precedent.Span{Path: fmt.Sprint("a", i), Start: 1, End: 1}, Severity: precedent.Low}
		c.add(f)
		if f.Severity = precedent.High; i > maxFindings+8 {
			c.add(f)
		}
	}
	r := c.result(context.Background(), nil)
	if len(r.Findings) != maxFindings || r.Findings[maxFindings-10].Severity != precedent.High || r.Status != precedent.StatusOK ||
		!strings.Contains(r.Error, "991 more") {
		t.Errorf("%d findings, %s, %q", len(r.Findings), r.Status, r.Error)
	}
}
