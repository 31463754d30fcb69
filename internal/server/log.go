package server

import (
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
	"job", "kind", "pull", "reason",
	"replica", "repo", "result", "stack", "status", "took", "trust", "version", "webhooks",
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
	own := secret.NewOwn(secrets...)
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		return loggable(own, a)
	}}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(to, o))
	}
	return slog.New(slog.NewTextHandler(to, o))
}

// loggable is an attribute as it may be logged; an empty one is left out. The message, its time and level are
// attributes, too.
func loggable(own secret.Own, a slog.Attr) slog.Attr {
	limit := maxLogField
	switch {
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		return a
	case a.Key == slog.MessageKey:
		limit = maxLogMessage
	case a.Key != slog.LevelKey && !slices.Contains(logFields, a.Key):
		return slog.Attr{}
	case a.Key == "stack":
		limit = maxLogStack
	}
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool:
		return slog.Attr{Key: a.Key, Value: v}
	case slog.KindDuration:
		return slog.String(a.Key, v.Duration().Round(time.Millisecond).String())
	default:
		text := secret.RedactText(text.Cut(text.VisibleLine(v.String()), limit))
		return slog.String(a.Key, withoutOwn(own, text))
	}
}

// withoutOwn replaces a text that contains a part of one of our secrets.
func withoutOwn(own secret.Own, s string) string {
	if own.In(s) {
		return "[REDACTED: it contained a secret of this server]"
	}
	return s
}
