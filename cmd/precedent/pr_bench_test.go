package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// BenchmarkRequests counts what the forge is asked: on a first review that is
// posted (4 findings), on one of a push that changed nothing of them, on a run
// for a head at which a review stands, on what prints only, and on an idle poll.
// paid are those that count against GitHub's limit: answers other than 304.
func BenchmarkRequests(b *testing.B) {
	for _, test := range []struct {
		name string
		run  func(s *prStage) (from int)
	}{
		{"print", func(s *prStage) int {
			s.app.run(b.Context(), []string{"pr", s.door.URL + "/octo/app/pull/7"})
			return 0
		}},
		{"first", func(s *prStage) int { s.post(); return 0 }},
		{"again", func(s *prStage) int {
			s.post()
			from := len(s.door.stage.Script.Requests())
			s.post()
			return from
		}},
		{"push", func(s *prStage) int {
			s.post()
			from := len(s.door.stage.Script.Requests())
			head := s.git(s.origin, "commit-tree", "-p", "feature", "-m", "nothing", "feature^{tree}")
			s.git(s.origin, "update-ref", "refs/pull/7/head", head)
			s.door.stage.World.Push(s.pull, head, s.pull.Diff)
			s.post()
			return from
		}},
		{"poll", func(s *prStage) int {
			conn := s.connection()
			repo := precedent.Repo{Host: conn.Host(), Owner: "octo", Name: "app"}
			poll := func(f forge.Forge) {
				if _, err := f.Open(b.Context(), repo); err != nil {
					b.Fatal(err)
				}
			}
			poll(conn)
			from := len(s.door.stage.Script.Requests())
			poll(conn)
			return from
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			var all []forgetest.Request
			for b.Loop() {
				s := newPRStage(b)
				s.app.sleep = s.door.stage.Clock.Sleep
				from := test.run(s)
				all = append(all, s.door.stage.Script.Requests()[from:]...)
			}
			report := func(unit string, counts func(forgetest.Request) bool) {
				n := 0
				for _, r := range all {
					if counts(r) {
						n++
					}
				}
				b.ReportMetric(float64(n)/float64(b.N), unit)
			}
			graphql := func(r forgetest.Request) bool { return strings.HasSuffix(r.Path, "/graphql") }
			report("requests/op", func(forgetest.Request) bool { return true })
			report("paid/op", func(r forgetest.Request) bool { return r.Status != http.StatusNotModified })
			report("graphql/op", graphql)
			report("writes/op", func(r forgetest.Request) bool { return r.Method != http.MethodGet && !graphql(r) })
			b.ReportMetric(0, "ns/op")
		})
	}
}
