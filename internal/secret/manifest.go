package secret

import (
	"strings"
)

// maxManifest limits how far from its kind the values of a Kubernetes Secret are looked
// for, in lines in either direction.
const maxManifest = 400

// manifests returns the values of Kubernetes Secrets in YAML, which follow their keys
// under data or stringData.
func manifests(t *text, rule int) []hit {
	if !strings.Contains(t.s, "Secret") {
		return nil
	}
	var hits []hit
	done := 0
	for i := range t.lines {
		if i < done || !isSecretKind(t.line(i)) {
			continue
		}
		from := i
		for from > done && from > i-maxManifest && !endsDocument(t.line(from-1)) {
			from--
		}
		done = i + 1
		for done < len(t.lines) && done < i+maxManifest && !endsDocument(t.line(done)) {
			done++
		}
		hits = append(hits, t.dataOf(from, done, rule)...)
	}
	return hits
}

func (t *text) line(i int) string {
	end := len(t.s)
	if i+1 < len(t.lines) {
		end = t.lines[i+1] - 1
	}
	return t.s[t.lines[i]:end]
}

func isSecretKind(line string) bool {
	line = strings.TrimLeft(line[:min(len(line), 80)], " \t+-")
	rest, ok := strings.CutPrefix(line, "kind:")
	return ok && strings.Trim(rest, " \t\r\"'") == "Secret"
}

func endsDocument(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, "+ "), "---") }

// dataOf returns the values under data and stringData of a document.
func (t *text) dataOf(from, to, rule int) []hit {
	var hits []hit
	in, block := -1, -1 // the indents of data, and of a key whose value is a block
	for i := from; i < to; i++ {
		line := strings.TrimRight(t.line(i), " \t\r")
		body := strings.TrimLeft(line, " \t")
		indent := len(line) - len(body)
		switch {
		case body == "" || body[0] == '#':
			continue
		case in >= 0 && indent <= in:
			in, block = -1, -1
		case block >= 0 && indent <= block:
			block = -1
		}
		if in < 0 {
			if body == "data:" || body == "stringData:" {
				in = indent
			}
			continue
		}
		start := t.lines[i] + indent
		if block < 0 {
			key, value, ok := strings.Cut(body, ":")
			if !ok {
				continue
			}
			value = strings.TrimLeft(value, " \t")
			if value == "" || value[0] == '|' || value[0] == '>' {
				block = indent
				continue
			}
			start += len(body) - len(value)
			if i := strings.Index(value, " #"); i > 0 {
				value = value[:i]
			}
			body = strings.TrimRight(value, " \t")
			if q := strings.Trim(body, "\"'"); q != "" && len(q)+2 == len(body) {
				start, body = start+1, q
			}
			_ = key
		}
		if !isTemplate(body) && len(body) > 2 {
			hits = append(hits, hit{rule, start, start + len(body)})
		}
	}
	return hits
}
