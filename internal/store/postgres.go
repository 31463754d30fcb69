package store

import (
	"context"
	"errors"
)

// OpenURL opens the PostgreSQL database of a URL such as
// postgres://user:password@host:5432/name, and brings the schema in its current schema up to
// date. Several processes may open it at once. Errors are of type *Error, never show the
// password, and wrap ErrURL, ErrUnreachable, ErrUnwritable, ErrForeign, ErrNewer, ErrFull or
// ErrBusy if one of them is the cause.
func OpenURL(ctx context.Context, url string, o Options) (*DB, error) {
	return nil, errors.ErrUnsupported
}
