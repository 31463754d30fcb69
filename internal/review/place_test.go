package review

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
)

// patch is a change of two files, one of which was renamed.
const patch = `diff --git a/store/account.go b/store/account.go
index 1111111..2222222 100644
--- a/store/account.go
+++ b/store/account.go
@@ -10,9 +10,10 @@ type Account struct {
 func (a *Account) Deposit(cents int64) error {
 	if cents <= 0 {
 		return errAmount
 	}
-	a.mu.Lock()
-	defer a.mu.Unlock()
 	a.cents += cents
+	a.log("deposit", cents)
+
+	a.notify(a.owner, cents)
 	return nil
 }
@@ -40,7 +41,9 @@ func (a *Account) Withdraw(cents int64) error {
 func (a *Account) Close(ctx context.Context) error {
 	if a.cents != 0 {
 		return errNotEmpty
 	}
+	rows, err := a.db.QueryContext(ctx, "SELECT id FROM cards WHERE account = $1", a.id)
+	_ = rows
 	a.closed = true
-	return a.save(ctx)
+	return err
 }
diff --git a/store/old.go b/store/ledger.go
similarity index 90%
rename from store/old.go
rename to store/ledger.go
index 3333333..4444444 100644
--- a/store/old.go
+++ b/store/ledger.go
@@ -1,4 +1,5 @@
 package store
 
+var ledgerVersion = computeLedgerVersion()
 // Ledger is a list of entries.
 type Ledger struct{}
`

func parse(tb testing.TB, patch string) *diff.Change {
	tb.Helper()
	return needs.Value(diff.ParsePatch(strings.NewReader(patch), diff.DefaultLimits))(tb)
}

func TestPlace(t *testing.T) {
	const account, ledger = "store/account.go", "store/ledger.go"
	const logged, rows = "\ta.log(\"deposit\", cents)", "rows, err := a.db.QueryContext(ctx,"
	const version = "var ledgerVersion = computeLedgerVersion()"
	on := func(path string, lines ...int) precedent.Span {
		return precedent.Span{Path: path, Side: precedent.Right, Start: lines[0], End: lines[len(lines)-1]}
	}
	right := func(lines ...int) precedent.Span { return on(account, lines...) }
	left := func(lines ...int) precedent.Span {
		at := on(account, lines...)
		at.Side = precedent.Left
		return at
	}
	none := precedent.Span{}
	for _, test := range []struct {
		name  string
		said  precedent.Span
		quote string
		want  precedent.Span // no path: no place
		delta int
	}{
		{"right number", right(15), logged, right(15), 0},
		{"wrong number", right(99), logged, right(15), 0},
		{"no indentation", right(15), "a.log( \"deposit\",cents )", right(15), 0},
		{"cut short", right(46), rows, right(45), inexactDelta},
		{
			"sign of the diff", right(45),
			"+\trows, err := a.db.QueryContext(ctx, \"SELECT id FROM cards WHERE account = $1\", a.id)",
			right(45), 0,
		},
		{"sign and number of the diff", right(45), "15 +\ta.log(\"deposit\", cents)\n+", right(15), 0},
		{"one identifier changed", right(17), "\ta.notify(a.holder, cents)\n\treturn nil", right(17), inexactDelta},
		{"blank line skipped", right(40), "\ta.log(\"deposit\", cents)\n\ta.notify(a.owner, cents)", right(15), 0},
		{"nearest of equals", right(44), "\t}", right(44), 0},
		{"neighbour decides between equals", right(12), "\t}\n\trows, err := a.db.QueryContext(", right(44), 0},
		{"deleted line", left(14), "\ta.mu.Lock()\n\tdefer a.mu.Unlock()", left(14), 0},
		{"deleted line said to be new", right(14, 15), "\ta.mu.Lock()\n\tdefer a.mu.Unlock()", left(14, 15), 0},
		{"no side", precedent.Span{Path: account, Start: 15, End: 15}, logged, right(15), 0},
		{"other file", right(3), version, on(ledger, 3), 0},
		{"unknown file", on("store/accounts.go", 3), "a.notify(a.owner, cents)", right(17), 0},
		{"prefix of the diff", on("b/"+account, 15), "a.log(\"deposit\", cents)", right(15), 0},
		{"former path", on("store/old.go", 3), version, on(ledger, 3), 0},
		{"range", right(12, 14), "\ta.cents += cents", right(14, 16), 0},
		{"range ends with the hunk", right(14, 900), "\ta.cents += cents", right(14, 19), 0},
		{"range the wrong way round", right(14, 3), "\ta.cents += cents", right(14), 0},
		{"whole file", right(14), " \n", right(0), 0},
		{"header of a hunk", right(44), "func (a *Account) Withdraw(cents int64) error {", right(41), inexactDelta},
		{"header with ranges", right(15), "@@ -10,9 +10,10 @@ type Account struct {", right(10), inexactDelta},

		{"quote from nowhere", right(15), "result := compute(items)", none, 0},
		{"too short to mean one line elsewhere", on("x.go", 15), "\t}", none, 0},
		{"whole file that did not change", on("x.go", 0), "", none, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := precedent.Finding{Span: test.said, Quote: test.quote}
			ok := NewPlacer(parse(t, patch)).Place(&f)
			if ok != (test.want.Path != "") {
				t.Fatalf("placed: %v at %s", ok, f.Span)
			}
			if !ok {
				if f.Start != 0 || f.End != 0 {
					t.Errorf("keeps the lines %d-%d that nothing bears out", f.Start, f.End)
				}
				return
			}
			needs.Equal(t, test.want, f.Span)
			for l := range strings.Lines(f.Quote) { // people are shown what the file says
				if test.delta != 0 && !strings.Contains(patch, strings.TrimSpace(l)) {
					t.Errorf("the quote %q is not in the file", f.Quote)
				}
			}
			delta := 0
			for _, d := range f.Trail {
				delta += d.Delta
			}
			needs.Equal(t, test.delta, delta)
		})
	}
}

// TestPlaceBesideHeaders: a finding stays on the line that a hunk's header shows if an analyzer found it there, or if the
// change has the line.
func TestPlaceBesideHeaders(t *testing.T) {
	const signature = "func Transfer(from, to AccountID, cents int64) error {"
	old := "package bank\n\n" + signature + "\n" + strings.Repeat("\ty()\n", 8) + "\treturn nil\n}\n"
	sent := strings.Replace(old, "\treturn", "\tsend()\n\treturn", 1)
	at := precedent.Span{Path: "bank.go", Side: precedent.Right, Start: 3, End: 3}
	for head, analyzer := range map[string]bool{sent: true, strings.Replace(sent, "int64", "int32", 1): false} {
		fs := []precedent.Finding{{Span: at, Quote: signature, Analyzer: analyzer}}
		c := between(t, files{"bank.go": old}, files{"bank.go": head})
		place(fs, NewPlacer(c), newSources(c, func(precedent.Side, string) ([]byte, error) { return []byte(head), nil }))
		needs.Equal(t, at, fs[0].Span)
	}
}

// TestLookAlikes: an exact quote that is there once beats a nearer look-alike, and a cut
// one stays on the line that it was given for.
func TestLookAlikes(t *testing.T) {
	const (
		source = "\tthrow new IOException(\"cannot parse the source URI of the copy request\");"
		target = "\tthrow new IOException(\"cannot parse the destination URI of the copy request\");"
	)
	head := "class Copy {\n" + source + "\n" + strings.Repeat("\tx();\n", 50) + target + "\n\tparse(uri);\n" +
		strings.Repeat("\ty();\n", 5) + "\turi = parse(uri);\n}\n\tdone();\n\tx();\n\t\tdone();\n"
	change := between(t, files{}, files{"Copy.java": head})
	for _, test := range []struct {
		name, quote string
		said, want  int
	}{
		{"exact, far from its number", target, 2, 53},
		{"exact but for white space, far from its number", strings.TrimSpace(target), 3, 53},
		{"cut at both ends", "…the destination URI…", 53, 53},
		{"cut in the middle", "throw new IOException(\"…destination URI…\");", 53, 53},
		{"cut in the middle, far from its number", "throw new IOException(\"...destination URI...\");", 2, 53},
		{"cut so that it is another line", "parse(uri);", 60, 60},
		{"that other line, with a number of none", "\tparse(uri);", 30, 54},
		{"exact, with the number of one that differs in white space", "\t\tdone();", 63, 64},
	} {
		at := precedent.Span{Path: "Copy.java", Side: precedent.Right, Start: test.said, End: test.said}
		f := precedent.Finding{Span: at, Quote: test.quote}
		if !NewPlacer(change).Place(&f) || f.Start != test.want {
			t.Errorf("%s: line %d, want %d", test.name, f.Start, test.want)
		}
	}
}

// TestQuotesOfWhatPromptsShow: a model quotes a line as it was shown to it,
// with secrets redacted and hidden characters named.
func TestQuotesOfWhatPromptsShow(t *testing.T) {
	key := "AKIA" + "QYLPMN5HFIQR7XYA"
	c := &diff.Change{Files: []diff.File{added("a.py", "import os", `key = "`+key+`"`, "role = 'user\u202e'",
		"print(role)", "name = 'caf\xe9'", "\ufeffkey = '"+key+"'\r")}}
	for quote, want := range map[string]int{
		`key = "[REDACTED:aws-access-token]"`:         2,
		"role = 'user<U+202E>'\nprint(role)":          3,
		"role = 'user\u202e'":                         3,
		"name = 'caf<0xE9>'":                          5,
		"<U+FEFF>key = '[REDACTED:aws-access-token]'": 6,
	} {
		f := precedent.Finding{Span: precedent.Span{Path: "a.py", Start: 9}, Quote: quote}
		if !NewPlacer(c).Place(&f) || f.Start != want || strings.Contains(f.Quote, "[REDACTED") ||
			strings.Contains(f.Quote, "<") || f.Inexact {
			t.Errorf("%q is placed at %s with the quote %q", quote, f.Span, f.Quote)
		}
	}
}

// TestUniqueElsewhereOnly shows that a quote that stands in two other files says nothing about either.
func TestUniqueElsewhereOnly(t *testing.T) {
	c := &diff.Change{Files: []diff.File{
		added("a.go", "package a", "const limitOfTheTwo = 3"),
		added("b.go", "package b", "const limitOfTheTwo = 3"),
		added("c.go", "package c"),
	}}
	f := precedent.Finding{Span: precedent.Span{Path: "c.go", Start: 1}, Quote: "const limitOfTheTwo = 3"}
	if NewPlacer(c).Place(&f) {
		t.Errorf("placed at %s", f.Span)
	}
}

// added is a new file of one hunk.
func added(path string, lines ...string) diff.File {
	h := diff.Hunk{NewStart: 1, NewLines: len(lines)}
	for i, l := range lines {
		h.Lines = append(h.Lines, diff.Line{Op: diff.Add, New: i + 1, Text: l})
	}
	return diff.File{Path: path, OldPath: path, Status: diff.Added, Hunks: []diff.Hunk{h}}
}

// TestVerbatimIsFound: a verbatim line that stands once in its file is found,
// whatever number came with it, and so is the nearest of several.
func TestVerbatimIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[ \t]{0,3}[a-c(){}=.;"éß ]{1,12}[a-z{;]`)
		lines := rapid.SliceOfN(line, 1, 60).Draw(t, "lines")
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		number := rapid.IntRange(-10, 100).Draw(t, "number")
		quote := lines[at]
		if at+1 < len(lines) && rapid.Bool().Draw(t, "two lines") {
			quote += "\n" + lines[at+1]
		}
		c := &diff.Change{Files: []diff.File{added("a.go", lines...)}}
		f := precedent.Finding{
			Span:  precedent.Span{Path: "a.go", Side: precedent.Right, Start: number, End: number},
			Quote: quote,
		}
		if !NewPlacer(c).Place(&f) {
			t.Fatalf("%q not found", quote)
		}
		got := strings.TrimRight(lines[f.Start-1], " \t")
		want := strings.TrimRight(lines[at], " \t")
		if got != want {
			t.Fatalf("line %d %q found for %q", f.Start, got, want)
		}
		equal := func(l string) bool { return strings.TrimRight(l, " \t") == want }
		once := slices.IndexFunc(lines, equal) == at && !slices.ContainsFunc(lines[at+1:], equal)
		if once && f.Start != at+1 {
			t.Fatalf("line %d found for line %d", f.Start, at+1)
		}
		if !strings.Contains(quote, "\n") && number > 0 {
			for i, l := range lines {
				if strings.TrimRight(l, " \t") == got && distance(i+1, number) < min(distance(f.Start, number), maxDistance) {
					t.Fatalf("line %d found, though line %d is nearer to %d", f.Start, i+1, number)
				}
			}
		}
	})
}
