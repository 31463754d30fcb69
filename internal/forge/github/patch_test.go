package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// listed answers with files where the diff is too large.
func listed(t testing.TB, s *forgetest.Stage, pages ...[]*changedFile) {
	t.Helper()
	s.World.Change(func() { shop(s).Pulls[1].Huge = true })
	for _, p := range pages {
		body := needs.Value(json.Marshal(p))(t)
		s.Script.Plan(forgetest.Fault{On: "/pulls/1/files", Status: 200, Body: string(body)})
	}
}

func file(status, name, before, patch string, changes int) *changedFile {
	sha := strings.Repeat("a", 40)
	return &changedFile{Filename: name, Previous: before, Status: status, Patch: patch, Changes: changes, SHA: sha}
}

// TestListedPatch puts a diff together that is read as GitHub means it. It is row 22 of the fault
// matrix: files without a diff are listed as skipped.
func TestListedPatch(t *testing.T) {
	s, _, c, repo := open(t)
	empty := file("added", "empty", "", "", 0)
	blob := "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	empty.SHA = blob
	listed(t, s, []*changedFile{
		file("modified", "a b/größe \"x\"\\.go", "", "@@ -1,2 +1,2 @@ func x() {\n-old\n+new\n same", 2),
		file("added", "new.go", "", "@@ -0,0 +1 @@\n+one\n\\ No newline at end of file", 1),
		file("removed", "gone.go", "", "@@ -1 +0,0 @@\n-one", 1),
		file("renamed", "to.go", "from.go", "@@ -1 +1 @@\n-one\n+two", 2),
		file("renamed", "moved.go", "was.go", "", 0),
		empty,
		file("modified", "logo.png", "", "", 0),
		file("modified", "huge.sql", "", "", 90000),
		file("modified", "evil.go", "", "@@ -1 +1 @@\n-a\n+b\ndiff --git a/x b/x\n", 2),
		file("modified", "part.go", "", "@@ -1,9 +1,9 @@\n same", 3),
		file("modified", "more.go", "", "@@ -1 +1 @@\n-a\n+b\n+c", 3),
		file("odd", "odd.go", "", "@@ -1 +1 @@\n-a\n+b", 2),
		file("modified", "line\nbreak.go", "", "@@ -1 +1 @@\n-a\n+b", 2),
		file("modified", "new.go", "", "@@ -1 +1 @@\n-a\n+b", 2), // pages have shifted
	})
	patch, skipped, err := c.Patch(t.Context(), repo, 1)
	needs.NoError(t, err)
	change, err := diff.ParsePatch(bytes.NewReader(patch), diff.DefaultLimits)
	if err != nil {
		t.Fatalf("%v in\n%s", err, patch)
	}
	var got []string
	for _, f := range change.Files {
		got = append(got, fmt.Sprintf("%s %s %s %d", f.Status, f.OldPath, f.Path, len(f.Hunks)))
	}
	want := []string{
		"modified a b/größe \"x\"\\.go a b/größe \"x\"\\.go 1", "added new.go new.go 1", "deleted gone.go gone.go 1",
		"renamed from.go to.go 1", "renamed was.go moved.go 0", "added empty empty 0",
		"modified line\nbreak.go line\nbreak.go 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q\nof\n%s", got, want, patch)
	}
	var left []string
	for _, f := range skipped {
		left = append(left, f.Path)
		if f.Reason == "" {
			t.Errorf("%s is skipped without a reason", f.Path)
		}
	}
	if !slices.Equal(left, []string{"logo.png", "huge.sql", "evil.go", "part.go", "more.go", "odd.go"}) {
		t.Errorf("skipped %+v", skipped)
	}
}

// TestManyListedFiles: GitHub lists 3,000 files; how many more there are is said.
func TestManyListedFiles(t *testing.T) {
	s, _, c, repo := open(t)
	var pages [][]*changedFile
	for i := range maxFiles / perPage {
		var page []*changedFile
		for j := range perPage {
			page = append(page, file("modified", fmt.Sprintf("%d/%d.go", i, j), "", "@@ -1 +1 @@\n-a\n+b", 2))
		}
		pages = append(pages, page)
	}
	listed(t, s, append(pages, []*changedFile{})...)
	s.World.Change(func() { shop(s).Pulls[1].Files = maxFiles + 17 })
	patch, skipped, err := c.Patch(t.Context(), repo, 1)
	if err != nil || strings.Count(string(patch), "diff --git ") != maxFiles {
		t.Errorf("%d bytes, %v", len(patch), err)
	}
	if want := []precedent.SkippedFile{{
		Path:   "(17 more files)",
		Reason: "GitHub lists only 3000 files of a pull request",
	}}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %+v", skipped)
	}
}

// TestPiecesStayPieces: whatever a file is called and whatever its hunks say, its
// section of the diff is read as one file of that name, or it is skipped.
func TestPiecesStayPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab/ .\"\\\t\n+-@ 1,é\x01")))
		name, before := text.Filter(func(s string) bool { return s != "" }).Draw(t, "name"), text.Draw(t, "before")
		patch := rapid.OneOf(text, rapid.Map(text, func(s string) string { return "@@ -1 +1 @@\n-a\n+b\n" + s }),
			rapid.Just("@@ -1 +1 @@\n-a\n+b")).Draw(t, "patch")
		status := rapid.SampledFrom([]string{"modified", "added", "removed", "renamed", "copied"}).Draw(t, "status")
		section, why := fileDiff(file(status, name, before, patch, rapid.IntRange(0, 3).Draw(t, "changes")))
		if (section == "") == (why == "") {
			t.Fatalf("%q because of %q", section, why)
		}
		if strings.Count("\n"+section, "\ndiff --git ") > 1 {
			t.Fatalf("two files in\n%s", section)
		}
		if section == "" || status != "modified" {
			return
		}
		change, err := diff.ParsePatch(strings.NewReader(section), diff.DefaultLimits)
		if err != nil {
			t.Fatalf("%v in\n%s", err, section)
		}
		if len(change.Files) != 1 || change.Files[0].Path != name {
			t.Fatalf("%+v of %q in\n%s", change.Files, name, section)
		}
	})
}
