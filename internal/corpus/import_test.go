package corpus

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

var testRepo = precedent.Repo{Host: "example.com", Owner: "team", Name: "app"}

// openCorpus opens the corpus in a file, or in memory if the path is empty.
func openCorpus(t testing.TB, path string, now func() time.Time) *Corpus {
	t.Helper()
	var db *store.DB
	if path == "" {
		db = needs.Value(store.OpenMemory(t.Context(), store.Options{Now: now}))(t)
	} else {
		db = needs.Value(store.Open(t.Context(), path, store.Options{Now: now}))(t)
	}
	t.Cleanup(func() {
		needs.NoError(t, db.Close())
	})
	return &Corpus{Rows: needs.Value(db.RepoFor(t.Context(), testRepo))(t), Now: now}
}

// generated makes n lines of comments: threads, edits, bots, empty and malformed ones.
func generated(n int, seed uint64) []byte {
	rnd := rand.New(rand.NewPCG(seed, 2))
	var b bytes.Buffer
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at = at.Add(time.Minute)
		line := map[string]any{
			"id": 1000 + i, "pull_request_url": fmt.Sprintf("https://example.com/api/v3/repos/team/app/pulls/%d", 1+i/50),
			"user":               map[string]any{"id": 1 + i%9, "login": fmt.Sprint("user", i%9), "type": "User"},
			"author_association": "MEMBER",
			"path":               "a.go", "line": 3, "side": "RIGHT", "diff_hunk": strings.Repeat("+code\n", rnd.IntN(40)) + "+last",
			"body":       fmt.Sprintf("Close file number %d before returning the error of the handler.", i),
			"created_at": at.Format(time.RFC3339), "updated_at": at.Format(time.RFC3339),
		}
		switch rnd.IntN(12) {
		case 0:
			line["user"] = map[string]any{"id": 77, "login": "helper[bot]", "type": "Bot"}
		case 1:
			line["body"] = " "
		case 2:
			b.WriteString("{\"id\": \n")
			continue
		case 3, 4, 5:
			line["in_reply_to_id"] = 1000 + max(0, i-rnd.IntN(30))
		case 6:
			line["id"], line["updated_at"] = 1000+rnd.IntN(i+1), at.Add(time.Hour).Format(time.RFC3339)
		}
		out, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		b.Write(append(out, '\n'))
	}
	return b.Bytes()
}

// everything is what the corpus has, without what depends on when it was stored.
func everything(t *testing.T, c *Corpus) []string {
	t.Helper()
	var all []string
	needs.NoError(t, c.Rows.CorpusChunks(t.Context(), func(k precedent.CorpusChunk) error {
		out, err := json.Marshal(k)
		all = append(all, string(out))
		return err
	}))
	s := needs.Value(c.Status(t.Context()))(t)
	return append(all, fmt.Sprintf("%+v", s))
}

func mustImport(t *testing.T, c *Corpus, data []byte) Imported {
	t.Helper()
	got, err := c.Import(t.Context(), "file", bytes.NewReader(data), []precedent.Repo{testRepo}, nil)
	needs.NoError(t, err)
	if n := got.Stored + got.Updated + got.Duplicate + got.Bot + got.Own + got.Empty + got.Malformed + got.Foreign +
		got.OnIssues + got.Pulls; n != got.Lines {
		t.Errorf("%d of %d lines are accounted for: %+v", n, got.Lines, got)
	}
	return got
}

func TestImportTwice(t *testing.T) {
	c := openCorpus(t, "", time.Now)
	data := generated(3_000, 1)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	needs.Value(z.Write(data))(t)
	needs.NoError(t, z.Close())
	first := mustImport(t, c, data)
	if first.Lines != 3_000 || first.Stored < 1_500 || first.Updated == 0 || first.Bot == 0 || first.Empty == 0 ||
		first.Malformed == 0 || len(first.Bad) != maxBad {
		t.Errorf("%+v", first)
	}
	want := everything(t, c)
	second := mustImport(t, c, zipped.Bytes())
	if second.Stored != 0 || second.Updated != 0 || second.Duplicate != first.Stored+first.Updated+first.Duplicate {
		t.Errorf("%+v", second)
	}
	needs.Equal(t, want, everything(t, c))
}

// TestImportInterrupted: an import that ends at any part, and is then repeated, leads to the same rows.
func TestImportInterrupted(t *testing.T) {
	data := generated(needs.Rounds(3_500, 1_500), 3)
	whole := openCorpus(t, "", time.Now)
	mustImport(t, whole, data)
	want := everything(t, whole)
	for stop := 1; stop <= needs.Rounds(3, 1); stop++ {
		c := openCorpus(t, "", time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := c.Import(ctx, "file", bytes.NewReader(data), []precedent.Repo{testRepo}, func(Imported) {
			if n++; n == stop {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d parts: %v", stop, err)
		}
		cancel()
		mustImport(t, c, data)
		needs.Equal(t, want, everything(t, c))
	}
}

func TestImportHostile(t *testing.T) {
	c := openCorpus(t, "", time.Now)
	comment := func(fields string) string {
		line := "{" + fields
		for _, field := range []string{
			`"id": 5`, `"path": "a.go"`, `"pr": 7`, `"author": "bob"`,
			`"created_at": "2026-01-02T03:04:05Z"`,
		} {
			if name, _, _ := strings.Cut(field, ":"); !strings.Contains(fields, name+":") {
				line += ", " + field
			}
		}
		return line + "}\n"
	}
	file := strings.Join([]string{
		strings.Repeat("[", 1<<20) + "\n",
		`{"a": ` + strings.Repeat(`{"a":`, 1<<19) + "\n",
		`{"id": 1, "body": "` + strings.Repeat("x", maxImportLine) + "\"}\n",
		"\x00\xff\xfe\n",
		comment(`"id": 0, "body": "no id"`),
		comment(`"pr": -1, "body": "no pull request"`),
		comment(`"created_at": "yesterday", "body": "no time"`),
		comment(`"body": 7`),
		comment(`"id": 6, "body": "the \u0000 nul, \ud800 alone, and ` + "\xff" + ` here"`),
		comment(`"id": 7, "body": "password = \"hunter2hunter2X9\" is in the log", "diff_hunk": "` +
			strings.Repeat(`+x\n`, 100_000) + `+db_password = \"hunter3hunter3X9\""`),
		comment(`"id": 8, "html_url": "https://example.com/other/app/pull/7#discussion_r8", "body": "elsewhere"`),
		comment(`"id": 9, "html_url": "javascript:alert(1)", "body": "bad address of a page"`),
		"\n",
		comment(`"id": 11, "ID": 12, "body": "which?"`),
		comment(`"id": 10, "body": "without a line feed at the end"`)[:120],
	}, "")
	got := mustImport(t, c, []byte(file))
	if got.Stored != 3 || got.Malformed != 10 || got.Foreign != 1 || got.Lines != 14 {
		t.Errorf("%+v", got)
	}
	stored := needs.Value(c.Rows.CorpusCommentsOf(t.Context(), "inline", []string{"6", "7", "9"}))(t)
	for id, want := range map[precedent.ForgeID]string{
		"6": "the  nul, \ufffd alone, and \ufffd here",
		"9": "bad address of a page",
	} {
		one := stored[id]
		if string(one.Body) != want || one.URL != "" && id == "9" {
			t.Errorf("%s: %q %q", id, string(one.Body), one.URL)
		}
	}
	secret := stored["7"]
	if strings.Contains(string(secret.Body), "hunter2") || strings.Contains(string(secret.Hunk),
		"hunter3") || strings.Count(string(secret.Hunk), "\n") != hunkLines-1 {
		t.Errorf("%q\n%q", string(secret.Body), string(secret.Hunk))
	}
	if _, err := c.Import(t.Context(), "file", strings.NewReader("\x1f\x8b broken"), nil, nil); err == nil {
		t.Error("a broken compressed file was imported")
	}
}
