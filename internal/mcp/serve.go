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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/strict"
)

// maxMessage limits a message of a client, in bytes. The largest arguments are some paths.
const maxMessage = 1 << 20

// members are those of a message of JSON-RPC, in the only case that counts.
var members = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// checkMessage refuses a message that two parsers may read differently: with keys that are
// equal or differ only in case, or with a member that JSON-RPC does not have, such as METHOD.
func checkMessage(message []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(message, &object); err != nil {
		return errors.New("not one object of JSON")
	}
	for key := range object {
		if !slices.Contains(members, key) {
			return fmt.Errorf("%q is not a member of JSON-RPC", line(key, maxLine))
		}
	}
	return strict.Check(message, engine.Limits)
}

// ServeIO answers the messages that a client writes to in, one a line, on out. It ends without
// an error when in or the context does.
func (s *Server) ServeIO(ctx context.Context, in io.Reader, out io.Writer) error {
	checked, writer := io.Pipe()
	locked := &lockedWriter{out: out}
	go func() { writer.CloseWithError(forwardChecked(in, writer, locked)) }()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: checked, Writer: locked, MaxLineLength: maxMessage + 1})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil //nolint:nilerr // the client or the caller ended it
	}
	return err
}

// forwardChecked writes the lines of in that are valid messages to to, and answers others on out.
func forwardChecked(in io.Reader, to, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		message := lines.Bytes()
		if len(bytes.TrimSpace(message)) == 0 {
			continue
		}
		err := checkMessage(message)
		if err != nil {
			_, err = fmt.Fprintf(out, "%s\n", refusal(err))
		} else {
			_, err = to.Write(append(message, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

func refusal(err error) []byte {
	const invalidRequest = -32600
	answer, _ := json.Marshal(map[string]any{ // plain values
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": invalidRequest, "message": "invalid request: " + err.Error()},
	})
	return answer
}

// lockedWriter keeps the messages of two writers apart.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// Write writes a whole message.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close does nothing: the writer is its owner's to close.
func (w *lockedWriter) Close() error { return nil }

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
		if err := checkMessage(message); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(refusal(err)) // the client may have gone
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(message))
		protocol.ServeHTTP(w, r)
	})
}
