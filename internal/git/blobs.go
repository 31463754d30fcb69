package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Blobs reads the contents of files at revisions, until the context that it was made with
// ends. Its methods are safe for concurrent use; reads take turns.
type Blobs struct {
	repo *Repo
	ctx  context.Context
}

const opBlob = "read blob"

// Blobs returns a reader. It fails if the repository is closed.
func (r *Repo) Blobs(ctx context.Context) (*Blobs, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, &Error{Op: opBlob, Msg: errClosed.Error(), Err: errClosed}
	}
	return &Blobs{r, ctx}, nil
}

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
