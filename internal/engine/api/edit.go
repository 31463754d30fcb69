package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of what a task may change, besides that of its tool calls. What may be committed of it has tighter ones.
const (
	maxEntries  = 200_000 // files of a copy that are listed
	maxEditPath = 1 << 10 // bytes
	maxEditFile = maxFileBytes
)

// workingCopy is the private copy of a task that edits. A model reaches nothing else: paths are opened
// below its root, only regular files are read or replaced, and no tool makes a link.
type workingCopy struct{ root *os.Root }

func openCopy(dir string) (*workingCopy, error) {
	if dir == "" {
		return nil, errors.New("the task has no copy to edit")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open copy: %w", err)
	}
	return &workingCopy{root}, nil
}

func (c *workingCopy) close() { _ = c.root.Close() }

// tools are those that read the copy, and those that change it.
func (c *workingCopy) tools() []llm.Tool {
	files := Files{List: c.list, Read: c.read}
	read := slices.DeleteFunc(files.tools(), func(t llm.Tool) bool { return t.Name == "file_history" })
	return append(read,
		llm.Tool{
			Name:        "write_file",
			Description: "Writes a text file, in place of what it contained. At most 512 KiB.",
			Schema:      object(`"path","content"`, `"path":{"type":"string"},"content":{"type":"string"}`),
			Run:         c.change(c.write),
		},
		llm.Tool{
			Name: "replace_in_file",
			Description: "Replaces a text in a file by another one. The old text must occur exactly once, character by " +
				"character.",
			Schema: object(`"path","old","new"`,
				`"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}`),
			Run: c.change(c.replace),
		},
		llm.Tool{
			Name:        "delete_file",
			Description: "Deletes a file.",
			Schema:      object(`"path"`, `"path":{"type":"string"}`),
			Run:         c.change(c.remove),
		},
	)
}

// list returns the regular files of the copy, sorted.
func (c *workingCopy) list(ctx context.Context, _ precedent.Side) ([]string, error) {
	var all []string
	err := fs.WalkDir(c.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case len(all) == maxEntries:
			return fs.SkipAll
		case d.Type().IsRegular():
			all = append(all, name)
		}
		return nil
	})
	slices.Sort(all)
	return all, err
}

// read reads a file of the copy, which is the only side there is.
func (c *workingCopy) read(_ context.Context, _ precedent.Side, name string, limit int64) ([]byte, error) {
	if err := c.regular(name); err != nil {
		return nil, err
	}
	f, err := c.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit))
}

// regular returns an error unless there is a regular file at a path.
func (c *workingCopy) regular(name string) error {
	info, err := c.root.Lstat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	return err
}

// editing are the arguments of the tools that change files.
type editing struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Old     string `json:"old"`
	New     string `json:"new"`
}

// change checks the arguments of a tool that changes a file.
func (c *workingCopy) change(do func(name string, a editing) (string, error)) func(context.Context,
	json.RawMessage) (string, error) {
	return func(ctx context.Context, raw json.RawMessage) (string, error) {
		var a editing
		if err := json.Unmarshal(raw, &a); err != nil {
			return "", errors.New("the arguments are not of this tool's form")
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		name := path.Clean(a.Path)
		if err := c.mayChange(name, a); err != nil {
			return "", err
		}
		return do(name, a)
	}
}

// mayChange refuses paths that lead out of the copy, that no other program should find there, or
// where something else than a regular file is.
func (c *workingCopy) mayChange(name string, a editing) error {
	if err := inTree(a.Path); err != nil {
		return err
	}
	shown := text.VisibleLine(name)
	switch {
	case len(name) > maxEditPath, strings.Contains(name, `\`), text.VisibleLine(name) != name, !utf8.ValidString(name):
		return errors.New("the path has characters that are not allowed")
	case engine.Steering(name):
		return fmt.Errorf("%s configures git or agents and cannot be changed", shown)
	case !isText([]byte(a.Content)) || !isText([]byte(a.New)):
		return errors.New("only text can be written")
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := c.root.Lstat(filepath.FromSlash(dir)); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", text.VisibleLine(dir))
		}
	}
	if err := c.regular(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not a file", shown)
	}
	return nil
}

// isText reports whether the content is text that can be edited.
func isText(content []byte) bool { return utf8.Valid(content) && !bytes.Contains(content, []byte{0}) }

func (c *workingCopy) write(name string, a editing) (string, error) {
	if len(a.Content) > maxEditFile {
		return "", errors.New("the content is larger than 512 KiB")
	}
	local := filepath.FromSlash(name)
	err := c.root.MkdirAll(filepath.Dir(local), 0o700)
	if err == nil {
		err = c.root.WriteFile(local, []byte(a.Content), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be written", text.VisibleLine(name))
	}
	return "written: " + text.VisibleLine(name), nil
}

func (c *workingCopy) replace(name string, a editing) (string, error) {
	content, err := c.read(context.Background(), precedent.Right, name, maxEditFile+1)
	shown := text.VisibleLine(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is not there or cannot be read", shown)
	case len(content) > maxEditFile:
		return "", fmt.Errorf("%s is larger than 512 KiB", shown)
	case !isText(content):
		return "", fmt.Errorf("%s is not text", shown)
	case a.Old == "":
		return "", errors.New("the old text is empty")
	}
	switch n := strings.Count(string(content), a.Old); n {
	case 0:
		return "", fmt.Errorf("the old text does not occur in %s", shown)
	case 1:
	default:
		return "", fmt.Errorf("the old text occurs %d times in %s: include more of what is around it", n, shown)
	}
	a.Content = strings.Replace(string(content), a.Old, a.New, 1)
	return c.write(name, a)
}

func (c *workingCopy) remove(name string, _ editing) (string, error) {
	shown := text.VisibleLine(name)
	if err := c.regular(name); err != nil {
		return "", fmt.Errorf("%s is not there", shown)
	}
	if err := c.root.Remove(filepath.FromSlash(name)); err != nil {
		return "", fmt.Errorf("%s cannot be deleted", shown)
	}
	return "deleted: " + shown, nil
}
