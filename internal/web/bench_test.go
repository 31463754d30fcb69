package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// What the benchmark's server remembers. One repository has a fifth of all findings and all learnings.
const (
	manyRepos     = 1_000
	manyFindings  = 100_000
	manyLearnings = 10_000
	foundAtOnce   = 100
)

// fillMany gives a server a large memory, and returns the largest repository and the pages to ask for.
func (w *world) fillMany(b *testing.B) []string {
	b.Helper()
	n := 0
	save := func(repo precedent.Repo, findings, pull int) (id string) {
		rows, err := w.db.RepoFor(b.Context(), repo)
		needs.NoError(b, err)
		r := &precedent.Review{
			Schema: precedent.ResultSchema, ID: fmt.Sprintf("01990000-0000-7000-8000-%012d", n),
			Repo: repo, PullRequest: &pull, Base: "ba5e", Head: fmt.Sprintf("c0ffee%d", n), Scope: precedent.FullScope,
			Verdict: precedent.Findings, Threshold: 75,
			At: start.Add(time.Duration(n-manyFindings/foundAtOnce) * time.Minute),
		}
		n++
		var outcomes []precedent.Outcome
		for i := range findings {
			f := precedent.Finding{
				Finder: "general", Category: precedent.Bugs, Severity: precedent.Medium, Confidence: 60 + i%40,
				Title: fmt.Sprintf("The error of call %d is not checked", i),
				Body:  strings.Repeat("It fails when the disk is full. ", 5), Quote: "f, _ := os.Open(name)",
				Placement: precedent.Inline, Votes: 1,
				Trail: []precedent.Decision{
					{Step: "place", Text: "found"},
					{Step: "score", Text: "scored", Delta: 5},
					{Step: "select", Text: "shown"},
				},
			}
			f.Path, f.Side, f.Start, f.End = fmt.Sprintf("internal/p%d/file%d.go", i%7, (n*foundAtOnce+i)%500),
				precedent.Right, i+1, i+1
			f.Fingerprint = precedent.Fingerprint(fmt.Sprint(n, i), f.Category, 0)
			f.ID = precedent.FindingID(repo, f.Fingerprint)
			r.Findings = append(r.Findings, f)
			outcomes = append(outcomes, precedent.Outcome{
				Fingerprint: f.Fingerprint, Finding: f.ID, PullRequest: pull,
				Kind: []precedent.OutcomeKind{precedent.Fixed, precedent.Declined}[i%2], MayWrite: true,
				Finder: f.Finder, Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, At: r.At,
			})
		}
		needs.NoError(b, rows.SaveReview(b.Context(), r))
		needs.NoError(b, rows.SaveOutcomes(b.Context(), outcomes))
		return r.ID
	}
	for i := range manyRepos - 1 {
		repo := precedent.Repo{Host: open.Host, Owner: "team", Name: fmt.Sprintf("repo%d", i)}
		w.forge.set("wanda", repo, forge.Write)
		save(repo, manyFindings*4/5/(manyRepos-1), 1)
	}
	last := ""
	for pull := range manyFindings / 5 / foundAtOnce {
		last = save(open, foundAtOnce, pull+1)
	}
	rows, err := w.db.RepoFor(b.Context(), open)
	needs.NoError(b, err)
	for i := range manyLearnings {
		l := precedent.Learning{
			ID: fmt.Sprintf("n%09d", i), Kind: precedent.LearnDo, State: precedent.LearningActive,
			Scope: precedent.RepositoryScope, Directive: fmt.Sprintf("Check the error of call %d", i),
			From: precedent.LearningSource{By: precedent.FromComment, Who: "wanda", MayWrite: true}, CreatedAt: start,
			UpdatedAt: start, Version: 1,
		}
		if i%10 == 0 {
			l.State = precedent.LearningPending
		}
		if _, _, err := rows.AddLearning(b.Context(), l, "wanda"); err != nil {
			b.Fatal(err)
		}
	}
	found, err := rows.LatestFindings(b.Context(), "", store.Page{Limit: 1})
	needs.NoError(b, err)
	at := repoPath(open)
	return []string{
		"/", at, at + "/pulls/200", at + "/reviews/" + last, at + "/findings", at + "/findings?from=10000",
		at + "/findings?path=internal/p3", at + "/findings/" + found[0].ID, at + "/learnings",
		at + "/learnings?state=active&from=5000", at + "/learnings/n000000007", at + "/dismissals", at + "/insights",
		at + "/hotspots", at + "/trends", at + "/audit", "/jobs", "/health",
	}
}

// compressed gets a page as a browser does, and returns it as it is transferred.
func (b *browser) compressed(path string) (status int, body string) {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), http.MethodGet, b.w.http.URL+path, nil)
	needs.NoError(b.w.t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	return b.do(r)
}

// BenchmarkPages measures each page of a server that remembers 100,000 findings and 10,000 learnings of 1,000
// repositories. p95-ms and KB are of one page: the bounds are 50 ms and 100 KB.
func BenchmarkPages(b *testing.B) {
	for _, database := range []string{"sqlite", "postgresql"} {
		b.Run(database, func(b *testing.B) {
			address := ""
			if database == "postgresql" {
				address = needs.PostgreSQL(b)
			}
			w := newWorld(b, address)
			w.forge.set("oskar", open, forge.Write)
			paths := w.fillMany(b)
			for i := range manyRepos - 1 {
				w.forge.set("oskar", precedent.Repo{Host: open.Host, Owner: "team", Name: fmt.Sprintf("repo%d", i)},
					forge.Read)
			}
			person := w.signedIn("oskar")
			for _, path := range paths {
				b.Run(strings.ReplaceAll(strings.TrimPrefix(path, repoPath(open)), "/", "."), func(b *testing.B) {
					var took []time.Duration
					size := 0
					for b.Loop() {
						began := time.Now()
						status, page := person.compressed(path)
						took = append(took, time.Since(began))
						if size = len(page); status != http.StatusOK {
							b.Fatal(status, page)
						}
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
					b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
					b.ReportMetric(float64(size)/1000, "KB")
				})
			}
		})
	}
}

// BenchmarkFirstPaint measures how long Chromium takes from the request of a page until it paints text: the
// bound is 300 ms.
func BenchmarkFirstPaint(b *testing.B) {
	w := newWorld(b, "")
	is := w.fill(open, "session")
	c := newChrome(b, w)
	c.signIn("wanda")
	for _, path := range []string{"/", is.paths(open)[1], repoPath(open) + "/trends"} {
		b.Run(strings.ReplaceAll(strings.TrimPrefix(path, repoPath(open)), "/", "."), func(b *testing.B) {
			var all []float64
			for b.Loop() {
				c.open(path)
				c.wait(`performance.getEntriesByName("first-contentful-paint").length > 0`)
				at, err := chromedp.Run(c.ctx,
					chromedp.Evaluate[float64](`performance.getEntriesByName("first-contentful-paint")[0].startTime`))
				needs.NoError(b, err)
				all = append(all, at)
			}
			slices.Sort(all)
			b.ReportMetric(all[len(all)*95/100], "p95-ms")
		})
	}
}
