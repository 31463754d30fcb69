package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// pull shows what happened on a pull request: its rounds, and what the last one found.
func (s *Site) pull(q *request) error {
	number, err := q.number("pull")
	if err != nil {
		return err
	}
	rounds, err := q.rows.LatestFacts(q.ctx(), number, listedReviews)
	if err != nil {
		return err
	}
	watched, err := q.rows.WatchedPulls(q.ctx())
	if err != nil {
		return err
	}
	is, open := watched[number]
	if len(rounds) == 0 && !open {
		return errNotFound
	}
	state := "closed, or not watched"
	if open {
		state = cmp.Or(strings.Join(is.Labels, ", "), "open, without labels")
	}
	page := ""
	if s.o.Forge.Forge != nil {
		page = s.o.Forge.Pages().PullRequest(q.repo, number)
	}
	body := g.Group{facts("Title", is.Title, "On the forge",
		external(page, fmt.Sprintf("%s#%d", repoName(q.repo), number)), "Labels", state)}
	if s.o.Jobs != nil {
		jobs, err := s.o.Jobs.List(q.ctx(), queue.Filter{
			States: unfinished, Repo: q.repo, Limit: 10 * listedJobs,
		})
		if err != nil {
			return err
		}
		jobs = slices.DeleteFunc(jobs, func(j queue.Job) bool { return j.Pull != number })
		if len(jobs) > 0 {
			body = append(body, s.jobSections(q, jobs))
		}
	}
	body = append(body, counting("Rounds", len(rounds), s.timeline(q, rounds)))
	if len(rounds) > 0 {
		r, err := q.rows.Review(q.ctx(), rounds[0].ID)
		if err != nil {
			return err
		}
		found, err := s.reviewBody(q, r)
		if err != nil {
			return err
		}
		body = append(body, found)
	}
	threads, err := s.threads(q, number)
	if err != nil {
		return err
	}
	return s.render(q, fmt.Sprintf("Pull request #%d", number), "", append(body, threads))
}

func (s *Site) timeline(q *request, rounds []store.ReviewFacts) g.Node {
	var steps g.Group
	for _, f := range slices.Backward(rounds) {
		steps = append(steps, h.Li(s.ago(f.At), g.Text(" "), stateChip(f.Verdict), g.Text(" "),
			h.A(h.Href(q.path("/reviews/")+f.ID), g.Textf("%s at %s", plural(total(f.New), "new finding"),
				workspace.ShortID(f.Head))),
			g.Textf(", %s, %.0f s", cost(f.CostUSD, f.Usage.Tokens()), float64(f.TookMS)/1000)))
	}
	return h.Ol(h.Class("timeline"), steps)
}

func (s *Site) review(q *request) error {
	r, err := q.rows.Review(q.ctx(), q.r.PathValue("id"))
	if err != nil {
		return err
	}
	body, err := s.reviewBody(q, r)
	if err != nil {
		return err
	}
	title := "Review of a local change"
	if r.PullRequest != nil {
		title = fmt.Sprintf("Review of pull request #%d", *r.PullRequest)
		body = g.Group{h.P(link(pullPath(q.repo, *r.PullRequest), "All rounds")), body}
	}
	return s.render(q, title, "", body)
}

// listedOfReview limits the findings of each list of a review: browsers take many seconds for thousands.
const listedOfReview = 200

// reviewBody shows what a review found: what it showed, and what it hid, each with the reason.
func (s *Site) reviewBody(q *request, r *precedent.Review) (g.Node, error) {
	var prints []string
	for i := range r.Findings {
		prints = append(prints, r.Findings[i].Fingerprint)
	}
	outcomes, err := q.rows.LastOutcomes(q.ctx(), prints)
	if err != nil {
		return nil, err
	}
	var shown, hiddenOnes []g.Node
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Live() {
			shown = append(shown, s.findingItem(q, r, f, outcomes[f.Fingerprint]))
		} else {
			hiddenOnes = append(hiddenOnes, s.findingItem(q, r, f, outcomes[f.Fingerprint]))
		}
	}
	list := func(none string, items []g.Node) g.Node {
		if len(items) == 0 {
			return h.P(h.Class("none"), g.Text(none))
		}
		more := len(items) - listedOfReview
		return g.Group{
			h.Ul(h.Class("folded"), g.Group(items[:min(len(items), listedOfReview)])),
			g.If(more > 0, h.P(g.Textf("%s more: ", thousands(more)), link(q.path("/findings"), "all findings"))),
		}
	}
	gate := ""
	if r.Gate != nil {
		gate = r.Gate.Status
	}
	failures := g.Map(r.Failures, func(f precedent.Failure) g.Node { return row(words(f.Step), words(f.Error)) })
	finders := g.Map(r.Finders, func(f precedent.FinderRun) g.Node {
		tokens := f.Tokens()
		return row(words(f.Name), words(cmp.Or(f.Model, f.Engine)), stateChip(f.Status),
			g.Text(thousands(f.Found)), g.Text(thousands(tokens)), g.Text(cost(f.CostUSD, tokens)),
			g.Textf("%.1f s", float64(f.TookMS)/1000), words(f.Error))
	})
	return g.Group{
		facts("Verdict", stateChip(r.Verdict), "Reviewed", s.ago(r.At), "Commit", workspace.ShortID(r.Head),
			"Threshold", fmt.Sprintf("%d (%s)", r.Threshold, r.ThresholdFrom), "Cost",
			cost(r.CostUSD, r.Usage.Tokens()), "Took",
			fmt.Sprintf("%.1f s", float64(r.TookMS)/1000), "Read", readOf(r.Coverage), "Build and tests", gate),
		counting("Shown", len(shown), list("Nothing was found that is worth showing.", shown)),
		h.Section(h.ID("hidden"), h.H2(g.Textf("Hidden (%s)", thousands(len(hiddenOnes)))),
			list("Nothing was hidden.", hiddenOnes)),
		unread(r.Coverage),
		g.Iff(len(failures) > 0, func() g.Node {
			return section("What failed", table("", []string{"Step", "Why"}, failures))
		}),
		g.Iff(len(finders) > 0, func() g.Node {
			return section("Finders", table("", []string{
				"Finder", "Model", "Status", "Found", "Tokens", "Cost", "Took", "Problem",
			}, finders))
		}),
	}, nil
}

func readOf(c precedent.Coverage) string {
	s := fmt.Sprintf("%d of %s in %s", c.HunksRead, plural(c.Hunks, "hunk"), plural(c.Files, "file"))
	if c.HunksBefore > 0 {
		s += fmt.Sprintf("; %d unchanged since an earlier review read them", c.HunksBefore)
	}
	return s
}

// unread lists what was not read or not checked, and why.
func unread(c precedent.Coverage) g.Node {
	var rows []g.Node
	for _, f := range c.Skipped {
		rows = append(rows, row(words(f.Path), g.Text("not read"), words(f.Reason)))
	}
	for _, t := range c.Truncated {
		at := t.Path
		if t.Hunk > 0 {
			at = fmt.Sprintf("%s, hunk %d", t.Path, t.Hunk)
		}
		rows = append(rows, row(words(at), g.Text("not read"), words(t.Reason)))
	}
	for _, n := range c.NotChecked {
		rows = append(rows, row(words(n.Path), g.Text("not checked"), words(n.Reason)))
	}
	if len(rows) == 0 {
		return nil
	}
	more := len(rows) - listedOfReview
	return counting("What was not read or checked", len(rows),
		table("", []string{"Where", "What", "Why"}, rows[:min(len(rows), listedOfReview)]),
		g.If(more > 0, sentence("%s more.", thousands(more))))
}

// whyHidden is why a finding is not shown, in a sentence.
func whyHidden(f *precedent.Finding) string {
	if f.DroppedWhy != "" {
		return f.DroppedWhy
	}
	return strings.ReplaceAll(string(f.Dropped), "_", " ")
}

// findingItem is one finding of a review, folded: its first line says what and why, and opening it
// shows the decisions.
func (s *Site) findingItem(q *request, r *precedent.Review, f *precedent.Finding,
	outcome precedent.OutcomeKind,
) g.Node {
	why := g.Textf("confidence %d, threshold %d", f.Confidence, r.Threshold)
	if !f.Live() {
		why = h.Strong(words("Hidden: " + whyHidden(f)))
	}
	return h.Li(h.ID("finding-"+className(f.ID)), h.Details(
		h.Summary(stateChip(f.Severity), g.Text(" "), words(f.Title), h.Span(h.Class("at"), words(" "+f.String())),
			h.Br(), why, g.If(outcome != "", g.Group{g.Text(" "), stateChip(outcome)})),
		s.findingText(f), trail(q.repo, f.Trail), h.P(link(q.path("/findings/")+f.ID,
			"Why, in full, and what you can do"))))
}

func (s *Site) findingText(f *precedent.Finding) g.Node {
	evidence := g.Map(f.Evidence, func(e precedent.Evidence) g.Node {
		return h.Li(words(e.String()+" "), h.Code(words(e.Quote)))
	})
	return g.Group{
		code(f.Quote), prose(f.Body), g.If(f.Suggestion != "", g.Group{h.P(g.Text("Suggested:")), code(f.Suggestion)}),
		g.If(len(evidence) > 0, g.Group{h.P(g.Text("Evidence:")), h.Ul(evidence)}),
	}
}

// trail is the arithmetic of the confidence: each decision with what it added.
func trail(repo precedent.Repo, all []precedent.Decision) g.Node {
	rows := g.Map(all, func(d precedent.Decision) g.Node {
		by := g.Node(nil)
		if d.By != "" {
			by = link(repoPath(repo)+"/by/"+d.By, d.By)
		}
		delta := g.Node(nil)
		if d.Delta != 0 {
			delta = g.Textf("%+d", d.Delta)
		}
		return row(words(d.Step), delta, words(d.Text), by)
	})
	return table("The decisions are no longer stored.", []string{"Step", "Points", "Decision", "Because of"}, rows)
}

// by leads from what caused a decision to its page.
func (s *Site) by(q *request) error {
	id := q.r.PathValue("id")
	at := q.path("")
	if found, err := q.space.Memory.Explain(q.ctx(), id); err == nil {
		return s.back(q, at+"/findings/"+found.Finding.ID, nil)
	}
	if l, err := q.space.Memory.Learning(q.ctx(), id); err == nil {
		return s.back(q, at+"/learnings/"+l.ID, nil)
	}
	if found, err := q.space.Memory.Find(q.ctx(), id); err == nil {
		return s.back(q, at+"/dismissals#"+found, nil)
	}
	return errNotFound
}

// threads shows the conversations of a pull request, and what became of the findings.
func (s *Site) threads(q *request, pull int) (g.Node, error) {
	threads, err := q.rows.Threads(q.ctx(), pull)
	if err != nil {
		return nil, err
	}
	outcomes, err := q.rows.Outcomes(q.ctx(), pull)
	if err != nil {
		return nil, err
	}
	became := map[string]precedent.Outcome{}
	for _, o := range outcomes {
		became[o.Fingerprint] = o
	}
	var rows []g.Node
	for i := range threads {
		t := &threads[i]
		outcome := g.Text("open")
		if o, known := became[t.Fingerprint]; known {
			outcome = g.Group{stateChip(o.Kind), g.Text(" "), words(o.Proof)}
		}
		said := g.Map(t.Messages, func(m precedent.Message) g.Node {
			return h.P(h.Strong(words(m.Who+": ")), words(string(m.Body)))
		})
		rows = append(rows, row(link(q.path("/findings/")+t.Finding, t.Title), stateChip(t.State), outcome,
			g.Group{external(t.URL, "on the forge"), said}))
	}
	return counting("Conversations", len(threads),
			table("No finding was posted on this pull request.", []string{"Finding", "State", "Outcome", "Words"}, rows)),
		nil
}

const listedFindings = 50

// findings lists the findings of the repository, those seen last first.
func (s *Site) findings(q *request) error {
	path := strings.TrimSpace(q.r.URL.Query().Get("path"))
	found, err := q.rows.LatestFindings(q.ctx(), path, store.Page{Limit: listedFindings, Offset: q.from()})
	if err != nil {
		return err
	}
	var prints []string
	for i := range found {
		prints = append(prints, found[i].Fingerprint)
	}
	outcomes, err := q.rows.LastOutcomes(q.ctx(), prints)
	if err != nil {
		return err
	}
	rows := g.Map(found, func(f store.Known) g.Node {
		outcome := outcomes[f.Fingerprint]
		return row(stateChip(f.Severity), link(q.path("/findings/")+f.ID, f.Title), words(f.String()),
			g.Text(fmt.Sprint(f.Confidence)), g.Textf("%d ×", f.Seen), g.If(outcome != "", stateChip(outcome)),
			s.ago(f.Last))
	})
	body := g.Group{h.Form(h.Class("search"), h.Method("get"), h.Action(q.path("/findings")),
		field("path", "In a file or folder", h.Input(h.Type("search"), named("path"), h.Value(path))), button("Show"))}
	return s.render(q, "Findings", q.path("/findings"), append(body,
		table("No findings.", []string{"Severity", "Finding", "Where", "Confidence", "Shown", "Outcome", "Seen"}, rows),
		pager(q, len(found), q.from(), listedFindings)))
}

// finding explains why a finding is shown or hidden, and lets people dismiss or restore it.
func (s *Site) finding(q *request) error {
	e, err := q.space.Explain(q.ctx(), q.r.PathValue("id"), nil)
	if err != nil {
		return err
	}
	f := &e.Finding
	fate := g.Text("Shown by the last review that had it.")
	switch {
	case e.Dismissal != nil:
		fate = g.Group{
			g.Text("Dismissed by "), words(e.Dismissal.Who), g.Text(": "),
			words(cmp.Or(e.Dismissal.Reason, "no reason given")),
			g.Text(" Valid until " + day(e.Dismissal.ExpiresAt) + "."),
		}
	case !f.Live():
		fate = words("Hidden: " + whyHidden(f))
	}
	others := g.Map(e.Duplicates, func(d precedent.Finding) g.Node { return h.Li(words(d.Finder + ": " + d.Title)) })
	cites := g.Map(f.Cites, func(c precedent.Cite) g.Node { return h.Li(words(c.Kind+": "), external(c.URL, c.Text)) })
	pull := g.Node(nil)
	if e.Review.ID != "" {
		pull = link(q.path("/reviews/")+e.Review.ID, "review of "+workspace.ShortID(e.Review.Head))
	}
	body := g.Group{
		h.P(h.Class("notice"), fate),
		facts("Severity", stateChip(f.Severity), "Where", f.String(), "Category", string(f.Category), "Found by",
			f.Finder, "Rule", f.Rule,
			"Verifier", string(f.Verifier), "Confidence", fmt.Sprintf("%d, threshold %d (%s)", f.Confidence,
				e.Review.Threshold, e.Review.ThresholdFrom),
			"Seen", fmt.Sprintf("%s; first %s, last %s", plural(e.Seen, "time"), day(e.FirstSeen), day(e.LastSeen)),
			"Last", pull, "Id", f.ID),
		s.findingText(f),
		section("How the confidence came about", trail(q.repo, e.Trail)),
		g.If(len(others) > 0, section("Same finding by other finders", h.Ul(others))),
		g.If(len(cites) > 0, section("Cites", h.Ul(cites))),
		g.If(e.Retired != "", sentence("An earlier dismissal ended: %s", e.Retired)),
	}
	if q.mayWrite() {
		body = append(body, s.findingForms(q, &e))
	}
	return s.render(q, f.Title, "", body)
}

// findingForms let somebody with write permission change what becomes of a finding.
func (s *Site) findingForms(q *request, e *precedent.Explanation) g.Node {
	at := q.path("/findings/") + e.Finding.ID
	if e.Dismissal != nil {
		return section("Show it again", postButton(q, at+"/restore", "Undo the dismissal"))
	}
	return section("Dismiss it", h.Form(h.Method("post"), h.Action(at+"/dismiss"), csrf(q),
		field("reason", "Why does it not apply? The reason decides about similar findings, too.",
			h.Input(named("reason"), h.Required(), h.MaxLength("1000"))),
		field("glob", "Only in these files (a path or glob; empty for all)",
			h.Input(named("glob"), h.MaxLength("200"))), button("Dismiss")))
}

func (s *Site) changeFinding(q *request) error {
	id := q.r.PathValue("id")
	e, err := q.space.Memory.Explain(q.ctx(), id)
	if err != nil {
		return err
	}
	a := store.AuditRow{Subject: "finding " + e.Finding.ID + ": " + e.Finding.Title, Before: dismissalText(e.Dismissal)}
	var do func() (string, error)
	switch a.Action = q.r.PathValue("do"); a.Action {
	case "dismiss":
		do = func() (string, error) {
			j, err := q.space.Memory.Dismiss(q.ctx(), e.Finding.ID,
				memory.Dismissal{Reason: q.r.PostFormValue("reason"), Who: q.v.login, Glob: q.r.PostFormValue("glob")})
			return dismissalText(&j), err
		}
	case "restore":
		do = func() (string, error) {
			_, err := q.space.Memory.Undismiss(q.ctx(), e.Finding.ID)
			return "not dismissed", err
		}
	}
	return s.back(q, q.path("/findings/")+e.Finding.ID, s.audited(q, q.rows, a, do))
}

func dismissalText(j *precedent.Dismissal) string {
	if j == nil {
		return "not dismissed"
	}
	return fmt.Sprintf("dismissed by %s: %s", j.Who, j.Reason)
}

// audited makes a change, with a row in the audit log before it.
func (s *Site) audited(q *request, rows *store.Repo, a store.AuditRow, do func() (after string, err error)) error {
	if do == nil { // the path names no change
		return errNotFound
	}
	a.At, a.Who = s.o.Now(), q.v.login
	a.Subject = secret.RedactText(a.Subject)
	end, err := rows.AddAudit(q.ctx(), a)
	if err != nil {
		return err
	}
	after, failed := do()
	if failed != nil {
		after = "failed: " + failed.Error()
	}
	if err := end(context.WithoutCancel(q.ctx()), after); err != nil && failed == nil {
		return err
	}
	return failed
}

func (s *Site) back(q *request, path string, err error) error {
	if err != nil {
		return err
	}
	http.Redirect(q.w, q.r, path, http.StatusSeeOther)
	return nil
}
