package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of lists.
const (
	listedJobs    = 50
	listedReviews = 20
	listedPulls   = 50
)

// today is the first page: what needs a person, what runs, and what was reviewed.
func (s *Site) today(q *request) error {
	repos, more, err := s.visible(q.ctx(), q.v, listedRepos)
	if err != nil {
		return err
	}
	body, err := s.todayBody(q, repos, more)
	if err != nil {
		return err
	}
	live := h.Div(h.ID("live"), body)
	if s.o.Jobs != nil {
		live = h.Div(h.ID("live"), g.Attr("hx-ext", "sse"), g.Attr("sse-connect", "/live"), g.Attr("sse-swap", "now"),
			body)
	}
	return s.render(q, "Today", "/", live)
}

// todayBody is the content of the first page for somebody who may read the repositories. more tells that there are
// others.
func (s *Site) todayBody(q *request, repos []store.Active, more bool) (g.Node, error) {
	var body g.Group
	if s.o.Jobs != nil {
		jobs, err := s.jobsOf(q.ctx(), q.v, repos)
		if err != nil {
			return nil, err
		}
		body = append(body, s.jobSections(q, jobs))
	}
	waiting, err := pendingLearnings(q.ctx(), repos)
	if err != nil {
		return nil, err
	}
	if len(waiting) > 0 {
		body = append(body, section("Learnings waiting for approval", h.Ul(g.Group(waiting))))
	}
	var rows []g.Node
	for _, r := range repos {
		answers, err := s.stats.answers(q.ctx(), r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row(link(repoPath(r.Name), repoName(r.Name)), s.ago(r.Last),
			link(repoPath(r.Name)+"/trends", answers)))
	}
	body = append(body, section("Repositories", table("No repository that you may read was reviewed yet. "+
		"The first review of one adds it.", []string{"Repository", "Last review", "Accepted"}, rows),
		g.If(more,
			sentence("There are more. Those reviewed last are shown; others have their pages at /repos/HOST/OWNER/NAME."))))
	if len(repos) == 1 {
		latest, err := repos[0].LatestFacts(q.ctx(), 0, listedReviews)
		if err != nil {
			return nil, err
		}
		body = append(body, section("Last reviews", s.reviewTable(repos[0].Name, latest)))
	}
	return body, nil
}

// pendingLearnings links to those of each repository.
func pendingLearnings(ctx context.Context, repos []store.Active) (found []g.Node, err error) {
	for _, r := range repos {
		states, err := r.LearningStates(ctx)
		if err != nil {
			return nil, err
		}
		if n := states[precedent.LearningPending]; n > 0 {
			found = append(found, h.Li(counted(repoPath(r.Name)+"/learnings?state=pending", n, "learning"),
				g.Text(" in "), words(repoName(r.Name))))
		}
	}
	return found, nil
}

// unfinished are the states of jobs that the first pages show.
var unfinished = []queue.State{queue.Dead, queue.Running, queue.Waiting, queue.Ready}

// jobsOf returns the jobs that somebody may see: an operator all of them, others those of the repositories.
func (s *Site) jobsOf(ctx context.Context, v viewer, repos []store.Active) ([]queue.Job, error) {
	all, err := s.o.Jobs.List(ctx, queue.Filter{States: unfinished, Limit: 20 * listedJobs})
	if err != nil || v.operator {
		return all[:min(len(all), 4*listedJobs)], err
	}
	may := map[precedent.Repo]bool{}
	for _, r := range repos {
		may[r.Name] = true
	}
	return slices.DeleteFunc(all, func(j queue.Job) bool { return !may[j.Repo] }), nil
}

// jobSections are the jobs by what they need: those that failed first.
func (s *Site) jobSections(q *request, jobs []queue.Job) g.Node {
	by := map[queue.State][]g.Node{}
	for _, j := range jobs {
		state := j.State
		if state == queue.Ready {
			state = queue.Waiting
		}
		by[state] = append(by[state], s.jobRow(q, j))
	}
	heads := []string{"Job", "Since", "Why", "What you can do"}
	list := func(title, none string, state queue.State) g.Node {
		found := by[state]
		more := g.If(len(found) > listedJobs, sentence("%s more.", thousands(len(found)-listedJobs)))
		return counting(title, len(found), table(none, heads, found[:min(len(found), listedJobs)]), more)
	}
	return g.Group{
		g.Iff(len(by[queue.Dead]) > 0, func() g.Node { return list("Failed for good", "", queue.Dead) }),
		list("Running", "Nothing runs.", queue.Running), list("Waiting", "Nothing waits.", queue.Waiting),
	}
}

func (s *Site) jobRow(q *request, j queue.Job) g.Node {
	why := j.Reason
	if j.Problem != "" {
		why = j.Problem
	}
	since := g.Group{words(string(j.State)), g.Text(", "), s.ago(j.Since)}
	if !j.Due.IsZero() {
		since = append(since, g.Text(", again "), s.ago(j.Due))
	}
	ends := j.State != queue.Dead && slices.Contains(unfinished, j.State)
	act := g.Text("wait")
	switch {
	case q.v.operator:
		act = g.Group{
			g.If(j.State != queue.Running, postButton(q, fmt.Sprintf("/jobs/%d/retry", j.ID), "Run now")),
			g.If(ends, postButton(q, fmt.Sprintf("/jobs/%d/cancel", j.ID), "Cancel")),
		}
	case j.State == queue.Dead && j.Pull != 0:
		act = g.Text("push, or comment @precedent review")
	case j.State == queue.Dead:
		act = g.Text("ask an operator")
	}
	return row(s.jobName(j), since, words(text.Cut(why, 300)), act)
}

// jobName is what a job does, with a link to the page of what it is about.
func (s *Site) jobName(j queue.Job) g.Node {
	kind := chip(string(j.State), string(j.Kind))
	switch {
	case j.Repo.IsZero():
		return kind
	case j.Pull == 0:
		return g.Group{kind, g.Text(" "), link(repoPath(j.Repo), repoName(j.Repo))}
	}
	return g.Group{kind, g.Text(" "), link(pullPath(j.Repo, j.Pull), fmt.Sprintf("%s#%d", repoName(j.Repo), j.Pull))}
}

func pullPath(r precedent.Repo, pull int) string {
	return fmt.Sprintf("%s/pulls/%d", repoPath(r), pull)
}

// How often the stream of the first page looks, how long what the forge said of permissions is good for it, and how
// long it lasts: browsers connect again.
const (
	liveEvery = 2 * time.Second
	liveAsks  = time.Minute
	liveFor   = 10 * time.Minute
)

// live sends the first page's content as events, each time that it changes. The forge is asked what the person may read
// before something is sent, and not each time that the stream looks: an open page would use up the server's requests.
func (s *Site) live(q *request) error {
	if s.o.Jobs == nil {
		return errNotFound
	}
	control := http.NewResponseController(q.w)
	_ = control.SetReadDeadline(time.Time{}) // that of the server is for a request, and this one lasts
	q.w.Header().Set("Content-Type", "text/event-stream")
	ticker := time.NewTicker(liveEvery)
	defer ticker.Stop()
	end := time.NewTimer(liveFor)
	defer end.Stop()
	last, asked := "", s.o.Now()
	repos, more, err := s.visible(q.ctx(), q.v, listedRepos)
	if err != nil {
		return err
	}
	for {
		if v, err := s.viewer(q.r); err != nil || v.key() != q.v.key() {
			return nil // the session ended; the browser learns it when it connects again
		}
		now, err := s.todayText(q, repos, more)
		if err == nil && withoutTimes(now) != last && s.o.Now().Sub(asked) >= liveAsks {
			if repos, more, err = s.visible(q.ctx(), q.v, listedRepos); err == nil {
				asked = s.o.Now()
				now, err = s.todayText(q, repos, more)
			}
		}
		if err != nil {
			return nil // the page stays as it is, and the browser connects again
		}
		// Ages change all the time: what counts is what is listed.
		if listed := withoutTimes(now); listed != last {
			last = listed
			_ = control.SetWriteDeadline(time.Now().Add(liveEvery)) // without one, the server's own counts
			_, err := fmt.Fprintf(q.w, "event: now\ndata: %s\n\n", strings.ReplaceAll(now, "\n", "&#10;"))
			if err == nil {
				err = control.Flush()
			}
			if err != nil {
				return nil // the browser is gone
			}
		}
		select {
		case <-ticker.C:
		case <-end.C:
			return nil
		case <-s.ending:
			return nil
		case <-q.ctx().Done():
			return nil
		}
	}
}

func (s *Site) todayText(q *request, repos []store.Active, more bool) (string, error) {
	body, err := s.todayBody(q, repos, more)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = body.Render(&b)
	return b.String(), err
}

// withoutTimes is a page without what its time elements say.
func withoutTimes(page string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(page, "<time ")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, page, _ = strings.Cut(rest, "</time>")
	}
}

func (s *Site) repository(q *request) error {
	watched, err := q.rows.WatchedPulls(q.ctx())
	if err != nil {
		return err
	}
	latest, err := q.rows.LatestFacts(q.ctx(), 0, listedReviews)
	if err != nil {
		return err
	}
	states, err := q.rows.LearningStates(q.ctx())
	if err != nil {
		return err
	}
	var body g.Group
	if n := states[precedent.LearningPending]; n > 0 {
		body = append(body, h.P(h.Class("notice"), counted(q.path("/learnings?state=pending"), n, "learning"),
			g.Text(" to approve or forget.")))
	}
	if s.o.DB != nil {
		body = append(body, s.openPulls(q, watched))
		if s.o.Jobs != nil {
			jobs, err := s.o.Jobs.List(q.ctx(),
				queue.Filter{States: unfinished, Repo: q.repo, Limit: 4 * listedJobs})
			if err != nil {
				return err
			}
			body = append(body, s.jobSections(q, jobs))
		}
	}
	body = append(body, section("Last reviews", s.reviewTable(q.repo, latest)))
	return s.render(q, "Overview", q.path(""), body)
}

// openPulls shows where each open pull request is in the cycle of labels.
func (s *Site) openPulls(q *request, watched map[int]store.WatchedPull) g.Node {
	numbers := slices.SortedFunc(maps.Keys(watched), func(a, b int) int {
		return watched[b].Updated.Compare(watched[a].Updated)
	})
	var rows []g.Node
	for _, n := range numbers[:min(len(numbers), listedPulls)] {
		p := watched[n]
		state := g.Text("reviewed")
		if p.Done != p.Head {
			state = g.Text("not reviewed at this commit yet")
		}
		labels := g.Group(nil)
		for _, l := range p.Labels {
			labels = append(labels, chip("label", l), g.Text(" "))
		}
		rows = append(rows, row(link(pullPath(q.repo, n), fmt.Sprintf("#%d %s", n, p.Title)), labels, state,
			s.ago(p.Updated)))
	}
	return counting("Open pull requests", len(numbers),
		table("No pull request is open.", []string{"Pull request", "Labels", "State", "Updated"}, rows))
}

func (s *Site) reviewTable(repo precedent.Repo, latest []store.ReviewFacts) g.Node {
	rows := g.Map(latest, func(f store.ReviewFacts) g.Node {
		what := link(repoPath(repo)+"/reviews/"+f.ID, "local change")
		if f.Pull != 0 {
			what = link(pullPath(repo, f.Pull), fmt.Sprintf("#%d", f.Pull))
		}
		at, found := repoPath(repo)+"/reviews/"+f.ID, fmt.Sprintf("%d new", total(f.New))
		if f.Pull == 0 { // each local review counts what it shows
			found = plural(total(f.New), "finding")
		}
		return row(what, stateChip(f.Verdict), h.A(h.Href(at), g.Text(found)),
			h.A(h.Href(at+"#hidden"), g.Textf("%d hidden", total(f.Hidden))),
			g.Text(cost(f.CostUSD, f.Usage.Tokens())), s.ago(f.At))
	})
	return table("Nothing was reviewed yet. Run precedent review, or label a pull request.",
		[]string{"Change", "Verdict", "Findings", "Hidden", "Cost", "When"}, rows)
}

// jobs lists the jobs of a server, for operators.
func (s *Site) jobs(q *request) error {
	if s.o.Jobs == nil || !q.v.operator {
		return errNotYours
	}
	f := queue.Filter{Limit: 2 * listedJobs}
	state := q.r.URL.Query().Get("state")
	if slices.Contains(queue.States, queue.State(state)) {
		f.States = []queue.State{queue.State(state)}
	}
	all, err := s.o.Jobs.List(q.ctx(), f)
	if err != nil {
		return err
	}
	rows := g.Map(all, func(j queue.Job) g.Node { return s.jobRow(q, j) })
	filters := h.Nav(h.Class("tabs"), h.Aria("label", "States"),
		h.Ul(tab("/jobs", "all", state == ""), g.Map(queue.States, func(is queue.State) g.Node {
			return tab("/jobs?state="+string(is), string(is), string(is) == state)
		})))
	return s.render(q, "Jobs", "/jobs", g.Group{filters, table("No such jobs.",
		[]string{"Job", "Since", "Why", "What you can do"}, rows)})
}

func tab(path, name string, current bool) g.Node {
	return h.Li(h.A(h.Href(path), g.If(current, h.Aria("current", "true")), g.Text(name)))
}

func (s *Site) changeJob(q *request) error {
	if s.o.Jobs == nil || !q.v.operator {
		return errNotYours
	}
	id, err := q.number("id")
	if err != nil {
		return err
	}
	do := map[string]func(context.Context, int64) (queue.Job, error){
		"retry":  s.o.Jobs.Retry,
		"cancel": s.o.Jobs.Cancel,
	}[q.r.PathValue("do")]
	if do == nil {
		return errNotFound
	}
	was, err := s.o.Jobs.Show(q.ctx(), int64(id))
	if err != nil {
		return err
	}
	row := store.AuditRow{
		Action: q.r.PathValue("do") + " job", Subject: fmt.Sprintf("job %d: %s", id, was.Name()),
		Before: string(was.State),
	}
	err = s.audited(q, s.o.DB.Server(), row, func() (string, error) {
		now, err := do(q.ctx(), int64(id))
		return string(now.State), err
	})
	return s.back(q, "/", err)
}

// healthTime limits the checks of the page about health. A server gives up a page after 18 seconds.
const healthTime = 12 * time.Second

// health says what works. Only operators see what is about the machine of a server.
func (s *Site) health(q *request) error {
	if s.o.DB != nil && !q.v.operator {
		return s.render(q, "Health",
			"/health", g.Group{sentence("Operators see here whether all parts of the server work.")})
	}
	checks, err := cached(&s.stats, "health", func() ([]Fact, error) {
		ctx, cancel := context.WithTimeout(q.ctx(), healthTime)
		defer cancel()
		return s.o.Health(ctx), q.ctx().Err()
	})
	if err != nil {
		return err
	}
	rows := g.Map(checks, func(f Fact) g.Node {
		return row(words(f.Name), chip(f.State, f.State), words(f.Text), words(f.Hint))
	})
	body := g.Group{table("No checks.", []string{"Check", "State", "Details", "Hint"}, rows)}
	if s.o.Jobs != nil {
		stats, err := s.o.Jobs.Stats(q.ctx())
		if err != nil {
			return err
		}
		counts := g.Map(queue.Kinds, func(kind queue.Kind) g.Node {
			k := stats.Kinds[kind]
			return row(words(string(kind)), g.Text(thousands(k.Ready)), g.Text(thousands(k.Running)),
				g.Text(thousands(k.Waiting)), h.A(h.Href("/jobs?state=dead"), g.Text(thousands(k.Dead))))
		})
		body = append(body, section("Queue", table("", []string{"Kind", "Ready", "Running", "Waiting", "Dead"},
			counts)))
	}
	if s.o.Forge.Forge != nil {
		quota := s.o.Forge.Quota()
		if quota.Limit > 0 {
			body = append(body, section("Rate limit of the forge",
				facts("Remaining requests", fmt.Sprintf("%s of %s", thousands(quota.Left), thousands(quota.Limit)),
					"Resets", s.ago(quota.Reset))))
		}
	}
	return s.render(q, "Health", "/health", body)
}
