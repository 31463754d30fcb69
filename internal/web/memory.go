package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Bounds of lists.
const (
	listedLearnings = 50
	listedEffects   = 30
	listedDismissed = 200
	listedAudit     = 200
)

// learningStates are the lists of learnings, in the order of their tabs: what waits for people first.
var learningStates = []precedent.LearningState{
	precedent.LearningPending, precedent.LearningActive, precedent.LearningSuperseded, precedent.LearningForgotten,
}

func (s *Site) learnings(q *request) error {
	counts, err := q.rows.LearningStates(q.ctx())
	if err != nil {
		return err
	}
	state := precedent.LearningState(q.r.URL.Query().Get("state"))
	if !slices.Contains(learningStates, state) {
		if state = precedent.LearningActive; counts[precedent.LearningPending] > 0 {
			state = precedent.LearningPending
		}
	}
	found, err := q.rows.LearningsPage(q.ctx(), state, store.Page{Limit: listedLearnings, Offset: q.from()})
	if err != nil {
		return err
	}
	at := q.path("/learnings")
	tabs := h.Nav(h.Class("tabs"), h.Aria("label", "States"),
		h.Ul(g.Map(learningStates, func(is precedent.LearningState) g.Node {
			return tab(at+"?state="+string(is), fmt.Sprintf("%s (%s)", is, thousands(counts[is])), is == state)
		})))
	rows := g.Map(found, func(l precedent.Learning) g.Node {
		act := g.Node(nil)
		if q.mayWrite() && state == precedent.LearningPending {
			act = g.Group{
				postButton(q, q.path("/learnings/")+l.ID+"/approve", "Approve"),
				postButton(q, q.path("/learnings/")+l.ID+"/forget", "Forget"),
			}
		}
		return row(link(at+"/"+l.ID, l.Directive),
			g.Group{chip("kind", strings.ReplaceAll(string(l.Kind), "_", " ")), g.Text(" "), words(reach(&l))},
			words(l.From.Who), h.A(h.Href(at+"/"+l.ID+"#effects"), g.Textf("%d", l.Used)), s.ago(l.UpdatedAt), act)
	})
	body := g.Group{
		tabs, table("No "+string(state)+" learnings.",
			[]string{"Directive", "Where", "From", "Used", "Changed", "What you can do"}, rows),
		pager(q, len(found), q.from(), listedLearnings),
	}
	if q.mayWrite() {
		body = append(body, section("Add a learning", h.Form(h.Method("post"), h.Action(at), csrf(q),
			learningFields(&precedent.Learning{Kind: precedent.LearnDo}, true), button("Save"))))
	}
	return s.render(q, "Learnings", at, body)
}

func reach(l *precedent.Learning) string {
	where := cmp.Or(guide.Readable(l.Glob), "all files")
	if l.Category != "" {
		where += ", " + string(l.Category)
	}
	if l.PullRequest != 0 {
		where += fmt.Sprintf(", #%d only", l.PullRequest)
	}
	if l.Scope != precedent.RepositoryScope {
		where += ", all repositories of the " + string(l.Scope)
	}
	return where
}

func learningFields(l *precedent.Learning, isNew bool) g.Node {
	choose := func(name, label, current string, all []string) g.Node {
		return field(name, label, h.Select(h.Name(name), h.ID(name), g.Map(all, func(v string) g.Node {
			return h.Option(h.Value(v), g.If(v == current, h.Selected()),
				g.Text(cmp.Or(strings.ReplaceAll(v, "_", " "), "all")))
		})))
	}
	most := strconv.Itoa(precedent.MaxLearningField)
	return g.Group{
		field("directive", "Directive, in the imperative", h.Textarea(named("directive"), h.Required(),
			h.MaxLength(most), h.Rows("2"), g.Text(l.Directive))),
		field("rationale", "Why", h.Textarea(named("rationale"), h.MaxLength(most), h.Rows("2"), g.Text(l.Rationale))),
		choose("kind", "What it does", string(l.Kind), texts(precedent.LearningKinds)),
		field("glob", "In these files (a path or glob; empty for all)", h.Input(named("glob"), h.Value(l.Glob))),
		choose("category", "For findings of this category", string(l.Category),
			append([]string{""}, texts(precedent.Categories)...)),
		g.If(isNew, choose("scope", "Holds for", string(precedent.RepositoryScope),
			[]string{string(precedent.RepositoryScope), string(precedent.OwnerScope)})),
	}
}

func texts[T ~string](all []T) (list []string) {
	for _, v := range all {
		list = append(list, string(v))
	}
	return list
}

// addLearning saves what somebody with write permission writes: it is active at once, unless it
// contradicts another one.
func (s *Site) addLearning(q *request) error {
	form := q.r.PostForm
	p := memory.Proposal{
		Kind: precedent.LearningKind(form.Get("kind")), Directive: form.Get("directive"),
		Rationale: form.Get("rationale"), Glob: form.Get("glob"),
		Category: precedent.Category(form.Get("category")), Scope: precedent.LearningScope(form.Get("scope")),
		From: precedent.LearningSource{
			By: precedent.FromCommand, Who: q.v.login, WhoID: precedent.ForgeID(q.v.person),
			MayWrite: true, Words: form.Get("directive"),
		},
	}
	if p.Scope == precedent.MeScope || strings.TrimSpace(p.Directive) == "" {
		return requestError("A learning needs a directive, and holds for the repository or its owner.")
	}
	var saved memory.Captured
	err := s.audited(q, q.rows, store.AuditRow{Action: "add learning", Subject: p.Directive},
		func() (string, error) {
			var err error
			if q.v.local {
				saved, err = s.o.Env.Learn(q.ctx(), q.space, p, s.o.User)
			} else {
				saved, err = q.space.Memory.Propose(q.ctx(), p)
			}
			return learned(&saved, err)
		})
	return s.back(q, q.path("/learnings/")+saved.ID, err)
}

// learned is what became of a learning, for the audit log. What was refused is a mistake of the person.
func learned(c *memory.Captured, err error) (string, error) {
	if err == nil && c.Refused != "" {
		err = requestError("This was not saved: " + c.Refused + ".")
	}
	if err != nil {
		return "", err
	}
	return learningText(&c.Learning), nil
}

func learningText(l *precedent.Learning) string {
	return fmt.Sprintf("%s %s (%s): %s", l.State, l.Kind, reach(l), l.Directive)
}

// learning shows a learning, where it comes from, what it did, and how it was changed.
func (s *Site) learning(q *request) error {
	l, err := q.space.Memory.Learning(q.ctx(), q.r.PathValue("id"))
	if err != nil {
		return err
	}
	history, err := q.space.Memory.LearningHistory(q.ctx(), l.ID)
	if err != nil {
		return err
	}
	effects, err := s.effects(q, l.ID)
	if err != nil {
		return err
	}
	var changes []g.Node
	for _, c := range slices.Backward(history) {
		changes = append(changes, row(s.ago(c.At), words(c.Who), words(c.Action), words(learningText(&c.After))))
	}
	at := q.path("/learnings/")
	other := func(id string) g.Node {
		if id == "" {
			return nil
		}
		return link(at+id, id)
	}
	body := g.Group{
		facts("State", stateChip(l.State), "What it does", strings.ReplaceAll(string(l.Kind), "_", " "), "Where",
			reach(&l), "Why", l.Rationale,
			"From", g.Group{words(l.From.Who + ", "), external(l.From.URL, string(l.From.By))}, "In these words",
			l.From.Words, "Approved by", l.Approver,
			"Replaced", other(l.Supersedes), "Contradicts", other(l.Contradicts), "Ends", day(l.ExpiresAt),
			"Used", fmt.Sprintf("in %s of %s that read it", plural(l.Used, "review"), thousands(l.Loaded)), "Id", l.ID),
		h.Section(h.ID("effects"), h.H2(g.Text("What it hid or added")),
			table("It has not changed a finding yet.", []string{"Finding", "Points", "Decision", "Review"}, effects)),
		section("History", table("No changes.", []string{"When", "Who", "What", "After it"}, changes)),
	}
	if q.mayWrite() && (l.State == precedent.LearningActive || l.State == precedent.LearningPending) {
		body = append(body, section("Change it",
			g.If(l.State == precedent.LearningPending, postButton(q, q.path("/learnings/")+l.ID+"/approve", "Approve")),
			h.Form(h.Method("post"), h.Action(at+l.ID+"/edit"), csrf(q), learningFields(&l, false), button("Save")),
			postButton(q, q.path("/learnings/")+l.ID+"/forget", "Forget for good")))
	}
	return s.render(q, l.Directive, "", body)
}

// effects are the decisions that a memory caused, with their findings.
func (s *Site) effects(q *request, id string) ([]g.Node, error) {
	found, err := q.rows.Effects(q.ctx(), id, listedEffects)
	if err != nil {
		return nil, err
	}
	var rows []g.Node
	var r *precedent.Review
	for _, e := range found {
		if r == nil || r.ID != e.Review {
			if r, err = q.rows.Review(q.ctx(), e.Review); err != nil {
				return nil, err
			}
		}
		if e.Finding < 0 || e.Finding >= len(r.Findings) {
			continue
		}
		f := &r.Findings[e.Finding]
		rows = append(rows, row(link(q.path("/findings/")+f.ID, f.Title), g.Textf("%+d", e.Delta), words(e.Text),
			link(q.path("/reviews/")+r.ID, day(r.At))))
	}
	return rows, nil
}

func (s *Site) changeLearning(q *request) error {
	m := q.space.Memory
	l, err := m.Learning(q.ctx(), q.r.PathValue("id"))
	if err != nil {
		return err
	}
	do := map[string]func() (string, error){
		"approve": func() (string, error) {
			c, err := m.ApproveLearning(q.ctx(), l.ID, q.v.login)
			return learned(&c, err)
		},
		"edit": func() (string, error) {
			form := q.r.PostForm
			c, err := m.EditLearning(q.ctx(), l.ID, q.v.login, func(l *precedent.Learning) {
				l.Directive, l.Rationale, l.Glob = form.Get("directive"), form.Get("rationale"), form.Get("glob")
				l.Kind, l.Category = precedent.LearningKind(form.Get("kind")), precedent.Category(form.Get("category"))
			})
			return learned(&c, err)
		},
		"forget": func() (string, error) {
			_, err := m.ForgetLearning(q.ctx(), l.ID, q.v.login)
			return "forgotten", err
		},
	}[q.r.PathValue("do")]
	err = s.audited(q, q.rows, store.AuditRow{
		Action: q.r.PathValue("do") + " learning", Subject: "learning " + l.ID, Before: learningText(&l),
	}, do)
	return s.back(q, q.path("/learnings/")+l.ID, err)
}

func (s *Site) dismissals(q *request) error {
	found, err := q.rows.Dismissals(q.ctx(), s.o.Now(), listedDismissed)
	if err != nil {
		return err
	}
	rows := g.Map(found, func(j precedent.Dismissal) g.Node {
		what := link(q.path("/findings/")+j.Finding, j.Claim)
		if j.Rule != "" {
			what = words("all of " + j.Rule)
		}
		return h.Tr(h.ID(j.ID), h.Td(what), h.Td(words(cmp.Or(j.Glob, j.Path))), h.Td(words(j.Reason)),
			h.Td(words(j.Who)), h.Td(g.Text(thousands(j.Hits))), h.Td(s.ago(j.At)), h.Td(g.Text(day(j.ExpiresAt))))
	})
	return s.render(q, "Dismissals", q.path("/dismissals"), g.Group{
		sentence("A dismissal hides its finding, and counts against similar ones. It expires, or can be undone on the page of its finding."),
		table("Nothing is dismissed.", []string{"Finding", "Where", "Why", "Who", "Hits", "When", "Ends"}, rows),
		g.If(len(found) == listedDismissed, sentence("Only the last %d are shown; precedent memory export has all.",
			listedDismissed)),
	})
}

// insights lists the patterns across changes.
func (s *Site) insights(q *request) error {
	found, err := q.rows.Insights(q.ctx())
	if err != nil {
		return err
	}
	rows := g.Map(found, func(n precedent.Insight) g.Node {
		what, name := "dismiss", "Dismiss"
		if n.Dismissed != nil {
			what, name = "restore", "Restore"
		}
		act := g.Node(nil)
		if q.mayWrite() {
			act = postButton(q, q.path("/insights/")+n.ID+"/"+what, name)
		}
		shows := g.Group(nil)
		for _, id := range n.Citations {
			shows = append(shows, link(q.path("/findings/")+id, id), g.Text(" "))
		}
		return row(words(n.Text), stateChip(n.State), words(cmp.Or(n.Scope, "all files")),
			g.Textf("%d of %d", n.Accepted, n.Accepted+n.Rejected), g.Text(plural(n.Changes, "change")), shows, act)
	})
	return s.render(q, "Insights",
		q.path("/insights"), table("No patterns yet: they need similar findings in several changes.",
			[]string{"Pattern", "State", "Where", "Accepted", "In", "Shown by", "What you can do"}, rows))
}

func (s *Site) changeInsight(q *request) error {
	id := q.r.PathValue("id")
	do := map[string]func() (string, error){
		"dismiss": func() (string, error) {
			_, err := q.space.Memory.DismissInsight(q.ctx(), id, q.v.login, "")
			return "dismissed", err
		},
		"restore": func() (string, error) {
			i, err := q.space.Memory.RestoreInsight(q.ctx(), id)
			return string(i.State), err
		},
	}[q.r.PathValue("do")]
	err := s.audited(q, q.rows, store.AuditRow{
		Action:  q.r.PathValue("do") + " insight",
		Subject: "insight " + id,
	}, do)
	return s.back(q, q.path("/insights"), err)
}

// precedents searches what people wrote in earlier reviews, as somebody types.
func (s *Site) precedents(q *request) error {
	asked := q.r.URL.Query().Get("q")
	at := q.path("/precedents")
	found := h.P(h.Class("none"), g.Text("Type what a remark would say, or what the code does."))
	if strings.TrimSpace(asked) != "" {
		got, err := s.o.Env.SearchCorpus(q.ctx(), q.space, workspace.CorpusQuery{Text: asked, Limit: 20, All: true})
		if err != nil {
			return err
		}
		found = s.precedentList(&got)
	}
	results := h.Div(h.ID("results"), h.Aria("live", "polite"), found)
	if q.wantsPart() {
		return part(q, results)
	}
	return s.render(q, "Precedents", at, g.Group{
		h.Form(h.Class("search"), h.Method("get"), h.Action(at), g.Attr("hx-get", at),
			g.Attr("hx-trigger", "input changed delay:300ms from:#q, submit"),
			g.Attr("hx-target", "#results"), g.Attr("hx-swap", "outerHTML"), g.Attr("hx-push-url", "true"),
			field("q", "Search what people wrote in reviews",
				h.Input(h.Type("search"), named("q"), h.Value(asked), h.MaxLength("2000"))), button("Search")),
		results,
	})
}

func (s *Site) precedentList(got *workspace.CorpusResult) g.Node {
	var items g.Group
	for i := range got.Found {
		f := &got.Found[i]
		state := chip("citable", "usable")
		if f.Unusable != "" {
			state = chip("unusable", "not usable: "+f.Unusable)
		}
		items = append(items, h.Li(h.P(external(f.URL, fmt.Sprintf("#%d, %s, %s", f.Pull, f.Author, f.At)), g.Text(" "),
			h.Span(h.Class("at"), words(f.Path)), g.Text(" "), state,
			g.If(f.Outcome != "", chip(f.Outcome, f.Outcome))), prose(f.Text)))
	}
	failures := g.Map(got.Failures, func(f string) g.Node { return h.P(words(f)) })
	if len(items) == 0 {
		return g.Group{failures, h.P(h.Class("none"), g.Textf("Nothing similar among %s.",
			plural(got.Searched, "comment")))}
	}
	return g.Group{
		failures, sentence("%s of %s.", thousands(len(got.Found)), plural(got.Searched, "comment")),
		h.Ol(h.Class("found"), items),
	}
}

// hotspots shows the files with the most findings as a map of the tree.
func (s *Site) hotspots(q *request) error {
	found, err := cached(&s.stats, "hotspots "+q.repo.String(), func() ([]precedent.Hotspot, error) {
		return q.space.Memory.Hotspots(q.ctx(), listedHotspot)
	})
	if err != nil {
		return err
	}
	at := q.path("")
	var rows []g.Node
	var tiles []tile
	for _, f := range found {
		where := at + "/findings?" + url.Values{"path": {f.Path}}.Encode()
		tiles = append(tiles, tile{name: f.Path, size: f.Findings, class: string(f.TopSeverity), link: where})
		rows = append(rows, row(link(where, f.Path), h.A(h.Href(where), g.Text(thousands(f.Findings))),
			g.Text(thousands(f.Dismissed)),
			stateChip(f.TopSeverity), words(strings.Join(texts(f.Categories), " ")), s.ago(f.LastSeen)))
	}
	return s.render(q, "Hotspots", at+"/hotspots", g.Group{
		sentence("Files with several findings. A tile is as large as the number of its findings; its color is the worst severity."),
		treemap(tiles), table("No file has several findings yet.",
			[]string{"File", "Findings", "Dismissed", "Worst", "Categories", "Last seen"}, rows),
	})
}

func (s *Site) serverAudit(q *request) error {
	if s.o.DB == nil || !q.v.operator {
		return errNotYours
	}
	return s.showAudit(q, "/audit", s.o.DB.Server())
}

// showAudit lists what people changed on the pages of a repository, or of the server.
func (s *Site) showAudit(q *request, at string, of *store.Repo) error {
	found, err := of.Audit(q.ctx(), listedAudit)
	if err != nil {
		return err
	}
	if q.r.URL.Query().Get("format") == "json" {
		q.w.Header().Set("Content-Disposition", `attachment; filename="audit.json"`)
		writeJSON(q.w, http.StatusOK, found) // never null
		return nil
	}
	var rows []g.Node
	for _, a := range found {
		rows = append(rows, row(s.ago(a.At), words(a.Who), words(a.Action), words(a.Subject), words(a.Before),
			words(cmp.Or(a.After, "not known: the server ended"))))
	}
	return s.render(q, "Audit", at, g.Group{
		sentence("Changes that people made on these pages. What they change by comments and commands is in the history of each learning and dismissal."),
		table("Nothing was changed here.", []string{"When", "Who", "What", "Of", "Before", "After"}, rows),
		h.P(h.A(h.Href(at+"?format=json"), g.Text("Download as JSON"))),
	})
}
