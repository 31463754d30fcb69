package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// knownVersions are the beginnings of the hashes of the static files, by name.
var knownVersions = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	files, _ := static.ReadDir("static") // it is embedded
	for _, f := range files {
		data, _ := static.ReadFile("static/" + f.Name())
		all[f.Name()] = hashOf(string(data))[:12]
	}
	return all
})

func staticPath(name string) string { return "/static/" + name + "?v=" + knownVersions()[name] }

// show answers with a page. where is the path of the entry of the navigation that is shown as current.
func (s *Site) show(q *request, status int, title, where string, body g.Node) {
	name := title
	if !q.repo.IsZero() {
		name += " · " + q.repo.Name
	}
	page := h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.Meta(h.Name("htmx-config"),
				h.Content(`{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true,"historyCacheSize":0}`)),
			h.TitleEl(g.Text(text.VisibleLine(name)+" · Precedent")),
			h.Link(h.Rel("stylesheet"), h.Href(staticPath("style.css"))),
			h.Script(h.Src(staticPath("htmx.min.js")), h.Defer()),
			h.Script(h.Src(staticPath("htmx-sse.min.js")), h.Defer()),
			h.Script(h.Src(staticPath("site.js")), h.Defer()),
		),
		h.Body(h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the content")),
			h.Header(h.A(h.Class("brand"), h.Href("/"), g.Text("Precedent")), s.navigation(q, where)),
			h.Main(h.ID("main"), h.TabIndex("-1"), h.H1(g.Text(text.VisibleLine(title))), body),
			h.Footer(g.Text("Precedent "+s.o.Version)))))
	send(q, status, page)
}

// render answers with a page that is as it should be.
func (s *Site) render(q *request, title, where string, body ...g.Node) error {
	s.show(q, http.StatusOK, title, where, g.Group(body))
	return nil
}

// part answers with a part of a page, for htmx.
func part(q *request, body g.Node) error {
	send(q, http.StatusOK, body)
	return nil
}

func send(q *request, status int, page g.Node) {
	var b bytes.Buffer
	_ = page.Render(&b) // a buffer takes everything
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.Header().Add("Vary", "Hx-Request")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(b.Bytes()) // the client may be gone
}

// wantsPart tells whether htmx asks for a part of a page only.
func (q *request) wantsPart() bool { return q.r.Header.Get("Hx-Request") == "true" }

// navigation links to the pages: those of the repository, if there is one, and those of the server.
func (s *Site) navigation(q *request, where string) g.Node {
	if !q.v.in() {
		return nil
	}
	entry := func(path, name string) g.Node {
		return h.Li(h.A(h.Href(path), g.If(path == where, h.Aria("current", "page")), g.Text(name)))
	}
	server := g.Group{entry("/", "Today"), entry("/health", "Health")}
	if q.v.operator {
		server = append(server, entry("/jobs", "Jobs"), entry("/audit", "Audit"))
	}
	if s.o.DB != nil {
		server = append(server, g.If(s.o.Agents != nil, entry("/agents", "Agents")))
	}
	nav := g.Group{h.Nav(h.Aria("label", "Server"), h.Ul(server))}
	if !q.repo.IsZero() {
		at := q.path("")
		nav = append(nav, h.Nav(h.Aria("label", "Repository"), h.P(h.Class("repo"), g.Text(repoName(q.repo))), h.Ul(
			entry(at, "Overview"), entry(at+"/findings", "Findings"), entry(at+"/learnings", "Learnings"),
			entry(at+"/dismissals", "Dismissals"), entry(at+"/insights", "Insights"),
			entry(at+"/precedents", "Precedents"),
			entry(at+"/hotspots", "Hotspots"), entry(at+"/trends", "Trends"), entry(at+"/audit", "Audit"))))
	}
	return append(nav, h.Form(h.Class("out"), h.Method("post"), h.Action("/signout"), csrf(q),
		h.Span(g.Text(text.VisibleLine(q.v.login))), h.Button(h.Type("submit"), g.Text("Sign out"))))
}

func repoPath(r precedent.Repo) string {
	return "/repos/" + url.PathEscape(r.Host) + "/" + url.PathEscape(r.Owner) + "/" + url.PathEscape(r.Name)
}

// repoName is the name of a repository, for people.
func repoName(r precedent.Repo) string {
	if r.IsLocal() {
		return "this repository"
	}
	return text.VisibleLine(r.String())
}

func (q *request) path(below string) string { return repoPath(q.repo) + below }

// Parts of pages.

func sentence(format string, args ...any) g.Node {
	return h.P(g.Text(fmt.Sprintf(format, args...)))
}

func hidden(name, value string) g.Node {
	return h.Input(h.Type("hidden"), h.Name(name), h.Value(value))
}

func csrf(q *request) g.Node { return hidden("csrf", q.v.csrf()) }

func button(name string) g.Node { return h.Button(h.Type("submit"), g.Text(name)) }

// postButton is a form of one button that changes something.
func postButton(q *request, path, name string) g.Node {
	return h.Form(h.Class("act"), h.Method("post"), h.Action(path), csrf(q), button(name))
}

// named is the name of an input, which is its id, too.
func named(name string) g.Node { return g.Group{h.Name(name), h.ID(name)} }

func field(id, label string, input g.Node) g.Node {
	return h.Div(h.Class("field"), h.Label(h.For(id), g.Text(label)), input)
}

func section(title string, body ...g.Node) g.Node {
	return h.Section(h.H2(g.Text(title)), g.Group(body))
}

// counting is a section that says how much it lists.
func counting(title string, n int, body ...g.Node) g.Node {
	return section(title+" ("+thousands(n)+")", body...)
}

// table shows rows; an empty one says so.
func table(none string, heads []string, rows []g.Node) g.Node {
	if len(rows) == 0 {
		return h.P(h.Class("none"), g.Text(none))
	}
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("group"),
		h.Aria("label", strings.ToLower(strings.Join(heads, ", "))),
		h.Table(h.THead(h.Tr(g.Map(heads, func(head string) g.Node { return h.Th(h.Scope("col"), g.Text(head)) }))),
			h.TBody(g.Group(rows))))
}

func row(cells ...g.Node) g.Node {
	return h.Tr(g.Map(cells, func(c g.Node) g.Node { return h.Td(c) }))
}

// words shows what people, models or forges wrote, on one line.
func words(s string) g.Node { return g.Text(text.VisibleLine(s)) }

// prose shows a text that people or models wrote, with its lines.
func prose(s string) g.Node {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return h.Div(h.Class("prose"), g.Text(text.Visible(s)))
}

func code(s string) g.Node {
	if s == "" {
		return nil
	}
	return h.Pre(h.TabIndex("0"), h.Code(g.Text(text.Visible(s))))
}

func link(path string, name string) g.Node { return h.A(h.Href(path), words(name)) }

// external links to a page of the forge, if the address is one.
func external(address, name string) g.Node {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return words(name)
	}
	return h.A(h.Href(address), h.Rel("noreferrer noopener"), words(name))
}

// chip is a word with a color of its own.
func chip(class, word string) g.Node {
	return h.Span(h.Class("chip "+className(class)), words(word))
}

// stateChip is a chip for a value of a list, such as a severity.
func stateChip[T ~string](v T) g.Node {
	return chip(string(v), strings.ReplaceAll(string(v), "_", " "))
}

// className is a word without what a class may not have.
func className(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '-' {
			return r
		}
		return -1
	}, strings.ReplaceAll(strings.ToLower(s), "_", "-"))
}

// ago is how long ago something was, with the exact time for those who ask.
func (s *Site) ago(at time.Time) g.Node {
	if at.IsZero() {
		return g.Text("never")
	}
	d := s.o.Now().Sub(at)
	var said string
	switch d = max(d, -d); {
	case d < time.Minute:
		said = fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		said = fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		said = fmt.Sprintf("%d h", int(d.Hours()))
	default:
		said = fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	if at.After(s.o.Now()) {
		said = "in " + said
	} else {
		said += " ago"
	}
	return h.Time(h.DateTime(at.UTC().Format(time.RFC3339)), h.Title(at.UTC().Format("2006-01-02 15:04:05 UTC")),
		g.Text(said))
}

func day(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.UTC().Format(time.DateOnly)
}

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

// cost is what was paid for tokens; where no price is known, it is their number.
func cost(usd float64, tokens int) string {
	if usd == 0 && tokens > 0 {
		return plural(tokens, "token")
	}
	return dollars(usd)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// thousands is a number with a thin space between groups of three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func total[K comparable](counts map[K]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// counted is a number that links to the list that it counts.
func counted(path string, n int, one string) g.Node { return h.A(h.Href(path), g.Text(plural(n, one))) }

// facts is a list of names with values; those without a value are left out.
func facts(pairs ...any) g.Node {
	var list g.Group
	for i := 0; i+1 < len(pairs); i += 2 {
		value, ok := pairs[i+1].(g.Node)
		if said, isText := pairs[i+1].(string); isText && said != "" {
			value, ok = words(said), true
		}
		if ok && value != nil {
			list = append(list, h.Div(h.Dt(g.Text(pairs[i].(string))), h.Dd(value)))
		}
	}
	return h.Dl(list)
}

func pager(q *request, shown, offset, limit int) g.Node {
	if offset == 0 && shown < limit {
		return nil
	}
	at := func(n int) string {
		values := q.r.URL.Query()
		values.Set("from", strconv.Itoa(n))
		return q.r.URL.Path + "?" + values.Encode()
	}
	return h.Nav(h.Class("pager"), h.Aria("label", "Parts of the list"),
		g.If(offset > 0, h.A(h.Href(at(max(0, offset-limit))), h.Rel("prev"), g.Text("Previous"))),
		g.If(shown == limit, h.A(h.Href(at(offset+limit)), h.Rel("next"), g.Text("Next"))))
}

func (q *request) from() int {
	n, err := strconv.Atoi(q.r.URL.Query().Get("from"))
	if err != nil || n < 0 || n > 1_000_000 {
		return 0
	}
	return n
}
