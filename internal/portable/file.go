package portable

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// version of the format. A reader refuses another one.
const version = 2

// header is the first line of an export.
type header struct {
	Version      int              `json:"precedent_memory"`
	Repositories []precedent.Repo `json:"repositories,omitempty"` // the identities of the repository
}

// Error is a file or a ref that cannot be used.
type Error struct {
	Msg  string
	Hint string
}

func (e *Error) Error() string { return e.Msg }

// maxFile limits an export that is read, in bytes.
const maxFile = 256 << 20

// Export writes all rows of the memory that can be moved, and returns their number, and that of
// rows that were left out because they do not meet the limits of a line. Equal rows make
// equal bytes.
func Export(ctx context.Context, m *memory.Memory, to io.Writer) (written, left int, err error) {
	shared, err := m.Rows.Shared(ctx)
	if err != nil {
		return 0, 0, err
	}
	rows, left := reader{m.Now()}.fromStore(shared)
	rows.current(m.Now()).keepNewest()
	first, err := json.Marshal(header{version, append([]precedent.Repo{m.Repo}, m.Aliases...)})
	if err != nil {
		return 0, left, err
	}
	out := bufio.NewWriter(to)
	_, err = fmt.Fprintf(out, "%s\n%s", first, encode(rows.sorted("")))
	return len(rows), left, errors.Join(err, out.Flush())
}

func encode(rows []row) []byte {
	var b bytes.Buffer
	for _, r := range rows {
		b.WriteString(r.line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Refused is a line that is not used.
type Refused struct {
	Where string `json:"where"` // "line 3", or "dismissals.jsonl:3"
	Why   string `json:"why"`
}

const maxRefused = 20

// Import is what an import did.
type Import struct {
	Counts
	Refused int       `json:"refused"`
	Lines   []Refused `json:"refused_lines"` // the first of them
}

func (i *Import) refuse(where string, err error) {
	if i.Refused++; len(i.Lines) < maxRefused {
		i.Lines = append(i.Lines, Refused{where, describe(err)})
	}
}

// Read merges the rows of an export into the memory. If one line is refused, nothing is
// imported, unless skip is set: then the others are. An export of another repository, of another
// format, or that is cut off is refused as a whole, with an *Error.
func Read(ctx context.Context, m *memory.Memory, from io.Reader, skip bool) (Import, error) {
	result := Import{Lines: []Refused{}}
	in := bufio.NewReaderSize(io.LimitReader(from, maxFile+1), 64<<10)
	line, size, err := readLine(in)
	if err != nil {
		return result, &Error{Msg: "it is not an export of a memory: it has no first line", Hint: exportHint}
	}
	if err := checkHeader(line, m); err != nil {
		return result, err
	}
	rows, total := Rows{}, size
	for n := 2; ; n++ {
		line, size, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if total += size; total > maxFile {
			return result, &Error{Msg: fmt.Sprintf("it is larger than %d MiB", maxFile>>20)}
		}
		if err == nil {
			err = rows.read(reader{m.Now()}, line)
		} else if !errors.Is(err, errLong) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return result, err // as the next line would
		}
		if errors.Is(err, errFull) {
			return result, &Error{Msg: err.Error()}
		}
		if err != nil {
			result.refuse(fmt.Sprintf("line %d", n), err)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return result, &Error{Msg: fmt.Sprintf("line %d is cut off; nothing was imported", n), Hint: exportHint}
		}
	}
	if result.Refused > 0 && !skip {
		return result, nil
	}
	result.Counts, err = save(ctx, m, rows)
	return result, err
}

const exportHint = "write it with precedent memory export --out FILE"

func save(ctx context.Context, m *memory.Memory, rows Rows) (Counts, error) {
	var c Counts
	rows.dropLooseHistory()
	err := m.Rows.MergeShared(ctx, func(now store.Shared) (store.Shared, error) {
		local, _ := reader{m.Now()}.fromStore(now)
		merged := Merge(local, rows).current(m.Now())
		var news store.Shared
		news, c = difference(local, merged)
		for i := range news.Dismissals {
			news.Dismissals[i].Finding = precedent.FindingID(m.Repo, news.Dismissals[i].Fingerprint)
		}
		for i := range news.Outcomes {
			news.Outcomes[i].Finding = precedent.FindingID(m.Repo, news.Outcomes[i].Fingerprint)
		}
		return news, nil
	})
	return c, err
}

// dropLooseHistory removes the history of learnings that are not among the rows.
func (s Rows) dropLooseHistory() {
	for k, r := range s {
		if _, ok := s[key{learningKind, r.of}]; k.kind == historyKind && !ok {
			delete(s, k)
		}
	}
}

var errFull = fmt.Errorf("it has more than %d rows of a kind", maxRows)

// read adds a line to the rows.
func (s Rows) read(check reader, line []byte) error {
	r, err := check.parse(line)
	if err != nil {
		return err
	}
	if len(s) >= maxRows*len(kinds) {
		return errFull
	}
	if had, ok := s[r.key]; !ok || r.compare(had) > 0 {
		s[r.key] = r
	}
	return nil
}

var errLong = fmt.Errorf("it has more than %d KiB", maxLine>>10)

// readLine returns a line without its end, and the number of its bytes. The error is errLong for one that is longer than
// maxLine, and io.ErrUnexpectedEOF for a last line without its end.
func readLine(in *bufio.Reader) ([]byte, int, error) {
	line, size, err := text.ReadLine(in, maxLine+1)
	switch {
	case errors.Is(err, io.EOF) && size > 0:
		err = io.ErrUnexpectedEOF
	case err == nil && line == nil:
		err = errLong
	}
	return bytes.TrimSuffix(line, []byte("\n")), size, err
}

// checkHeader refuses what is not an export of this repository in a known format.
func checkHeader(line []byte, m *memory.Memory) error {
	var h header
	if err := strict.Unmarshal(line, &h); err != nil || h.Version <= 0 {
		return &Error{Msg: "it is not an export of a memory: its first line has no version", Hint: exportHint}
	}
	if h.Version != version {
		return otherVersion(h.Version)
	}
	own := append([]precedent.Repo{m.Repo}, m.Aliases...)
	if slices.ContainsFunc(h.Repositories, func(r precedent.Repo) bool {
		return slices.ContainsFunc(own, func(o precedent.Repo) bool { return strings.EqualFold(o.String(), r.String()) })
	}) {
		return nil
	}
	of := "an unknown repository"
	if len(h.Repositories) > 0 {
		of = h.Repositories[0].String()
	}
	return &Error{
		Msg:  fmt.Sprintf("it is the memory of %s, not of %s", of, m.Repo),
		Hint: "run this in a clone of that repository, or name it with --repo",
	}
}

func otherVersion(v int) error {
	return &Error{Msg: fmt.Sprintf("another precedent wrote it: its format has version %d, this program knows %d", v,
		version), Hint: "use the same version of precedent on all machines"}
}
