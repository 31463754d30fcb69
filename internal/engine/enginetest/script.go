// Package enginetest holds the conformance suite that every engine must pass, and the scripted far side that
// it plays against: planned replies, by role and name, and a record of what was asked. Main is that far side
// as a program for the command engine; tests of other packages use it as their model.
package enginetest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
)

// Script plans what an engine's far side does.
type Script struct {
	// Log is the file that every request is added to, a line of JSON each. In a script file it is relative to
	// the file's folder; script.json has script.tasks.jsonl if it names none.
	Log   string `json:"log,omitempty"`
	Plays []Play `json:"plays"`
}

// Play is what is done about the tasks of one role and name. The first play that fits a task is taken.
type Play struct {
	Role engine.Role `json:"role,omitempty"` // any if empty
	Name string      `json:"name,omitempty"` // any if empty
	// Replies are given in order to the requests of one role and name; the last one is given again and again.
	Replies []Reply `json:"replies"`
}

// Reply is one planned reply. Without any field it is a response without an answer.
type Reply struct {
	Answer json.RawMessage `json:"answer,omitempty"` // the answer as JSON
	// Verdicts and Pairs are the answer of a verifier and of a judge, with the ids
	// that the request gives to what they are about.
	Verdicts []Ruling        `json:"verdicts,omitempty"`
	Pairs    []Opinion       `json:"pairs,omitempty"`
	Text     string          `json:"text,omitempty"`    // instead: what the model wrote, good or bad
	Stdout   string          `json:"stdout,omitempty"`  // instead: the program's whole output
	Usage    json.RawMessage `json:"usage,omitempty"`   // fields as in precedent.Usage, and cost_usd
	Model    string          `json:"model,omitempty"`   // which model is said to have answered
	Refused  bool            `json:"refused,omitempty"` // the model would not
	Stderr   string          `json:"stderr,omitempty"`  // written before anything else
	Exit     int             `json:"exit,omitempty"`    // exit status; other than 0, nothing is answered
	Hang     bool            `json:"hang,omitempty"`    // never answers
	Flood    bool            `json:"flood,omitempty"`   // never stops answering
}

// Load reads a script file. Unknown fields are errors.
func Load(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("read script: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var s Script
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read script %s: %w", path, err)
	}
	if s.Log == "" {
		s.Log = strings.TrimSuffix(filepath.Base(path), ".json") + ".tasks.jsonl"
	}
	if !filepath.IsAbs(s.Log) {
		s.Log = filepath.Join(filepath.Dir(path), s.Log)
	}
	return s, nil
}

// Save writes the script to a file for Main.
func (s Script) Save(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	return nil
}

// entry is a line of the log. The id tells equal requests apart.
type entry struct {
	ID      string         `json:"id"`
	Request engine.Request `json:"request"`
}

// Next records a request and returns the reply that is planned for it. The log is the only state, so that
// processes may share a script, as they do if each request starts a program.
func (s Script) Next(r engine.Request) (Reply, error) {
	id := rand.Text()
	line, err := json.Marshal(entry{ID: id, Request: r})
	if err != nil {
		return Reply{}, fmt.Errorf("record request: %w", err)
	}
	if err := appendLine(s.Log, line); err != nil {
		return Reply{}, fmt.Errorf("record request: %w", err)
	}
	entries, err := s.entries()
	if err != nil {
		return Reply{}, err
	}
	earlier := 0
	for _, e := range entries {
		if e.ID == id {
			break
		}
		if e.Request.Role == r.Role && e.Request.Name == r.Name {
			earlier++
		}
	}
	for _, p := range s.Plays {
		if (p.Role == "" || p.Role == r.Role) && (p.Name == "" || p.Name == r.Name) && len(p.Replies) > 0 {
			reply := p.Replies[min(earlier, len(p.Replies)-1)]
			return reply, reply.fill(r.Prompt)
		}
	}
	return Reply{}, fmt.Errorf("no play for role %q, name %q", r.Role, r.Name)
}

// Sent returns the requests recorded so far, in order.
func (s Script) Sent() ([]engine.Request, error) {
	entries, err := s.entries()
	var sent []engine.Request
	for _, e := range entries {
		sent = append(sent, e.Request)
	}
	return sent, err
}

func (s Script) entries() ([]entry, error) {
	f, err := os.Open(s.Log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	var entries []entry
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, nil // a line without its end is still being written
		}
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		entries = append(entries, e)
	}
}

// appendLine writes in a single call, which the system does not interleave with others' at the end of a file.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
