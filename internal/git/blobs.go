package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Blobs reads the contents of files at revisions, through one git process that runs
// until Close or until the context it was made with ends. Its methods are safe for
// concurrent use; reads take turns.
type Blobs struct {
	repo    *Repo
	ctx     context.Context // the process's
	mu      sync.Mutex
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    *tail
	broken  error
	expired atomic.Bool
	once    sync.Once
	waited  error // how the process ended
}

const opBlob = "read blob"

// Blobs starts the process. Closing it is optional: the repository's Close does it
// too.
func (r *Repo) Blobs(ctx context.Context) (*Blobs, error) {
	b := &Blobs{repo: r, ctx: ctx, said: &tail{}}
	b.cmd = r.command(ctx, call{op: opBlob, args: []string{"cat-file", "--batch-command", "-z"}})
	b.cmd.Stderr = b.said
	var out io.Reader
	var err error
	if b.in, err = b.cmd.StdinPipe(); err == nil {
		if out, err = b.cmd.StdoutPipe(); err == nil {
			b.out = bufio.NewReaderSize(out, 64<<10)
			err = r.register(b)
		}
	}
	if err != nil {
		return nil, &Error{Op: opBlob, Msg: err.Error(), Err: err}
	}
	return b, nil
}

// register records the process, unless the repository is closed.
func (r *Repo) register(b *Blobs) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("the repository is closed")
	}
	if err := b.cmd.Start(); err != nil {
		return err
	}
	r.open[b] = struct{}{}
	return nil
}

// Close ends the process.
func (b *Blobs) Close() error {
	b.repo.mu.Lock()
	delete(b.repo.open, b)
	b.repo.mu.Unlock()
	b.end()
	return nil
}

func (b *Blobs) end() {
	b.once.Do(func() {
		b.in.Close()
		_ = killGroup(b.cmd) // it may have already ended
		b.waited = b.cmd.Wait()
	})
}

// Read returns the file at a path of a revision. The revision is the full id of a
// commit or a tree; an empty one has no files. A symbolic link's content is its
// target. Errors wrap ErrNotFound if the path has no file, ErrTooLarge if it is larger
// than max bytes, and ErrMissing if a partial clone lacks it and cannot fetch it.
func (b *Blobs) Read(rev, path string, max int64) ([]byte, error) {
	if rev == "" || !isPlain(path) {
		return nil, fmt.Errorf("%s: %w", printable(path), ErrNotFound)
	}
	if !b.repo.hash.valid(rev) {
		return nil, &Error{Op: opBlob, Msg: "not a commit or tree id: " + printable(strconv.Quote(rev))}
	}
	data, err := b.read(rev+":"+path, max)
	if errors.Is(err, ErrNotFound) && b.repo.partial() {
		data, err = b.readMissing(rev, path, max)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrMissing) {
		err = fmt.Errorf("%s: %w", printable(path), err)
	}
	return data, err
}

// ReadID returns the blob with an id. It returns the same errors as Read.
func (b *Blobs) ReadID(id string, max int64) ([]byte, error) {
	if !b.repo.hash.valid(id) {
		return nil, &Error{Op: opBlob, Msg: "not a blob id: " + printable(strconv.Quote(id))}
	}
	data, err := b.read(id, max)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%s: %w", id, err)
	}
	return data, err
}

// read asks for an object's type and size before its content, so that git never sends
// more than max bytes.
func (b *Blobs) read(name string, max int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, b.broken
	}
	limit := b.repo.options.Timeout
	timer := time.AfterFunc(limit, func() {
		b.expired.Store(true)
		_ = killGroup(b.cmd)
	})
	defer timer.Stop()
	id, size, err := b.ask("info", name)
	if err != nil {
		return nil, b.fail(err)
	}
	if id == "" {
		return nil, ErrNotFound
	}
	if size > max {
		return nil, ErrTooLarge
	}
	if id, size, err = b.ask("contents", id); err == nil && (id == "" || size > max) {
		err = errors.New("git gave two different answers for an object")
	}
	if err != nil {
		return nil, b.fail(err)
	}
	data := make([]byte, size+1) // git adds a newline to the content
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, b.fail(err)
	}
	return data[:size], nil
}

// ask sends one command and reads the header of the answer: the id and the size of a
// blob, or an empty id if there is none.
func (b *Blobs) ask(command, name string) (id string, size int64, err error) {
	if _, err := io.WriteString(b.in, command+" "+name+"\x00"); err != nil {
		return "", 0, err
	}
	line, err := b.line()
	if err != nil {
		return "", 0, err
	}
	fields := strings.Split(line, " ")
	if len(fields) == 3 && b.repo.hash.valid(fields[0]) {
		size, err = strconv.ParseInt(fields[2], 10, 64)
		if err == nil && fields[1] == "blob" {
			return fields[0], size, nil
		}
		return "", 0, err
	}
	// The answer is "NAME missing", and a name can contain newlines.
	for range strings.Count(name, "\n") {
		if _, err := b.line(); err != nil {
			return "", 0, err
		}
	}
	return "", 0, nil
}

// line reads one line of an answer. It is no longer than the longest name.
func (b *Blobs) line() (string, error) {
	var text []byte
	for {
		part, err := b.out.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			return string(text[:len(text)-1]), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		case len(text) > 2*longestPath:
			return "", errOutput
		}
	}
}

// fail ends a process whose output can no longer be trusted.
func (b *Blobs) fail(err error) error {
	b.end()
	e := &Error{Op: opBlob, Err: err, Msg: errorLine(b.said.String())}
	switch {
	case b.expired.Load():
		e.Msg, e.Err = "git took longer than "+b.repo.options.Timeout.String(), context.DeadlineExceeded
	case exitCode(b.waited) == exitUsage:
		e.Msg, e.Hint = "git does not support an option: "+e.Msg, tooOld
	case e.Msg == "":
		e.Msg = "git ended: " + err.Error()
	}
	b.broken = e
	return e
}
