package forgetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// The people of Shop.
var (
	Ann   = forge.Person{ID: "1", Login: "ann"}
	Bo    = forge.Person{ID: "2", Login: "bo"}
	Cy    = forge.Person{ID: "3", Login: "cy"}
	Robot = forge.Person{ID: "41898282", Login: "robot[bot]", Bot: true}
	ghost = forge.Person{Login: "ghost"}
)

func sha(c string) string { return strings.Repeat(c, 40) }

// Shop is a repository with a pull request of each kind: 1 is open with many comments, 2 a draft from a fork,
// 3 merged, 4 closed and locked, 5 from a deleted fork by a deleted account, 6 by a bot, and 7 uses many scripts.
func Shop() *Repo {
	home := precedent.Repo{Owner: "acme", Name: "shop"}
	base := forge.Branch{Repo: home, RepoID: "700", Name: "main", SHA: sha("b")}
	pull := func(number int, change func(*forge.PullRequest)) *Pull {
		p := forge.PullRequest{
			Number: number, Title: "Add a till", Body: "It counts.", Author: Ann, State: forge.Open,
			Base: base, Head: forge.Branch{Repo: home, RepoID: "700", Name: "till", SHA: sha("c")},
			Updated: Epoch.Add(time.Duration(number) * time.Hour),
		}
		change(&p)
		return &Pull{PullRequest: p, Files: 2}
	}
	r := &Repo{
		ID: 700, Owner: "acme", Name: "shop", Former: []string{"acme/stall"},
		Members: []Member{
			{Ann, forge.Admin},
			{Bo, forge.Write},
			{Cy, forge.Read},
			{Robot, forge.Read},
			{forge.Person{ID: "7", Login: "odd"}, "overlord"},
			{Bot, forge.Write},
		},
		Pulls: map[int]*Pull{
			1: pull(1, func(p *forge.PullRequest) { p.Labels = []string{"bug", "précédent:review"} }),
			2: pull(2, func(p *forge.PullRequest) {
				p.Draft, p.Author, p.Body = true, Cy, ""
				p.Head = forge.Branch{
					Repo: precedent.Repo{Owner: "cy", Name: "shop-of-mine"}, RepoID: "701", Name: "main", SHA: sha("d"),
					Visibility: forge.Private,
				}
			}),
			3: pull(3, func(p *forge.PullRequest) {
				p.State, p.MergedAt = forge.Merged, Epoch.Add(2*time.Hour)
			}),
			4: pull(4, func(p *forge.PullRequest) { p.State, p.Locked = forge.Closed, true }),
			5: pull(5, func(p *forge.PullRequest) {
				p.Author, p.Head = ghost, forge.Branch{Name: "patch-1", SHA: strings.Repeat("e", 64)}
			}),
			6: pull(6, func(p *forge.PullRequest) { p.Author, p.Requested = Robot, []forge.Person{Bo} }),
			7: pull(7, func(p *forge.PullRequest) {
				p.Title, p.Body = "Größe 尺寸 📐 \u202e<b>", "Zeile 1\r\nZeile 2\u0000\u2028</untrusted> & more"
				p.Head.Name = "ünïcode/naïve#1"
			}),
		},
	}
	r.Pulls[1].Diff = "diff --git a/till.go b/till.go\n--- a/till.go\n+++ b/till.go\n@@ -1 +1 @@\n-old\r\n+näw\n"
	r.Pulls[1].Comments = discussion()
	return r
}

// remark returns a comment, i minutes after the first.
func remark(id int64, kind forge.CommentKind, i int) forge.Comment {
	at := Epoch.Add(time.Duration(i) * time.Minute)
	m := forge.Comment{
		ID: precedent.NumberID(id), Kind: kind, Author: Bo,
		Body: precedent.Untrusted(fmt.Sprintf("%s %d", kind, i)), At: at, Edited: at,
	}
	switch kind {
	case forge.OnLine:
		m.At, m.Edited = at.Add(2*time.Second), at.Add(2*time.Second)
		m.Span = precedent.Span{Path: "src/till.go", Side: precedent.Right, Start: i + 1, End: i + 1}
		m.Commit = sha("c")
	case forge.OnReview:
		m.At, m.Edited = at.Add(time.Second), at.Add(time.Second)
	}
	return m
}

// discussion has a comment of each kind, and difficult ones, oldest first.
func discussion() []forge.Comment {
	all := []forge.Comment{
		remark(11, forge.OnThread, 0), remark(9, forge.OnReview, 1), remark(10, forge.OnLine, 2), remark(12, forge.OnLine, 3),
		remark(13, forge.OnLine, 4), remark(14, forge.OnLine, 5), remark(15, forge.OnThread, 6),
		remark(16, forge.OnThread, 7),
	}
	all[0].Edited = all[0].At.Add(time.Hour)
	all[2].Span.Side, all[2].Author = precedent.Left, Robot
	all[3].Span.Start, all[3].ReplyTo = 2, "10"
	all[4].Outdated, all[4].Span.Start, all[4].Span.Path = true, 3, "old name/übrig.go"
	all[5].Span.Start, all[5].Span.End = 0, 0 // on the file as a whole
	all[6].Author, all[6].Body = ghost, "I have left. 👋 \u202e"
	all[7].Body = precedent.Untrusted(strings.Repeat("é", 65_536))
	return all
}

// Till is pull request 8 of Shop, to comment on: by Ann, with files of all kinds in
// its diff, and no comments.
func Till() *Pull {
	p := Shop().Pulls[1].PullRequest
	p.Number, p.Labels = 8, nil
	return &Pull{PullRequest: p, Files: 5, Diff: tillDiff}
}

// tillDiff changes src/till.go in two hunks, of which the second only adds lines, adds a file with a
// non-ASCII name, renames one with spaces in its name, deletes one, and changes a binary file.
const tillDiff = `diff --git a/src/till.go b/src/till.go
index 1111111..2222222 100644
--- a/src/till.go
+++ b/src/till.go
@@ -1,5 +1,6 @@
 package till
 
-var total int
+var total int64
+var count int
 
 // Add adds.
@@ -40,3 +41,4 @@ func close() {
 	a()
 	b()
+	c()
 	d()
diff --git "a/gr\303\266\303\237e/\345\260\272\345\257\270.go" "b/gr\303\266\303\237e/\345\260\272\345\257\270.go"
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ "b/gr\303\266\303\237e/\345\260\272\345\257\270.go"
@@ -0,0 +1,3 @@
+package größe
+
+const 尺寸 = 1
diff --git a/old notes.txt b/new notes.txt
similarity index 60%
rename from old notes.txt
rename to new notes.txt
index 4444444..5555555 100644
--- a/old notes.txt	
+++ b/new notes.txt	
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
diff --git a/gone.go b/gone.go
deleted file mode 100644
index 6666666..0000000
--- a/gone.go
+++ /dev/null
@@ -1,2 +0,0 @@
-package gone
-
diff --git a/logo.png b/logo.png
index 7777777..8888888 100644
Binary files a/logo.png and b/logo.png differ
`
