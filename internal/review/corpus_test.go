package review

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// author writes code that no compiler takes but that is as long, as deep and as
// full of signs as what people write. Equal seeds write the same.
type author struct{ *rand.Rand }

func newAuthor(seed uint64) author { return author{rand.New(rand.NewPCG(seed, seed))} }

var vocabulary = strings.Fields(`account address amount batch buffer cache cart catalog channel client column config counter country
	currency cursor customer database deadline delivery discount document entry event export factor field filter folder gateway group
	handler header history index invoice item ledger limit listing locale manager member message metric migration network number
	offset order owner package parcel payment period permission policy price product profile project provider quantity query queue
	range rate record refund region request reservation response result retry route schedule schema segment service session setting
	shipment signal snapshot source status stock storage stream subject summary supplier table target tax template tenant ticket
	timeout token total tracker transfer update user value vendor version voucher warehouse window worker`)

func (a author) word() string { return vocabulary[a.IntN(len(vocabulary))] }

func title(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

// fill replaces a by a word, A by a capitalised one and 0 by a number, where
// they stand between braces.
func (a author) fill(s string) string {
	for strings.Contains(s, "{a}") {
		s = strings.Replace(s, "{a}", a.word(), 1)
	}
	for strings.Contains(s, "{A}") {
		s = strings.Replace(s, "{A}", title(a.word()), 1)
	}
	for strings.Contains(s, "{0}") {
		s = strings.Replace(s, "{0}", fmt.Sprint(a.IntN(400)), 1)
	}
	return s
}

// language is how files of one kind are named and what stands in them.
type language struct {
	path  string // of the nth file; its folder changes less often
	test  string // of its test
	lines []string
}

var languages = []language{
	{"services/%[2]s/internal/%[2]s/%[1]s.go", "services/%[2]s/internal/%[2]s/%[1]s_test.go", []string{
		"func (s *{A}Store) {a}{A}(ctx context.Context, id string) (*{A}, error) {",
		"\t{a}, err := s.{a}{A}(ctx, id)", "\tif err != nil {", "\t\treturn nil, fmt.Errorf(\"load {a}: %w\", err)", "\t}",
		"\tfor i, {a} := range {a}.{A}s {", "\t\ttotal{A} += {a}.{A} * {a}.{A}", "\t}", "\treturn &{A}{{A}: {a}, {A}: {0}}, nil", "}", "",
		"// {a}{A} is the {a} of an {a}, in the {a} of its {a}.", "\ts.mu.Lock()", "\tdefer s.mu.Unlock()", "\tif len({a}) > {0} {", "\t\tbreak", "\t}",
		"\t{a}{A} = append({a}{A}, {a}.{a}({a}))", "\tlog.Info(\"{a} {a}\", \"{a}\", {a}.{A}, \"{a}\", {0})",
	}},
	{"web/src/features/%[2]s/components/%[1]s.tsx", "web/src/features/%[2]s/components/%[1]s.test.tsx", []string{
		"export function {A}{A}({ {a}, on{A} }: {A}Props) {", "  const [{a}, set{A}] = useState<{A} | null>(null);", "  useEffect(() => {",
		"    fetch{A}({a}.id).then((r) => set{A}(r.{a}));", "  }, [{a}.id]);", "  if (!{a}) return <Spinner label=\"{a}\" />;", "  return (",
		"    <div className=\"{a}-{a}\">", "      <{A}List items={{a}.{a}s} onSelect={on{A}} />", "      <span>{t('{a}.{a}.{a}')}</span>", "    </div>", "  );", "}", "",
		"import { {A}, {A}{A} } from '../{a}/{a}';", "  const {a}{A} = {a}.{a}?.filter((x) => x.{a} > {0}) ?? [];",
	}},
	{"jobs/src/%[2]s/tasks/%[1]s.py", "jobs/tests/unit/%[2]s/test_%[1]s.py", []string{
		"class {A}{A}:", "    \"\"\"Keeps the {a} of each {a} until the {a} has its {a}.\"\"\"", "",
		"    def {a}_{a}(self, {a}: {A}, limit: int = {0}) -> list[{A}]:", "        {a}s = self.{a}.{a}({a}.id)", "        if not {a}s:",
		"            raise {A}Error(f\"no {a} for {{a}.id}\")", "        return [x for x in {a}s if x.{a} < limit]", "",
		"    async def {a}(self) -> None:", "        async with self.{a}_{a} as {a}:", "            await {a}.{a}(self.{a}, {a}={0})", "        self._{a} = None",
	}},
}

var prose = []string{
	"## {A} and {a}", "", "The {a} of an {a} is kept until its {a} is known to the {a}.", "Every {a} that comes from a {a} has a {a}, and no {a} is sent twice.",
	"- `{a}_{a}`: how many {a}s a {a} may have ({0} by default)", "", "See the {a} of the {a} for what a {a} costs.",
}

var settings = []string{"{a}:", "  {a}_{a}: {0}", "  {a}: \"{a}-{a}\"", "  - name: {a}", "    {a}: ${{A}_{A}}"}

// text is so many lines of a kind: the templates in their order, from anywhere.
func (a author) text(lines []string, n int) []string {
	var out []string
	at := a.IntN(len(lines))
	for len(out) < n {
		if a.IntN(8) == 0 {
			at = a.IntN(len(lines))
		}
		out = append(out, a.fill(lines[at%len(lines)]))
		at++
	}
	return out
}

// renamed is the line that changes alike in many files.
var renamed = [2]string{"// The owner of this file is the team for orders.", "// The owner of this file is the team for sales."}

// edit replaces some lines of a file at some places, and counts the lines that
// are deleted or added.
func (a author) edit(old, lines []string, places int) (edited []string, count int) {
	edited = slices.Clone(old)
	for range places {
		at := a.IntN(len(edited))
		gone := min(a.IntN(6), len(edited)-at)
		come := 1 + a.IntN(14)
		edited = slices.Replace(edited, at, at+gone, a.text(lines, come)...)
		count += gone + come
	}
	return edited, count
}

// pullRequest is a change of about so many lines in several languages: most of
// its files are edited in some places, one in seven is new with its test, and
// documents and settings change with them. One hunk in seventeen is the same
// everywhere, as of a name. Lines, hunks, paths and the part of context are near
// what 19 pull requests of well-known projects have on average.
func pullRequest(seed uint64, most int, more files) (base, head files) {
	a := newAuthor(seed)
	most += most / 15 // git finds some of the new lines among the old
	base, head = files{}, files{}
	for path, text := range more {
		base[path], head[path] = text, text
	}
	put := func(tree files, path string, lines []string) { tree[path] = strings.Join(lines, "\n") + "\n" }
	folder := a.word()
	for n, count := 0, 0; count < most; n++ {
		if n%7 == 0 {
			folder = a.word() + a.word()
		}
		lang := languages[n/7%len(languages)]
		path, lines := fmt.Sprintf(lang.path, fmt.Sprint(a.word(), n), folder), lang.lines
		left := most - count
		switch n % 7 {
		case 0:
			size := min(30+a.IntN(120), left)
			put(head, path, a.text(lines, size))
			put(head, fmt.Sprintf(lang.test, fmt.Sprint("a", n), folder), a.text(lines, min(40, left)))
			count += size + min(40, left)
			continue
		case 5:
			path, lines = fmt.Sprintf("docs/guides/%s/%s%d.md", folder, a.word(), n), prose
		case 6:
			path, lines = fmt.Sprintf("deploy/environments/%s/%s%d.yaml", folder, a.word(), n), settings
		}
		old := a.text(lines, 80+a.IntN(320))
		edited, size := a.edit(old, lines, 1+min(a.IntN(6), left/12))
		if n%4 == 1 {
			old, edited, size = append(old, renamed[0]), append(edited, renamed[1]), size+2
		}
		put(base, path, old)
		put(head, path, edited)
		count += size
	}
	return base, head
}

// teamGuide is a guide of about thirty lines.
func teamGuide() files {
	a := newAuthor(7)
	var b strings.Builder
	b.WriteString("# Working here\n\n")
	for range 6 {
		b.WriteString(a.fill("## {A}\n\n- Never call the {a} from a {a} without its {a}.\n- A {a} must have a test with a {a}.\nThe {a} lives in `{a}/{a}`; ask the {a} first.\n"))
	}
	return files{"CLAUDE.md": b.String()}
}
