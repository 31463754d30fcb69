package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// stream writes an answer and stops where the reply says, or when the client or the server is gone.
type stream struct {
	w              http.ResponseWriter
	client, closed <-chan struct{}
	left           int
	bounded        bool // left counts
	over           bool
}

// wait waits for a channel that is not nil, and reports whether the client is still connected.
func (s *stream) wait(c <-chan struct{}) bool {
	if c == nil {
		return true
	}
	select {
	case <-c:
		return true
	case <-s.client:
	case <-s.closed:
	}
	s.over = true
	return false
}

func (s *stream) write(b []byte) {
	if s.over {
		return
	}
	if s.bounded {
		if len(b) >= s.left {
			b, s.over = b[:s.left], true
		}
		s.left -= len(b)
	}
	if _, err := s.w.Write(b); err != nil {
		s.over = true
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// event writes a server-sent event; kind may be empty.
func (s *stream) event(kind string, data any) {
	if kind != "" {
		kind = "event: " + kind + "\n"
	}
	s.write(fmt.Appendf(nil, "%sdata: %s\n\n", kind, encode(data)))
}

// drip writes bytes that never complete an event, more often than any idle timeout.
func (s *stream) drip() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !s.over {
		select {
		case <-tick.C:
			s.write([]byte(":"))
		case <-s.client:
			s.over = true
		case <-s.closed:
			s.over = true
		}
	}
}

// pieces cuts a text in two, as a stream would, but not within a character.
func pieces(text string) []string {
	middle := 0
	for i := range text {
		if i > len(text)/2 {
			break
		}
		middle = i
	}
	if middle == 0 {
		return []string{text}
	}
	return []string{text[:middle], text[middle:]}
}

// encode writes JSON as the real servers do: < and > are not escaped.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("llmtest: write answer: %v", err)) // a defect of this package
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
