package sandbox

import (
	"fmt"
	"io"
	"strings"
)

// Output is what a command wrote: the start, the end, and the number of bytes omitted in between.
type Output struct {
	Head, Tail []byte
	Omitted    int64 // bytes between the two
}

// String joins the two parts and says how much is omitted.
func (o Output) String() string {
	if o.Omitted == 0 {
		return string(o.Head) + string(o.Tail)
	}
	return fmt.Sprintf("%s\n[... %d bytes omitted ...]\n%s", strings.TrimSuffix(string(o.Head), "\n"), o.Omitted, o.Tail)
}

// recorder accepts any amount of output (fault 24). It keeps half of most bytes from each end, or
// passes up to limit bytes on to out, if that is not nil. It calls over, at least once, if
// there are more than limit bytes.
type recorder struct {
	most    int
	limit   int64
	over    func()
	out     io.Writer
	written int64
	head    []byte
	ring    []byte // the last bytes, up to half of most
	next    int    // where to write next, once the ring is full
	dropped int64
}

func (r *recorder) Write(p []byte) (int, error) {
	n := len(p)
	if r.written += int64(n); r.written > r.limit && r.over != nil {
		r.over()
	}
	if r.out != nil {
		if r.written <= r.limit {
			_, _ = r.out.Write(p)
		}
		return n, nil
	}
	take := min(r.most-r.most/2-len(r.head), len(p))
	r.head = append(r.head, p[:take]...)
	p = p[take:]
	size := r.most / 2
	if over := len(p) - size; over > 0 {
		r.dropped += int64(over)
		p = p[over:]
	}
	take = min(size-len(r.ring), len(p))
	r.ring = append(r.ring, p[:take]...)
	p = p[take:]
	r.dropped += int64(len(p))
	for len(p) > 0 {
		copied := copy(r.ring[r.next:], p)
		r.next = (r.next + copied) % size
		p = p[copied:]
	}
	return n, nil
}

func (r *recorder) output() Output {
	tail := append(append([]byte(nil), r.ring[r.next:]...), r.ring[:r.next]...)
	return Output{Head: r.head, Tail: tail, Omitted: r.dropped}
}
