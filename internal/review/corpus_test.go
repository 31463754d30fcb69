package review

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// author writes lines that look like code. Equal seeds write the same.
type author struct{ *rand.Rand }

func newAuthor(seed uint64) author { return author{rand.New(rand.NewPCG(seed, seed))} }

var vocabulary = strings.Fields(`account amount batch buffer cache cart client config counter currency deadline delivery entry
	event field filter group handler index invoice ledger limit member metric network order owner parcel payment policy price
	query queue range record refund region request result retry route schema segment session status storage stream table
	target tenant ticket token total transfer user value vendor version voucher window worker`)

// forms are the lines; {a} stands for a word.
var forms = []string{
	"func (s *{a}Store) {a}(ctx context.Context, id string) (*{a}, error) {",
	"\t{a}, err := s.{a}.{a}(ctx, id)", "\tif err != nil {", "\t\treturn nil, fmt.Errorf(\"load {a} of {a}: %w\", err)",
	"\t}",
	"\tfor i, {a} := range {a}.{a}s {", "\t\ttotal += {a}.{a} * {a}.{a}", "\t}", "\treturn &{a}{{a}: {a}}, nil", "}", "",
	"// {a} is the {a} of a {a}, in the {a} of its {a}.", "\tlog.Info(\"{a} {a}\", \"{a}\", {a}.{a}, \"{a}\", {a})",
}

func (a author) fill(s string) string {
	for strings.Contains(s, "{a}") {
		s = strings.Replace(s, "{a}", vocabulary[a.IntN(len(vocabulary))], 1)
	}
	return s
}

// text is so many lines.
func (a author) text(n int) (lines []string) {
	for at := a.IntN(len(forms)); len(lines) < n; at++ {
		lines = append(lines, a.fill(forms[at%len(forms)]))
	}
	return lines
}

// pullRequest is a change of about so many lines: one file in seven is new, the others are edited at some places. In
// one in four, the same line changes alike.
func pullRequest(seed uint64, most int, more files) (base, head files) {
	a := newAuthor(seed)
	most += most / 10 // git finds some of the new lines among the old
	base, head = more.with(nil), more.with(nil)
	put := func(tree files, path string, lines []string) { tree[path] = strings.Join(lines, "\n") + "\n" }
	for n, count := 0, 0; count < most; n++ {
		path := fmt.Sprintf("services/%s/%s%d.go", vocabulary[n/7%len(vocabulary)], vocabulary[n%len(vocabulary)], n)
		left := most - count
		if n%7 == 0 {
			size := min(30+a.IntN(120), left)
			put(head, path, a.text(size))
			count += size
			continue
		}
		old := a.text(80 + a.IntN(320))
		edited := slices.Clone(old)
		for range 1 + min(a.IntN(6), left/12) {
			at := a.IntN(len(edited))
			gone, come := min(a.IntN(6), len(edited)-at), 1+a.IntN(14)
			edited = slices.Replace(edited, at, at+gone, a.text(come)...)
			count += gone + come
		}
		if n%4 == 1 {
			old, edited = append(old, "// This file is of the team for orders."),
				append(edited, "// This file is of the team for sales.")
			count += 2
		}
		put(base, path, old)
		put(head, path, edited)
	}
	return base, head
}

// teamGuide is a guide of about thirty lines.
func teamGuide() files {
	a := newAuthor(7)
	var b strings.Builder
	b.WriteString("# Working here\n\n")
	for range 6 {
		b.WriteString(a.fill("## The {a} and its {a}\n\n- Never call the {a} from a {a} without its {a}.\n" +
			"- A {a} must have a test with a {a}.\nThe {a} lives in `{a}/{a}`; ask the {a} first.\n"))
	}
	return files{"CLAUDE.md": b.String()}
}
