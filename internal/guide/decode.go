package guide

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent/internal/text"
)

// decoder reads the tree of a policy and collects its errors. It reads nodes and
// never lets YAML build values: tags, aliases, merges and conversions have no effect.
type decoder struct {
	file    string
	finders []string
	src     []string // the file's lines
	errs    []error
	full    bool   // the error limit was reached
	section string // the top-level key that is read
}

func (d *decoder) fail(n *yaml.Node, msg, hint string) { d.at(n.Line, n.Column, msg, hint) }

func (d *decoder) at(line, col int, msg, hint string) {
	d.add(&PolicyError{File: d.file, Line: max(line, 1), Col: max(col, 1), Msg: msg, Hint: hint})
}

func (d *decoder) add(e *PolicyError) {
	if d.full {
		return
	}
	e.Section = d.section
	if len(d.errs) == maxPolicyErrors-1 {
		d.full = true
		e = &PolicyError{File: e.File, Line: e.Line, Col: e.Col, Msg: "too many errors; the rest of the file has no effect"}
	}
	d.errs = append(d.errs, e)
}

// decodeRoot reads the file up to its top-level mapping; nil if there is none.
func (d *decoder) decodeRoot(data []byte) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxPolicyBytes {
		d.at(1, 1, "the file is larger than "+strconv.Itoa(maxPolicyBytes>>10)+" KiB",
			"shorten it; the whole file is ignored")
		return nil
	}
	d.src = strings.Split(string(data), "\n")
	if line, col, what := misleadingCharacter(data); what != "" {
		d.at(line, col, "the file contains "+what, "save it as plain UTF-8 text; the whole file is ignored")
		return nil
	}
	doc, err := parse(data)
	if err != nil {
		line := lineOf(err)
		d.at(line, d.indent(line), "invalid YAML: "+yamlPrefix().ReplaceAllString(err.Error(), ""),
			"the whole file is ignored")
		return nil
	}
	if doc == nil || len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null" && root.Value == "":
		return nil
	case root.Kind != yaml.MappingNode, root.Anchor != "", root.Style&yaml.TaggedStyle != 0:
		d.fail(root, "the file must be a mapping of keys to values", "start a line with a key such as threshold: 80")
		return nil
	}
	return root
}

// parse parses exactly one document. It returns a panic of the library on hostile
// input as an error.
func parse(data []byte) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, errors.New("the parser failed")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc = &yaml.Node{}
	if err := dec.Decode(doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, errors.New("yaml: line " + strconv.Itoa(second.Line) + ": a second document")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return doc, nil
}

var (
	yamlPrefix = text.Pattern(`^yaml: (line [0-9]+: )?`)
	yamlLine   = text.Pattern(`^yaml: line ([0-9]+): `)
	decimal    = text.Pattern(`^(0|[1-9][0-9]{0,8})$`)
)

func lineOf(err error) int {
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return line
	}
	return 1
}

// indent returns the column where the text of a line starts.
func (d *decoder) indent(line int) int {
	if line < 1 || line > len(d.src) {
		return 1
	}
	s := d.src[line-1]
	return len(s) - len(strings.TrimLeft(s, " ")) + 1
}

// misleadingCharacter finds a character that makes the file look different from what
// it is: anything that is not text, and line breaks that editors do not show.
func misleadingCharacter(data []byte) (line, col int, what string) {
	line, col = 1, 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return line, col, "bytes that are not valid UTF-8"
		case r == '\r' && (i+1 == len(data) || data[i+1] != '\n'),
			r == '\u0085', r == '\u2028', r == '\u2029', r < ' ' && r != '\n' && r != '\t' && r != '\r', r == 0x7f,
			r == '\ufeff':
			return line, col, "the control character <U+" + strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16)[1:]) + ">"
		}
		i, col = i+n, col+1
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return 0, 0, ""
}

// key reports whether a node can be a key: plain text without escapes.
func (d *decoder) key(n *yaml.Node) bool {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!merge":
		d.fail(n, "a key must be a word", "")
	case n.Tag == "!!merge" || n.Value == "<<":
		d.fail(n, "merge keys are not allowed", "write the values out")
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		d.fail(n, "anchors, aliases and tags are not allowed", "write the values out")
	case !d.verbatim(n):
		d.fail(n, "the key "+quote(n.Value)+" is written with escapes", "write it without escapes")
	default:
		return true
	}
	return false
}

// verbatim reports whether the file shows the node's value exactly, with or without
// quotes around it.
func (d *decoder) verbatim(n *yaml.Node) bool {
	if n.Line < 1 || n.Line > len(d.src) {
		return false
	}
	line := []rune(d.src[n.Line-1])
	if n.Column < 1 || n.Column > len(line) {
		return n.Value == ""
	}
	return strings.HasPrefix(strings.TrimLeft(string(line[n.Column-1:]), `"'`), n.Value)
}

// isLiteral reports whether a value is what it seems: without anchors, aliases, tags
// or hidden characters, and without text that asks to be evaluated.
func (d *decoder) isLiteral(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		d.fail(n, "anchors, aliases and tags are not allowed", "write the values out")
		return false
	case n.Kind == yaml.ScalarNode:
		return d.noHiddenText(n)
	}
	for _, c := range n.Content {
		if !d.isLiteral(c) {
			return false
		}
	}
	return true
}

// noHiddenText reports whether a scalar contains only what readers of the file can
// see.
func (d *decoder) noHiddenText(n *yaml.Node) bool {
	for spot := range text.Spots(n.Value) {
		if spot.Rune != '\n' && spot.Rune != '\t' {
			d.fail(n, "the value contains a hidden character ("+spot.Name+")", "remove it")
			return false
		}
	}
	if strings.HasPrefix(n.Value, "@") {
		d.fail(n, "a value cannot start with @", "values are literal: nothing is included or evaluated")
		return false
	}
	return true
}

// scalar reads text; want describes the expected value.
func (d *decoder) scalar(n *yaml.Node, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || strings.TrimSpace(n.Value) == "" {
		d.fail(n, "want "+want+", not "+shape(n), "")
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// shape describes a node, for errors.
func shape(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!str":
		return "the text " + quote(n.Value)
	default:
		return quote(n.Value)
	}
}

// number reads an integer in plain digits.
func (d *decoder) number(n *yaml.Node, least, most int) (int, bool) {
	want := "a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!int" && n.Style == 0 && decimal().MatchString(n.Value) {
		if i, err := strconv.Atoi(n.Value); err == nil && i >= least && i <= most {
			return i, true
		}
	}
	d.fail(n, "want "+want+", not "+shape(n), "write it in plain digits, without quotes or a percent sign")
	return 0, false
}

func (d *decoder) boolean(n *yaml.Node) (value, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
		d.fail(n, "want true or false, not "+shape(n), "")
		return false, false
	}
	return n.Value == "true", true
}

func (d *decoder) oneOf(n *yaml.Node, known []string, what string) (string, bool) {
	s, ok := d.scalar(n, what)
	if ok && !slices.Contains(known, s) {
		d.fail(n, quote(s)+" is not "+what, nearest(s, known))
		return "", false
	}
	return s, ok
}

// matching reads text that a pattern matches; what describes it.
func (d *decoder) matching(n *yaml.Node, pattern func() *regexp.Regexp, what, hint string) (string, bool) {
	s, ok := d.scalar(n, what)
	if ok && !pattern().MatchString(s) {
		d.fail(n, quote(s)+" is not "+what, hint)
		return s, false
	}
	return s, ok
}

func (d *decoder) glob(n *yaml.Node) (string, bool) {
	s, ok := d.scalar(n, "a glob such as internal/**/*.go")
	if !ok {
		return "", false
	}
	if err := CheckGlob(s); err != nil {
		d.fail(n, quote(s)+": "+err.Error(),
			"write paths relative to the top folder with forward slashes, such as docs/** or *.pb.go")
		return "", false
	}
	return s, true
}

// prose reads text of limited length, in characters; what describes it.
func (d *decoder) prose(n *yaml.Node, what string, most int, hint string) string {
	s, ok := d.scalar(n, what)
	if ok && utf8.RuneCountInString(s) > most {
		d.fail(n, "the "+strings.TrimPrefix(what, "a ")+" is longer than "+strconv.Itoa(most)+" characters", hint)
	}
	return s
}

// list returns the rows of a list.
func (d *decoder) list(n *yaml.Node) []*yaml.Node {
	switch {
	case n.Kind != yaml.SequenceNode:
		d.fail(n, "want a list, not "+shape(n), "start each row with a dash")
	case len(n.Content) > maxRows:
		d.fail(n.Content[maxRows], "the list has more than "+strconv.Itoa(maxRows)+" rows", "")
	default:
		return n.Content
	}
	return nil
}

// rows reads the rows of a list.
func rows[T any](d *decoder, n *yaml.Node, read func(*yaml.Node) T) (all []T) {
	for _, row := range d.list(n) {
		all = append(all, read(row))
	}
	return all
}

// mapping yields the keys and values of a mapping, each key once.
func (d *decoder) mapping(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			d.fail(n, "want a mapping of keys to values, not "+shape(n), "")
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if !d.key(key) {
				continue
			}
			if seen[key.Value] {
				d.fail(key, "the key "+quote(key.Value)+" is given more than once", "keep one")
				continue
			}
			seen[key.Value] = true
			if !yield(key, n.Content[i+1]) {
				return
			}
		}
	}
}

// fields are the keys of a mapping, each with the function that reads its value.
type fields map[string]func(*yaml.Node)

// read reads a mapping that has no other keys, and returns how many it has.
func (d *decoder) read(n *yaml.Node, known fields) (found int) {
	for key, value := range d.mapping(n) {
		read, ok := known[key.Value]
		if !ok {
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, slices.Sorted(maps.Keys(known))))
			continue
		}
		found++
		read(value)
	}
	return found
}

// row reads one row of a list of mappings, which has all of the keys.
func (d *decoder) row(n *yaml.Node, want fields) {
	before := len(d.errs)
	if d.read(n, want) < len(want) && len(d.errs) == before {
		d.fail(n, "a row needs "+strings.Join(slices.Sorted(maps.Keys(want)), " and "), "")
	}
}

// onOff reads true or false into a setting, or its opposite.
func (d *decoder) onOff(to *bool, opposite bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if on, ok := d.boolean(n); ok {
			*to = on != opposite
		}
	}
}

// whole reads a whole number of at least 1 into a setting.
func (d *decoder) whole(to *int, most int) func(*yaml.Node) {
	return func(n *yaml.Node) { *to, _ = d.number(n, 1, most) }
}

// choice reads one of the known words; what describes them.
func choice[T ~string](d *decoder, to *T, known []T, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s, _ := d.oneOf(n, toStrings(known), what)
		*to = T(s)
	}
}
