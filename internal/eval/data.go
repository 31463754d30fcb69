package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// Case is one change of a data set, with people's remarks about it.
type Case struct {
	Name string // of its folder
	// Repo is where the change comes from. A case without one gets its own repository.
	Repo precedent.Repo
	// Number is that of the pull request, 0 if it is unknown. It orders the changes of a repository.
	Number     int
	Base, Head string
	Intent     precedent.Untrusted // commit messages
	Change     *diff.Change        // classified
	Sum        string              // sha256 of the patch, in hex digits
	Gold       []Mark              // remarks that experts accepted
	Negative   []Mark              // remarks that experts rejected
}

// Mark is a remark that people made about a change.
type Mark struct {
	Path     string `json:"path"`
	Side     string `json:"side"`      // left or right; else right
	From     int    `json:"from_line"` // 0 for the whole file
	To       int    `json:"to_line"`
	Note     string `json:"note"`     // the remark's text
	Category string `json:"category"` // the data set's category; see classOf
	// The other fields are for dismissals only, and optional: the function or type around the lines, the
	// highest severity that is suppressed (default medium), and why people rejected the remark.
	Symbol   string             `json:"symbol"`
	Severity precedent.Severity `json:"severity"`
	Reason   string             `json:"reason"`
}

// span is the position of the mark.
func (m *Mark) span() precedent.Span {
	return precedent.Span{Path: m.Path, Side: sideOf(m.Side), Start: m.From, End: max(m.From, m.To)}
}

// Read reads a data set: the folders in dir, sorted by name. Each has a change as
// diff.patch, and a meta.json whose "gold" and "negative" list marks. "pr", the URL
// of the pull request, or "repo" say where the change comes from.
func Read(dir string) ([]Case, error) {
	folders, err := caseFolders(dir)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, folder := range folders {
		c, err := readCase(folder)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no changes in %s: want folders with diff.patch and meta.json", dir)
	}
	return cases, nil
}

func readCase(folder string) (Case, error) {
	var meta struct {
		PR       string              `json:"pr"`
		Repo     string              `json:"repo"`
		Base     string              `json:"base"`
		Head     string              `json:"head"`
		Messages precedent.Untrusted `json:"commit_messages"`
		Gold     []Mark              `json:"gold"`
		Negative []Mark              `json:"negative"`
	}
	if err := readMeta(folder, &meta); err != nil {
		return Case{}, err
	}
	change, sum, err := readPatch(folder)
	if err != nil {
		return Case{}, err
	}
	c := Case{
		Name: filepath.Base(folder), Base: meta.Base, Head: meta.Head, Intent: meta.Messages, Change: change,
		Sum: sum, Gold: meta.Gold, Negative: meta.Negative,
	}
	if c.Repo, err = repoOf(cmp.Or(meta.Repo, meta.PR), c.Name); err != nil {
		return Case{}, fmt.Errorf("read marks of %s: %w", folder, err)
	}
	c.Number = numberOf(meta.PR)
	c.Change.Classify(diff.Trees{Base: func(path string) ([]byte, error) { return c.read(precedent.Left, path) }})
	return c, nil
}

// pullMarks are what precedes the number in the URL of a pull request.
var pullMarks = []string{"/pull/", "/pulls/", "/-/merge_requests/"}

// repoOf parses a repository's URL, or that of a pull request.
func repoOf(address, name string) (precedent.Repo, error) {
	if address == "" {
		return precedent.LocalRepo(name), nil
	}
	for _, mark := range pullMarks {
		address, _, _ = strings.Cut(address, mark)
	}
	return precedent.ParseRepo(address)
}

// numberOf returns the number in the URL of a pull request, or 0.
func numberOf(address string) int {
	for _, mark := range pullMarks {
		if _, rest, ok := strings.Cut(address, mark); ok {
			digits, _, _ := strings.Cut(rest, "/")
			if n, err := strconv.Atoi(digits); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

// before tells whether a change is known to be of the same repository and earlier.
func (c *Case) before(other *Case) bool {
	return c.Repo == other.Repo && c.Number > 0 && c.Number < other.Number
}

var errNoRepository = errors.New("the data set has only the change, not its repository")

// read returns a file if the patch contains it completely: one that the change adds
// or deletes. Of other files a review sees only the diff.
func (c *Case) read(side precedent.Side, path string) ([]byte, error) {
	whole := diff.Added
	if side == precedent.Left {
		whole = diff.Deleted
	}
	f := c.Change.File(path)
	if f == nil || f.Status != whole || f.Binary || f.TooLarge {
		return nil, errNoRepository
	}
	var b strings.Builder
	for i := range f.Hunks {
		if f.Hunks[i].Cut != "" {
			return nil, errNoRepository
		}
	}
	for _, l := range f.Commentable(side) {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return []byte(b.String()), nil
}

// caseFolders lists the folders of a data set.
func caseFolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read data set: %w", err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(dir, e.Name()))
		}
	}
	return folders, nil
}

func readMeta(folder string, into any) error {
	data, err := os.ReadFile(filepath.Join(folder, "meta.json"))
	if err != nil {
		return fmt.Errorf("read marks: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read marks of %s: %w", folder, err)
	}
	return nil
}

// readPatch reads the change and the hash of its patch.
func readPatch(folder string) (*diff.Change, string, error) {
	patch, err := os.Open(filepath.Join(folder, "diff.patch"))
	if err != nil {
		return nil, "", fmt.Errorf("read change: %w", err)
	}
	defer patch.Close()
	sum := sha256.New()
	all := io.TeeReader(patch, sum)
	change, err := diff.ParsePatch(all, diff.DefaultLimits)
	if err == nil {
		_, err = io.Copy(io.Discard, all) // the rest, for the hash
	}
	if err != nil {
		return nil, "", fmt.Errorf("read change of %s: %w", folder, err)
	}
	return change, hex.EncodeToString(sum.Sum(nil)), nil
}

func sideOf(s string) precedent.Side {
	if strings.EqualFold(s, string(precedent.Left)) {
		return precedent.Left
	}
	return precedent.Right
}
