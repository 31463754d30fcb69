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
	"time"

	"github.com/precedent-dev/precedent"
)

// batch asks one git process about objects, which saves a process for each question. It
// starts on the first one, and again after one that ended it. It sees the objects of the
// real repository and of the shadow. Requests take turns.
type batch struct {
	repo *Repo
	view view
	mu   sync.Mutex // held for a request
	cmd  *exec.Cmd  // nil if it does not run; changed with the repository's lock, too
	in   io.WriteCloser
	out  *bufio.Reader
	said *tail
}

// object is what git says of an object; the zero value if there is none.
type object struct {
	id, kind string
	size     int64
	why      string // why there is none; may be empty
}

// objects is the process for objects. In a partial clone it must not be the one that sees
// the real repository, which ends where an object is missing.
func (r *Repo) objects() *batch {
	if r.partial() {
		return r.batch(shadowed)
	}
	return r.batch(real)
}

// batch is the process for the objects and refs of a view.
func (r *Repo) batch(v view) *batch {
	if v == real {
		return &r.real
	}
	return &r.shadowed
}

var errClosed = errors.New("the repository is closed")

// request calls ask while the process runs. What git ends by itself is an error with its exit code.
func (b *batch) request(ctx context.Context, op string, ask func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.repo.options.Timeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return failure(context.Cause(ctx), op, ctx.Err(), "", limit)
	}
	if err := b.start(ctx); err != nil {
		return &Error{Op: op, Msg: err.Error(), Err: err}
	}
	cmd := b.cmd
	stop := context.AfterFunc(ctx, func() { _ = killGroup(cmd) })
	err := ask()
	if stop() && err == nil {
		return nil
	}
	said, ended := b.said, b.end()
	if ended == nil {
		ended = err // git ended well in the middle of an answer
	}
	if e, ok := errors.AsType[*Error](err); ok && ctx.Err() == nil {
		return e
	}
	return failure(context.Cause(ctx), op, ended, said.String(), limit)
}

// start starts the process if it does not run.
func (b *batch) start(ctx context.Context) error {
	if b.cmd != nil {
		return nil
	}
	r := b.repo
	b.said = &tail{}
	c := call{view: b.view, args: []string{"cat-file", "--batch-command", "-z", "--buffer"}}
	if b.view == real {
		c.env = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + precedent.QuotePath(r.shadowObjects())}
	}
	cmd := r.command(context.WithoutCancel(ctx), c)
	cmd.Stderr = b.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.cmd, b.in, b.out = cmd, in, bufio.NewReaderSize(out, 64<<10)
	return nil
}

// end ends the process and returns how it ended. One that has closed its output may still have to say why.
func (b *batch) end() error {
	if b.cmd == nil {
		return nil
	}
	b.in.Close()
	cmd := b.cmd
	late := time.AfterFunc(waitDelay, func() { _ = killGroup(cmd) })
	_, _ = io.Copy(io.Discard, io.LimitReader(b.out, 1<<30))
	err := cmd.Wait()
	late.Stop()
	_ = killGroup(cmd) // what it may have started
	b.repo.mu.Lock()
	b.cmd = nil
	b.repo.mu.Unlock()
	return err
}

// close ends the process, also in the middle of a request.
func (b *batch) close() {
	b.repo.mu.Lock()
	if b.cmd != nil {
		_ = killGroup(b.cmd)
	}
	b.repo.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.end()
}

// find returns the object that a name or a revision resolves to.
func (b *batch) find(ctx context.Context, op, name string) (o object, err error) {
	err = b.request(ctx, op, func() (err error) {
		o, err = b.ask("info", name)
		return err
	})
	return o, err
}

// read returns an object of a kind with its content, which has at most max bytes. Git is
// asked for type and size first, so that it never sends more. The zero object means that
// there is none of this kind; the error for a larger one is ErrTooLarge.
func (b *batch) read(ctx context.Context, op, name, kind string, max int64) (o object, data []byte, err error) {
	tooLarge := false
	err = b.request(ctx, op, func() (err error) {
		if o, err = b.ask("info", name); err != nil || o.kind != kind {
			o = object{}
			return err
		}
		if tooLarge = o.size > max; tooLarge {
			return nil
		}
		again, err := b.ask("contents", o.id)
		if err != nil {
			return err
		}
		if again != o {
			return errors.New("git gave two different answers for an object")
		}
		data = make([]byte, o.size+1) // git adds a newline to the content
		_, err = io.ReadFull(b.out, data)
		return err
	})
	switch {
	case err != nil:
		return object{}, nil, err
	case tooLarge:
		return o, nil, ErrTooLarge
	case o.id == "":
		return o, nil, nil
	}
	return o, data[:o.size], nil
}

// readAll passes the answers for blobs to use, in their order. Git answers only after the flush.
func (b *batch) readAll(ctx context.Context, op string, blobs []Entry, use func(*bufio.Reader) error) error {
	var asked strings.Builder
	for _, e := range blobs {
		asked.WriteString("contents " + e.ID + "\x00")
	}
	return b.request(ctx, op, func() error {
		if _, err := io.WriteString(b.in, asked.String()+"flush\x00"); err != nil {
			return err
		}
		return use(b.out)
	})
}

func (b *batch) ask(command, name string) (object, error) {
	if _, err := io.WriteString(b.in, command+" "+name+"\x00flush\x00"); err != nil {
		return object{}, err
	}
	line, err := b.line()
	if err != nil {
		return object{}, err
	}
	fields := strings.Split(line, " ")
	if len(fields) == 3 && b.repo.hash.valid(fields[0]) {
		if size, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			return object{id: fields[0], kind: fields[1], size: size}, nil
		}
	}
	// The answer is "NAME missing", and a name can contain newlines.
	for range strings.Count(name, "\n") {
		if line, err = b.line(); err != nil {
			return object{}, err
		}
	}
	if strings.HasSuffix(line, " ambiguous") {
		return object{why: "ambiguous"}, nil
	}
	return object{}, nil
}

// line reads one line of an answer, which may have the longest name and more.
func (b *batch) line() (string, error) { return readUntil(b.out, '\n', 2*longestPath) }

// between returns the messages of the commits after base up to head, as log does. It is
// false if these are not a line of commits with one parent each, or more than logCommits.
func (r *Repo) between(ctx context.Context, base, head string) (precedent.Untrusted, bool) {
	var b strings.Builder
	for n := 0; head != base; n++ {
		c, err := r.ReadCommit(ctx, head)
		if err != nil || n == logCommits || c.encoded || len(c.Parents) != 1 || r.shallow[head] {
			return "", false
		}
		fmt.Fprintf(&b, "commit %s\n%s\n", head, c.Message)
		head = c.Parents[0]
	}
	return messages(b.String()), true
}

// Blobs reads the contents of files at revisions, until the context that it was made with
// ends. Its methods are safe for concurrent use; reads take turns.
type Blobs struct {
	repo *Repo
	ctx  context.Context
}

const opBlob = "read blob"

// Blobs returns a reader.
func (r *Repo) Blobs(ctx context.Context) *Blobs { return &Blobs{r, ctx} }

// Read returns the file at a path of a revision. The revision is the full id of a commit or a tree; an empty
// one has no files. A symbolic link's content is its target. Errors wrap ErrNotFound if the path has no file,
// ErrTooLarge if it is larger than max bytes, and ErrMissing if a partial clone lacks it and cannot fetch it.
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

// Has reports whether a revision has anything at a path.
func (b *Blobs) Has(rev, path string) (bool, error) {
	found, err := b.repo.Lookup(b.ctx, rev, path)
	return len(found) > 0, err
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

func (b *Blobs) read(name string, max int64) ([]byte, error) {
	o, data, err := b.repo.objects().read(b.ctx, opBlob, name, "blob", max)
	if err == nil && o.id == "" {
		err = ErrNotFound
	}
	return data, err
}
