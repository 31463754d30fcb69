package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// The escapes of GitHub's workflow commands, for what follows the second pair
// of colons and for the properties before it. Nothing else may be escaped.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotations writes the review as workflow commands, one per line, which GitHub shows as
// annotations on the changed files. The reasons for an incomplete review come first, because
// GitHub shows at most ten errors of a step.
func Annotations(w io.Writer, r *precedent.Review, s Style) error {
	var b strings.Builder
	if content := incomplete(r); content != "" {
		annotate(&b, levelError, []string{"title", "Precedent: incomplete"}, content)
	}
	if content := analyzersOnly(r); content != "" {
		annotate(&b, levelWarning, []string{"title", "Precedent: analyzers only"}, content)
	}
	for _, f := range r.Live() {
		properties, content := annotation(f, s)
		annotate(&b, levelOf(f.Severity), properties, content)
	}
	annotate(&b, levelNote, []string{"title", "Precedent: " + outcome(r)}, coverage(r)+" · "+counts(r))
	_, err := io.WriteString(w, b.String())
	return err
}

// annotation returns the properties and the text of an annotation. GitHub shows files of the
// new side only, and a terminal would obey hidden characters in a name: in both cases the
// place is part of the text.
func annotation(f precedent.Finding, s Style) (properties []string, content string) {
	content = message(f) + s.saidBefore(f) + fmt.Sprintf("\n\n%s, confidence %d (%s)", f.Severity, f.Confidence, f.ID)
	switch {
	case visible(f.Path) != f.Path:
		content = visible(f.String()) + ": " + content
	case f.Side == precedent.Left:
		properties = append(properties, "file", f.Path)
		content = visible(f.String()) + " (before the change): " + content
	case f.Path != "":
		properties = append(properties, "file", f.Path)
		if f.Start > 0 {
			properties = append(properties, "line", fmt.Sprint(f.Start), "endLine", fmt.Sprint(max(f.Start, f.End)))
		}
	}
	return append(properties, "title", f.Title), content
}

// annotate writes a command; properties are names and values in turn.
func annotate(b *strings.Builder, l level, properties []string, content string) {
	b.WriteString("::" + strings.Replace(string(l), string(levelNote), "notice", 1))
	sep := " "
	for i := 0; i < len(properties); i += 2 {
		value := visible(text.Head(properties[i+1], maxInk))
		if value == "" {
			continue
		}
		b.WriteString(sep + properties[i] + "=" + commandProperty.Replace(value))
		sep = ","
	}
	b.WriteString("::" + commandData.Replace(visibleText(content)) + "\n")
}
