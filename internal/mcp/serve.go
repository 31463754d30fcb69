package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxMessage limits a message of a client, in bytes. The largest arguments are some paths.
const maxMessage = 1 << 20

// members are those of a message of JSON-RPC, in the only case that counts.
var members = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// checkMessage refuses a message that two parsers may read differently: with keys that are
// equal or differ only in case, or with a member that JSON-RPC does not have, such as METHOD.
func checkMessage(message []byte) (jsonrpc.Message, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(message, &object); err != nil {
		return nil, errors.New("not one object of JSON")
	}
	for key := range object {
		if !slices.Contains(members, key) {
			return nil, fmt.Errorf("%q is not a member of JSON-RPC", line(key, maxLine))
		}
	}
	if err := strict.Check(message, engine.Limits); err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(message)
}

// ServeIO answers the messages that a client writes to in, one a line, on out. It ends without
// an error when in or the context does; what was asked before in ended is answered first.
func (s *Server) ServeIO(ctx context.Context, in io.Reader, out io.Writer) error {
	checked, writer := io.Pipe()
	written := &answered{out: out, open: map[jsonrpc.ID]bool{}}
	written.changed.L = &written.mu
	go func() { writer.CloseWithError(forwardChecked(in, writer, written)) }()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: checked, Writer: written, MaxLineLength: maxMessage + 1})
	written.stop()
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil //nolint:nilerr // the client or the caller ended it
	}
	return err
}

// forwardChecked writes the lines of in that are valid messages to to, and answers others on out.
func forwardChecked(in io.Reader, to io.Writer, out *answered) error {
	lines := bufio.NewReader(in)
	for {
		message, size, end := text.ReadLine(lines, maxMessage)
		var asked jsonrpc.Message
		var err error
		if size > maxMessage {
			err = fmt.Errorf("it has more than %d KiB", maxMessage>>10)
		} else if message = bytes.TrimSpace(message); len(message) > 0 {
			asked, err = checkMessage(message)
		}
		switch {
		case err != nil:
			_, err = fmt.Fprintf(out, "%s\n", refusal(err))
		case asked != nil:
			out.expect(asked)
			_, err = to.Write(append(message, '\n'))
		}
		if err != nil {
			return err
		}
		if end != nil {
			out.wait()
			return end
		}
	}
}

func refusal(err error) []byte {
	const invalidRequest = -32600
	answer, _ := json.Marshal(map[string]any{ // plain values
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": invalidRequest, "message": "invalid request: " + err.Error()},
	})
	return answer
}

// answered keeps the messages of two writers apart, and knows the requests without an answer: the
// SDK drops those when its input ends.
type answered struct {
	mu      sync.Mutex
	changed sync.Cond
	out     io.Writer
	open    map[jsonrpc.ID]bool
}

func (w *answered) expect(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open[r.ID] = true
	}
}

// Write writes a whole message.
func (w *answered) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if m, no := jsonrpc.DecodeMessage(p); no == nil {
		if r, ok := m.(*jsonrpc.Response); ok {
			delete(w.open, r.ID)
			w.changed.Broadcast()
		}
	}
	return n, err
}

func (w *answered) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.open) > 0 {
		w.changed.Wait()
	}
}

func (w *answered) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.open)
	w.changed.Broadcast()
}

// Close does nothing: the writer is its owner's to close.
func (w *answered) Close() error { return nil }

// Handler answers each request on its own: no session has a state that another could see. The caller
// checks who sends it, to which host, and from which page.
func (s *Server) Handler() http.Handler {
	protocol := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, DisableLocalhostProtection: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "only POST", http.StatusMethodNotAllowed)
			return
		}
		message, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		if err != nil {
			http.Error(w, "the message is too large or incomplete", http.StatusRequestEntityTooLarge)
			return
		}
		if _, err := checkMessage(message); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(refusal(err)) // the client may have gone
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(message))
		protocol.ServeHTTP(w, r)
	})
}
