package forgetest

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// natural matches what differs from run to run.
var natural = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "HOST"},
	{regexp.MustCompile(`[0-9]{9,}`), "NUMBER"},
}

// marked matches the marker of a comment.
var marked = regexp.MustCompile(`precedent:1 [A-Za-z0-9+/]+(?: [A-Za-z0-9+/]+)? --`)

// ReadableMarkers replaces the markers of comments with their fields.
func ReadableMarkers(s string) string {
	return marked.ReplaceAllStringFunc(s, func(line string) string {
		fields, _ := base64.RawStdEncoding.DecodeString(strings.Fields(line)[1])
		return string(fields)
	})
}

// WithoutVolatile removes from a text what differs from run to run, so that the
// result of a killed process can be compared with that of another one.
func WithoutVolatile(s string) string {
	s = ReadableMarkers(s)
	for _, n := range natural {
		s = n.form.ReplaceAllString(s, n.name)
	}
	return s
}
