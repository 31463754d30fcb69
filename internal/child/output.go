package child

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

var errFull = errors.New("too much output")

// output keeps up to most bytes and passes them to watch. It stops the program if
// there is more, or if watch returns an error.
type output struct {
	most  int
	watch func([]byte) error
	stop  context.CancelCauseFunc

	buf  bytes.Buffer
	full bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.buf.Len()+len(p) > o.most {
		o.full = true
		o.stop(errFull)
		return 0, errFull
	}
	n, _ := o.buf.Write(p) // a buffer takes everything
	if o.watch != nil {
		if err := o.watch(p); err != nil {
			o.stop(err)
			return 0, err
		}
	}
	return n, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = MostStderr * utf8.UTFMax
	t.buf = append(t.buf, p[max(len(p)-most, 0):]...)
	if drop := len(t.buf) - most; drop > 0 {
		t.buf = append(t.buf[:0], t.buf[drop:]...)
	}
	return len(p), nil
}

// last returns the last lines. A line that is cut is dropped unless it is the only
// one. Control characters are kept: the caller must escape them before printing.
func (t *tail) last() string {
	text := []rune(strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\uFFFD")))
	if len(text) <= MostStderr {
		return string(text)
	}
	kept := string(text[len(text)-MostStderr:])
	if _, whole, ok := strings.Cut(kept, "\n"); ok && whole != "" {
		kept = whole
	}
	return kept
}
