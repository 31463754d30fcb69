package review

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// nothing is the answer of a model that finds nothing, to any task.
const nothing = `{"findings": [], "summary": "Read it.", "positive": "", "verdicts": [], "pairs": []}`

// theKey is what the provider gets to know the caller by.
const theKey = "the-key-that-opens-the-provider"

// served makes the review ask a server that speaks Anthropic's API and counts
// tokens as the plan does, with all finders. The model may read the head's files.
func served(tb testing.TB, in *Input, head files, h llmtest.Handler, b *engine.Budget) *llmtest.Server {
	tb.Helper()
	server := llmtest.Anthropic(tb, h)
	server.Tokens = counted()
	in.Deep = true
	in.Engine = client(tb, server, b, api.Files{
		List: func(context.Context, precedent.Side) ([]string, error) { return slices.Sorted(maps.Keys(head)), nil },
		Read: func(_ context.Context, _ precedent.Side, path string, limit int64) ([]byte, error) {
			text, ok := head[path]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text[:min(int(limit), len(text))]), nil
		},
		History: func(context.Context, string) (string, error) { return "", nil },
	})
	return server
}

// client is an engine that asks a server.
func client(tb testing.TB, server *llmtest.Server, b *engine.Budget, f api.Files) engine.Engine {
	tb.Helper()
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	model, err := llm.Anthropic(llm.Config{
		Key: theKey, BaseURL: server.URL, Model: "m1", Transport: transport,
		Now: time.Now,
	})
	needs.NoError(tb, err)
	return api.New(api.Config{Model: model, Why: "a test", Files: f, Budget: b})
}

// counted is prompt.Tokens that remembers: the parts of prompts recur.
func counted() func(string) int {
	var known sync.Map
	return func(s string) int {
		if n, ok := known.Load(s); ok {
			return n.(int)
		}
		n := prompt.Tokens(s)
		known.Store(s, n)
		return n
	}
}

// roles tells finders apart by the assignment that ends their prompts.
var roles = func() map[string]string {
	byTitle := map[string]string{}
	for _, f := range prompt.Finders() {
		byTitle["\n# Your assignment: "+f.Title+"\n"] = f.Name
	}
	return byTitle
}()

// finderOf is the finder that sends a request; empty for other roles.
func finderOf(r llmtest.Request) string {
	last := r.User[len(r.User)-1].Text
	for heading, name := range roles {
		if strings.Contains("\n"+last, heading) {
			return name
		}
	}
	return ""
}

// shardOf is the text up to the last breakpoint of the first message.
func prefixOf(r llmtest.Request) string {
	text, end := "", 0
	for _, b := range r.User {
		text += b.Text
		if b.Breakpoint {
			end = len(text)
		}
	}
	return text[:end]
}

// ledger is what a server's log says of which requests carried what.
type ledger struct {
	all []llmtest.Exchange
	of  []string                   // the finders
	by  map[string]map[string]bool // the lines that each finder was answered on
}

func newLedger(s *llmtest.Server) ledger {
	l := ledger{all: s.Exchanges(), by: map[string]map[string]bool{}}
	read := map[string][]string{}
	for _, e := range l.all {
		finder := finderOf(e.Request)
		l.of = append(l.of, finder)
		if e.Status != http.StatusOK {
			continue
		}
		if l.by[finder] == nil {
			l.by[finder] = map[string]bool{}
		}
		prefix := prefixOf(e.Request)
		if read[prefix] == nil {
			read[prefix] = shownIn(prefix)
		}
		for _, line := range read[prefix] {
			l.by[finder][line] = true
		}
	}
	return l
}

// shownIn are the lines of the diff that a prompt shows, each behind its file's name.
func shownIn(prefix string) []string {
	var lines []string
	file := ""
	for line := range strings.SplitSeq(prefix, "\n") {
		if name, ok := strings.CutPrefix(line, "=== "); ok {
			file, _, _ = strings.Cut(name, " (")
		}
		lines = append(lines, file+"\x00"+strings.TrimLeft(line, " 0123456789"))
	}
	return lines
}

// carried reports whether a finder was answered on each line of a hunk that changes something.
func (l ledger) carried(finder string, f *diff.File, h *diff.Hunk) bool {
	for i := range h.Lines {
		line := &h.Lines[i]
		if line.Op != diff.Context && !l.by[finder][f.Path+"\x00"+string(rune(line.Op))+line.Text] {
			return false
		}
	}
	return true
}

// asks are the finders that asked the server anything, in the order of their names.
func (l ledger) asks() []string {
	names := slices.DeleteFunc(slices.Clone(l.of), func(n string) bool { return n == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// unread are the hunks that by the server's log not every finder was answered
// on. Of those that make the same edit one stands for all.
func unread(in *Input, l ledger) []precedent.TruncatedHunk {
	var list []precedent.TruncatedHunk
	for _, g := range diff.Identical(in.Change) {
		missed := slices.ContainsFunc(prompt.Finders(), func(spec prompt.Spec) bool {
			return !slices.ContainsFunc(g.Hunks, func(ref diff.HunkRef) bool {
				f := &in.Change.Files[ref.File]
				return l.carried(spec.Name, f, &f.Hunks[ref.Hunk])
			})
		})
		for _, ref := range g.Hunks {
			if missed {
				list = append(list, precedent.TruncatedHunk{Path: in.Change.Files[ref.File].Path, Hunk: ref.Hunk + 1})
			}
		}
	}
	slices.SortFunc(list, byPlace)
	return list
}

// byPlace orders what a coverage lists.
func byPlace(a, b precedent.TruncatedHunk) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Hunk, b.Hunk))
}
