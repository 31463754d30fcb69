package pull

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
)

// Reply is a message of a thread as the engine is shown it.
func (p *Pull) Reply(message precedent.Message) prompt.Reply {
	return prompt.ReplyOf(message, p.Author.ID)
}

// RemarkOf is what a thread is about, as the engine is shown it.
func RemarkOf(t *precedent.Thread) precedent.Finding {
	f := precedent.Finding{
		ID: t.Finding, Category: t.Category, Severity: t.Severity, Span: t.Current, Title: secret.RedactText(t.Title),
		Body: secret.RedactText(t.Body), Quote: secret.RedactText(string(secret.RedactFile(t.Path, []byte(t.Quote)))),
	}
	if f.Path == "" {
		f.Span = t.Span
	}
	return f
}

// CodeAround returns the lines around a thread at the head, with their numbers.
func (s *State) CodeAround(t *precedent.Thread) precedent.Untrusted {
	at := t.Current
	if at.Start == 0 || at.Side == precedent.Left || s.Patched {
		return ""
	}
	data, err := run.FilesAt(s.Blobs, s.Range.Head)(at.Path)
	if err != nil {
		return ""
	}
	return prompt.Around(at.Path, data, at)
}
