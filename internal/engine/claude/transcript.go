package claude

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// mostReviews is how many reviews' transcripts are kept.
	mostReviews = 30
	// stamp is the format of a review's name: the time of the first task about its tree.
	stamp = "20060102T150405.000Z"
)

// transcript is the input and output of a session. It contains neither the environment nor values from it.
type transcript struct {
	Role    engine.Role `json:"role"`
	Name    string      `json:"name"`
	System  string      `json:"system"`
	Prompt  string      `json:"prompt"`
	Status  string      `json:"status"`
	Message string      `json:"message,omitempty"`
	// Stream has the CLI's lines, without the pieces of messages that are also there as a
	// whole. A line that is not JSON is a string.
	Stream []json.RawMessage `json:"stream"`
}

// records keeps the transcripts of the newest reviews in a folder, as
// {review}-{task}-{number}.json, with a random number.
type records struct {
	folder string // empty for none
	now    func() time.Time

	mu     sync.Mutex
	review map[string]string // the stamp, by tree
}

var unfit = text.Pattern(`[^A-Za-z0-9_]+`)

// keep writes a transcript. It ignores errors: transcripts only serve to debug, and a
// review must not fail because of one.
func (c *records) keep(t engine.Task, r engine.Reply, stream []byte) {
	if c.folder == "" {
		return
	}
	entry := transcript{
		Role: t.Role, Name: t.Name, System: t.System, Prompt: t.User(), Status: string(r.Status),
		Message: r.Message, Stream: []json.RawMessage{},
	}
	for line := range bytes.Lines(stream) {
		line = bytes.TrimSpace(line)
		if v, ok := parse(line); ok && v.Type == "stream_event" {
			continue
		}
		if !json.Valid(line) {
			line, _ = json.Marshal(string(line)) // a string always marshals
		}
		entry.Stream = append(entry.Stream, line)
	}
	data, err := json.MarshalIndent(entry, "", "  ")
	if err != nil || os.MkdirAll(c.folder, 0o700) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.review == nil {
		c.review = map[string]string{}
	}
	id, ok := c.review[t.Tree]
	if !ok {
		id = c.now().UTC().Format(stamp)
		c.review[t.Tree] = id
	}
	f, err := os.CreateTemp(c.folder, id+"-"+unfit().ReplaceAllString(t.Name, "_")+"-*.json") // others write here, too
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if f.Close() != nil || err != nil {
		_ = os.Remove(f.Name()) // an incomplete one misleads
	}
	c.prune()
}

// prune removes all transcripts except those of the newest reviews.
func (c *records) prune() {
	files, err := os.ReadDir(c.folder)
	if err != nil {
		return
	}
	reviews := map[string][]string{}
	for _, f := range files {
		id, _, ok := strings.Cut(f.Name(), "-")
		if _, err := time.Parse(stamp, id); ok && err == nil { // and not another file
			reviews[id] = append(reviews[id], filepath.Join(c.folder, f.Name()))
		}
	}
	ids := slices.Sorted(maps.Keys(reviews))
	for _, id := range ids[:max(len(ids)-mostReviews, 0)] {
		for _, f := range reviews[id] {
			_ = os.Remove(f) // another process may have removed it
		}
	}
}
