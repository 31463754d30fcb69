package review

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// claim is a planted claim about a change, right or wrong, with a line that shows which.
type claim struct {
	right                  bool
	category, quote, title string
	at, path, proof        string
	reason                 string
}

// claimSet is a change and the claims about it.
type claimSet struct {
	severe     bool // whether the claims are of high severity
	name       string
	base, head files
	claims     []claim
}

func readClaims(t *testing.T) []claimSet {
	t.Helper()
	names, err := filepath.Glob("testdata/claims/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var sets []claimSet
	for _, name := range names {
		archive, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := claimSet{name: filepath.Base(name), base: files{}, head: files{}}
		for _, part := range strings.Split("\n"+string(archive), "\n-- ")[1:] {
			file, data, _ := strings.Cut(part, " --\n")
			data += "\n"
			tree, path, _ := strings.Cut(file, "/")
			switch tree {
			case "base":
				s.base[path] = data
			case "head":
				s.head[path] = data
			default:
				for l := range strings.Lines(strings.TrimSpace(data)) {
					p := strings.Split(strings.TrimSpace(l), " # ")
					if len(p) != 7 {
						t.Fatalf("%s: %q has %d parts", name, l, len(p))
					}
					at, path, _ := strings.Cut(p[4], " ")
					s.claims = append(s.claims, claim{p[0] == "R", p[1], p[2], p[3], at, path, p[5], p[6]})
				}
			}
		}
		sets = append(sets, s)
	}
	return sets
}

// finding is the claim as a finder makes it.
func (c *claim) finding(s *claimSet) map[string]any {
	for path, text := range s.head {
		if before, _, ok := strings.Cut(text, c.quote); ok && s.base[path] != text {
			return finding(path, 1+strings.Count(before, "\n"), c.quote, c.title, map[string]any{"category": c.category, "severity": map[bool]string{true: "high", false: "medium"}[s.severe], "confidence": 80, "body": c.title + "."})
		}
	}
	return nil
}

// verdict is an answer about the claim, with one quote.
func (c *claim) verdict(verdict, reason, path, at, quote string) []object {
	return []object{{"verdict": verdict, "confidence": 90, "reason": reason, "evidence": []object{{"path": path, "at": at, "line": 1, "quote": quote}}}}
}

// truth is the verdict of a good verifier.
func (c *claim) truth() string {
	if c.right {
		return "confirmed"
	}
	return "refuted"
}

func (c *claim) otherSide() string {
	if c.at == "base" {
		return "head"
	}
	return "base"
}

// tally counts the results for the claims of one kind.
type tally struct {
	Confirmed, Uncertain, Refuted, Unchecked int
	Shown                                    int
}

// verifierKinds are verifiers, good and bad, and what must become of 60 wrong and 60
// right claims.
var verifierKinds = []struct {
	name         string
	answer       func(c *claim) []object // nil: no answer about it
	reply        *llmtest.Reply          // instead of any answer
	wrong, right tally
}{
	{
		name:   "right, with quotes",
		answer: func(c *claim) []object { return c.verdict(c.truth(), c.reason, c.path, c.at, c.proof) },
		wrong:  tally{Refuted: 60}, right: tally{Confirmed: 60, Shown: 60},
	},
	{
		name: "right, and amends what it confirms",
		answer: func(c *claim) []object {
			v := c.verdict(c.truth(), c.reason, c.path, c.at, c.proof)
			v[0]["title"], v[0]["body"] = "Amended: "+c.title, "Only when nobody looks."
			return v
		},
		wrong: tally{Refuted: 60}, right: tally{Confirmed: 60, Shown: 60},
	},
	{
		name: "confirms all with an invented quote",
		answer: func(c *claim) []object {
			return c.verdict("confirmed", c.reason, c.path, c.at, "if neverWritten { panic(1) }")
		},
		wrong: tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name:   "confirms all with the words of the claim",
		answer: func(c *claim) []object { return c.verdict("confirmed", c.reason, c.path, c.at, c.title) },
		wrong:  tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name: "confirms all without a quote",
		answer: func(c *claim) []object {
			return []object{{"verdict": "confirmed", "confidence": 99, "reason": c.reason, "evidence": []object{}}}
		},
		wrong: tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name:   "confirms all with punctuation",
		answer: func(c *claim) []object { return c.verdict("confirmed", c.reason, c.path, c.at, "}") },
		wrong:  tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name: "refutes all with an invented quote",
		answer: func(c *claim) []object {
			return c.verdict("refuted", c.reason, c.path, c.at, "if neverWritten { panic(1) }")
		},
		wrong: tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name:   "refutes all without a reason or a quote",
		answer: func(*claim) []object { return []object{{"verdict": "refuted", "confidence": 99, "reason": ""}} },
		wrong:  tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name: "contradicts itself",
		answer: func(c *claim) []object {
			return append(c.verdict("confirmed", c.reason, c.path, c.at, c.proof), c.verdict("refuted", c.reason, c.path, c.at, c.proof)...)
		},
		wrong: tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{
		name: "right, but unsure",
		answer: func(c *claim) []object {
			v := c.verdict(c.truth(), c.reason, c.path, c.at, c.proof)
			v[0]["confidence"] = 40
			return v
		},
		wrong: tally{Uncertain: 60}, right: tally{Uncertain: 60},
	},
	{name: "says nothing of any claim", wrong: tally{Unchecked: 60}, right: tally{Unchecked: 60}},
	{name: "is cut off", reply: &llmtest.Reply{Text: `{"verdicts": [{"finding": "`, Stop: "max_tokens"}, wrong: tally{Unchecked: 60}, right: tally{Unchecked: 60}},
	{name: "refuses", reply: &llmtest.Reply{Refusal: "I cannot help with that."}, wrong: tally{Unchecked: 60}, right: tally{Unchecked: 60}},
}

// TestPlantedClaims drives 60 wrong and 60 right claims through verifiers that are good,
// careless and lying: a wrong claim is never confirmed and a right one never refuted by
// words that nobody can check.
func TestPlantedClaims(t *testing.T) {
	sets := readClaims(t)
	for _, kind := range verifierKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var wrong, right tally
			for _, s := range sets {
				r := s.review(t, kind.answer, kind.reply)
				if unchecked := kind.wrong.Unchecked > 0; slices.ContainsFunc(r.Failures, func(f precedent.Failure) bool { return f.Step == "verify" }) != unchecked {
					t.Errorf("%s: failures %v", s.name, r.Failures)
				}
				s.count(t, r, &wrong, &right)
			}
			// What is shown without a verdict is for the score to decide.
			if kind.wrong.Confirmed+kind.wrong.Refuted+kind.right.Confirmed+kind.right.Refuted == 0 {
				wrong.Shown, right.Shown = 0, 0
			}
			if d := cmp.Diff([]tally{kind.wrong, kind.right}, []tally{wrong, right}); d != "" {
				t.Errorf("wrong and right claims (-want +got):\n%s", d)
			}
		})
	}
}

// TestWrongSide: a quote counts only on the side that it names.
func TestWrongSide(t *testing.T) {
	for _, s := range readClaims(t) {
		r := s.review(t, func(c *claim) []object { return c.verdict(c.truth(), c.reason, c.path, c.otherSide(), c.proof) }, nil)
		for i := range s.claims {
			c := &s.claims[i]
			tree := s.head
			if c.otherSide() == "base" {
				tree = s.base
			}
			want := precedent.Uncertain
			if strings.Contains(tree[c.path], c.proof) {
				want = precedent.Check(c.truth())
			}
			if f := original(t, r, c.title); f.Verifier != want {
				t.Errorf("%s: %q is %s, want %s: %s", s.name, c.title, f.Verifier, want, says(f))
			}
		}
	}
}

// TestLieWithALine: a verifier that refutes with a line of the change about the claim's own code ends no
// severe claim. It is shown, and its text says that the verifier disagrees.
func TestLieWithALine(t *testing.T) {
	ended := 0
	for _, s := range readClaims(t) {
		s.severe = true
		r := s.review(t, func(c *claim) []object { return c.verdict("refuted", "All is well.", c.path, c.at, c.proof) }, nil)
		for i := range s.claims {
			c := &s.claims[i]
			f := original(t, r, c.title)
			older := strings.Contains(s.base[c.path], c.proof)
			switch refuted := f.Dropped == precedent.Refuted; {
			case refuted && (!older || c.right):
				t.Errorf("%s: %q is refuted by %q", s.name, f.Title, c.proof)
			case refuted:
				ended++
			case !f.Live() || !strings.Contains(f.Body, "Disputed: the verifier disagrees"):
				t.Errorf("%s: %q is dropped as %q: %s", s.name, f.Title, f.Dropped, f.Body)
			}
		}
	}
	t.Logf("%d of 60 wrong claims end by code that is older than the change", ended)
}

// review reviews the change with a finder that makes all claims, a verifier, and a judge
// that finds no two the same.
func (s *claimSet) review(t *testing.T, answer func(*claim) []object, reply *llmtest.Reply) *precedent.Review {
	t.Helper()
	in := input(t, s.base, s.head)
	in.Concurrency = 1
	served(t, &in, s.head, func(r llmtest.Request) llmtest.Reply {
		out := object{"findings": []object{}, "verdicts": []object{}, "pairs": []object{}}
		own := r.User[len(r.User)-1].Text
		switch {
		case finderOf(r) == "bugs":
			var all []map[string]any
			for i := range s.claims {
				all = append(all, s.claims[i].finding(s))
			}
			out["findings"] = all
		case strings.HasPrefix(r.System, "You check"):
			if reply != nil {
				return *reply
			}
			out["verdicts"] = s.verdicts(own, answer)
		case strings.HasPrefix(r.System, "You compare"):
			var pairs []object
			for _, id := range regexp.MustCompile(`(?m)^id: (\w+)$`).FindAllStringSubmatch(own, -1) {
				pairs = append(pairs, object{"pair": id[1], "same": false})
			}
			out["pairs"] = pairs
		}
		text, err := json.Marshal(out)
		if err != nil {
			panic(err)
		}
		return llmtest.Reply{Text: string(text)}
	}, nil)
	return run(t, in)
}

// verdicts answers the claims of a request.
func (s *claimSet) verdicts(own string, answer func(*claim) []object) []object {
	list := []object{}
	if answer == nil {
		return list
	}
	for _, m := range regexp.MustCompile(`(?ms)^id: (\w+)$.*?^claim: ([^\n]*)$`).FindAllStringSubmatch(own, -1) {
		i := slices.IndexFunc(s.claims, func(c claim) bool { return c.title == m[2] })
		if i < 0 {
			continue
		}
		for _, v := range answer(&s.claims[i]) {
			v = maps.Clone(v)
			v["finding"] = m[1]
			list = append(list, v)
		}
	}
	return list
}

// count adds the results for the claims of a set.
func (s *claimSet) count(t *testing.T, r *precedent.Review, wrong, right *tally) {
	t.Helper()
	for i := range s.claims {
		c := &s.claims[i]
		n := wrong
		if c.right {
			n = right
		}
		f := original(t, r, c.title)
		switch f.Verifier {
		case precedent.Confirmed:
			n.Confirmed++
		case precedent.Uncertain:
			n.Uncertain++
		case precedent.Denied:
			n.Refuted++
		default:
			n.Unchecked++
		}
		if f.Live() {
			n.Shown++
		}
		if f.Dropped == precedent.Refuted != (f.Verifier == precedent.Denied) {
			t.Errorf("%q is %s and dropped as %q", f.Title, f.Verifier, f.Dropped)
		}
		if f.Title != c.title && (f.Body != "Only when nobody looks." || !strings.Contains(says(f), c.title+": "+c.title+".")) {
			t.Errorf("%q: the trail has lost what the finder wrote: %s", f.Title, says(f))
		}
	}
}

// original returns the finding that was made with a title, which a verifier may have
// amended.
func original(t *testing.T, r *precedent.Review, title string) precedent.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Title == title || f.Title == "Amended: "+title {
			return f
		}
	}
	t.Fatalf("no finding %q", title)
	return precedent.Finding{}
}
