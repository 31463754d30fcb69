package server

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// logFields are the only attributes that are logged: names, numbers and reasons. No text of a
// payload, a comment or an answer of a model is among them.
var logFields = []string{
	"address", "after", "attempt", "base", "commands", "count", "error", "event", "failures", "head", "hint",
	"job", "kind", "pull", "reason", "repo",
	"replica", "result", "skipped", "stack", "status", "took", "trust", "version", "webhooks",
}

// Bounds of what is logged, in characters.
const (
	maxLogMessage = 1000
	maxLogField   = 500
	maxLogStack   = 8000
)

// LogFormats are the formats of logs.
var LogFormats = []string{"text", "json"}

// NewLog returns a logger for a server. It writes one line for each message, drops attributes that
// are not in its list, shows control characters as text, and replaces what looks like a secret or
// contains a part of one of ours.
func NewLog(to io.Writer, format string, level slog.Level, secrets []string) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(to, o)
	if format == "json" {
		h = slog.NewJSONHandler(to, o)
	}
	return slog.New(logHandler{h, secret.NewOwn(secrets...)})
}

type logHandler struct {
	slog.Handler
	own secret.Own
}

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.clean(r.Message, maxLogMessage), 0)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attrs([]slog.Attr{a})...)
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(h.attrs(attrs)), h.own}
}

// WithGroup returns h: groups have no place in the list of fields.
func (h logHandler) WithGroup(string) slog.Handler { return h }

func (h logHandler) attrs(all []slog.Attr) []slog.Attr {
	var kept []slog.Attr
	for _, a := range all {
		if !slices.Contains(logFields, a.Key) {
			continue
		}
		switch v := a.Value.Resolve(); v.Kind() {
		case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool:
			kept = append(kept, slog.Attr{Key: a.Key, Value: v})
		case slog.KindDuration:
			kept = append(kept, slog.String(a.Key, v.Duration().Round(time.Millisecond).String()))
		default:
			limit := maxLogField
			if a.Key == "stack" {
				limit = maxLogStack
			}
			kept = append(kept, slog.String(a.Key, h.clean(v.String(), limit)))
		}
	}
	return kept
}

func (h logHandler) clean(s string, limit int) string {
	s = secret.RedactText(text.Cut(text.VisibleLine(s), limit))
	return withoutOwn(h.own, s)
}

// withoutOwn replaces a text that contains a part of one of our secrets.
func withoutOwn(own secret.Own, s string) string {
	if own.In(s) {
		return "[REDACTED: it contained a secret of this server]"
	}
	return s
}
