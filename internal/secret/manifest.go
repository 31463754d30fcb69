package secret

import "strings"

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
			_, value, ok := strings.Cut(body, ":")
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
		}
		if !isTemplate(body) && len(body) > 2 {
			hits = append(hits, hit{rule, start, start + len(body)})
		}
	}
	return hits
}

// isYAMLValue reports whether an encoded text is the whole value of a line of YAML. A diff
// can show the values of a Kubernetes Secret without its kind.
func (t *text) isYAMLValue(run encodedRun) bool {
	return strings.HasSuffix(t.s[:run.start], ": ") && (run.end == len(t.s) || t.s[run.end] == '\n' ||
		t.s[run.end] == '\r')
}

// keyBodies returns lines of base64 as they are in a private key, of which a diff can show
// only the middle. What follows the first line of something else in PEM is left.
func keyBodies(t *text, rule int) []hit {
	var hits []hit
	public := false
	first, width := -1, 0 // the first line of a body, and the length of its lines
	for i := 0; i <= len(t.lines); i++ {
		line := ""
		if i < len(t.lines) {
			line = bodyLine(t.line(i))
		}
		if first >= 0 && len(line) != width {
			if i-first >= minBodyLines {
				hits = append(hits, hit{rule, t.lines[first], t.lines[i-1] + len(t.line(i-1))})
			}
			first = -1
		}
		switch {
		case strings.Contains(line, "-----BEGIN"):
			public = !strings.Contains(line, "PRIVATE")
		case strings.Contains(line, "-----END"):
			public = false
		case first < 0 && !public && isKeyLine(line):
			first, width = i, len(line)
		case first >= 0 && !isKeyLine(line):
			first, width = -1, 0
		}
	}
	return hits
}

// bodyLine returns a line without what code puts around it.
func bodyLine(line string) string {
	line = strings.TrimSpace(line)
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		line, _, _ = strings.Cut(line[1:], line[:1])
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, `\n`), `\r`)
}

// minBodyLines is the least number of lines of base64 that may be from a private key.
const minBodyLines = 2

// isKeyLine reports whether a line has the length of those in PEM, 64, or in a key of
// OpenSSH, 70, or of MIME, 76, and is random base64.
func isKeyLine(line string) bool {
	if len(line) != 64 && len(line) != 70 && len(line) != 76 {
		return false
	}
	var has alphabetOf
	for i := range len(line) {
		if c := line[i]; !inBase64(c) || c == '-' || c == '_' {
			return false
		}
		has.add(line[i])
	}
	return has.lower && has.upper && has.digits && isRandom(line)
}
