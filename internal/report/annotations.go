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

var annotationNames = map[level]string{levelError: "error", levelWarning: "warning", levelNote: "notice"}

// Annotations writes the review as workflow commands, a line each, from which
// GitHub makes annotations on the changed files. What makes the review
// incomplete comes first, because GitHub shows no more than ten errors of a step.
func Annotations(w io.Writer, r *precedent.Review, _ Style) error {
	var b strings.Builder
	if said := incomplete(r); said != "" {
		annotate(&b, levelError, []string{"title", "Precedent: not complete"}, said)
	}
	if said := analyzersOnly(r); said != "" {
		annotate(&b, levelWarning, []string{"title", "Precedent: analyzers only"}, said)
	}
	for _, f := range r.Live() {
		properties, said := annotation(f)
		annotate(&b, levelOf(f.Severity), properties, said)
	}
	annotate(&b, levelNote, []string{"title", "Precedent: " + outcome(r)}, coverage(r)+" · "+counts(r))
	_, err := io.WriteString(w, b.String())
	return err
}

// annotation says where an annotation stands and what it says. A line of the old
// side is none of the file that GitHub shows, and a name with hidden characters
// would be obeyed by a terminal: both are said in words.
func annotation(f precedent.Finding) (properties []string, said string) {
	said = message(f) + fmt.Sprintf("\n\n%s, confidence %d (%s)", f.Severity, f.Confidence, f.ID)
	switch {
	case visible(f.Path) != f.Path:
		said = visible(f.String()) + ": " + said
	case f.Side == precedent.Left:
		properties = append(properties, "file", f.Path)
		said = visible(f.String()) + " (before the change): " + said
	case f.Path != "":
		properties = append(properties, "file", f.Path)
		if f.Start > 0 {
			properties = append(properties, "line", fmt.Sprint(f.Start), "endLine", fmt.Sprint(max(f.Start, f.End)))
		}
	}
	return append(properties, "title", f.Title), said
}

// annotate writes a command; properties are names and values in turn.
func annotate(b *strings.Builder, l level, properties []string, said string) {
	b.WriteString("::" + annotationNames[l])
	sep := " "
	for i := 0; i < len(properties); i += 2 {
		value := visible(text.Head(properties[i+1], maxInk))
		if value == "" {
			continue
		}
		b.WriteString(sep + properties[i] + "=" + commandProperty.Replace(value))
		sep = ","
	}
	b.WriteString("::" + commandData.Replace(visibleText(said)) + "\n")
}
