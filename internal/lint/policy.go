package lint

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/text"
)

// policyEdit reports changes to files that configure reviews: one finding for each kind
// of file. The review reads them at the base, so the change cannot benefit from its
// own edit, but people should still see it.
func policyEdit(ctx context.Context, in *Input) Result {
	c := &collect{name: "policy-edit"}
	var groups []policyEdits
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		steering := f.Path
		if !in.IsPolicyPath(steering) {
			if steering = f.OldPath; f.Status != diff.Renamed || !in.IsPolicyPath(steering) {
				continue
			}
		}
		if steering == guide.PolicyFile && f.Status == diff.Added && onlyComments(f) {
			continue
		}
		kind := steeringKind(steering)
		if kind.short == agentPrograms && f.Status == diff.Deleted { // it starts nothing any more
			kind.severity, kind.ask = precedent.Low, "Check that it held no hook or restriction that the team wants to keep."
		}
		if kind.short == whoApproves && !changesOwners(in, f) {
			kind.severity = precedent.Low
		}
		if adds(f, toAssistants()) {
			kind.confidence = steeringSure
			kind.severity = worse(kind.severity, precedent.Low)
		}
		if adds(f, suppressing()) {
			kind.confidence, kind.ask = steeringSure, askInstructions
			kind.severity = worse(kind.severity, precedent.Medium)
		}
		if kind.ask == askInstructions && adds(f, leavesOutCode()) {
			kind.severity = worse(kind.severity, precedent.Medium)
		}
		g := slices.IndexFunc(groups, func(g policyEdits) bool { return g.kind == kind })
		if g < 0 {
			groups = append(groups, policyEdits{kind: kind, first: f, steering: steering})
			continue
		}
		groups[g].more = append(groups[g].more, steering)
	}
	for _, g := range groups {
		c.add(g.finding(in.OwnPolicy))
	}
	r := c.result(ctx, nil)
	r.Files = map[string]bool{} // it reads names
	return r
}

// onlyComments reports whether an added YAML file has comments alone. In an edit, what begins with # can be a line of
// a text.
func onlyComments(f *diff.File) bool {
	for l := range f.AddedLines() {
		if text := strings.TrimSpace(l.Text); text != "" && !strings.HasPrefix(text, "#") {
			return false
		}
	}
	return len(f.Hunks) > 0
}

// policyEdits are the changed files of one kind.
type policyEdits struct {
	kind     steeringText
	first    *diff.File
	steering string   // the path of the first that configures reviews
	more     []string // those of the others
}

// finding reports the first added line of the first file, else the first deleted one,
// else the file as a whole.
func (g *policyEdits) finding(ownPolicy bool) precedent.Finding {
	f := g.first
	out := newFileFinding(f)
	if f.Status == diff.Deleted {
		out.Side = precedent.Left
	} else if l, ok := firstLine(f, diff.Delete); ok && out.Start == 0 {
		out = newFinding(f, precedent.Left, l)
		out.Evidence = nil // the line is not in the head
	}
	kind := g.kind
	out.Category, out.Rule = precedent.PolicyEdit, "policy-edit"
	out.Severity, out.Confidence = kind.severity, kind.confidence
	what := path.Base(g.steering)
	switch len(g.more) {
	case 0:
	case 1:
		what += " and 1 other file"
	default:
		what += fmt.Sprintf(" and %d other files", len(g.more))
	}
	out.Title = title(fmt.Sprintf("The change %s %s: %s", describeEdit(f), what, kind.short))
	used := "This review used the version of the file at the base, so the edit does not affect it; it takes effect " +
		"when the change is merged."
	if ownPolicy && g.steering == guide.PolicyFile {
		used = "This review used the uncommitted version of the file in the work tree, so the edit affects it already; it " +
			"takes effect for everyone when the change is merged."
	}
	out.Body = fmt.Sprintf("%s is %s. %s\n\n%s", g.steering, kind.long, used, kind.ask)
	if len(g.more) > 0 {
		out.Body += "\n\nThe same applies to " + listed(g.more) + "."
	}
	return out
}

// toAssistants matches text about or for assistants, and otherAssistants what only looks
// like it: addresses, and the service that asks for signatures of license agreements.
// "AI" alone is the name of many products.
var toAssistants = text.Pattern(`(?i)\b(AI[ -](agent|assistant|bot|model|review|tool)\w*|LLMs?|assistants?|copilot` +
	`|claude|codex|chatbots?|coding agents?|review bots?)\b`)

var otherAssistants = text.Pattern(`(?i)https?://[^\s<>)\]]+|\bCLA[ -]assistant\b`)

// suppressing matches text that says what not to report, and toPublic the advice of most
// guides not to report vulnerabilities in public.
var (
	suppressing = text.Pattern(`(?i)\b(do not|don't|never|(must|should|need) (not|never)|(must|should)n't)\s+(report|flag|mention|comment on)\b` +
		`|\breport(s|ing)? nothing\b|\b(needs?|wants?) no (findings?|warnings?|remarks?)\b` +
		`|\b(ignore|skip|suppress)\b.{0,40}\b(findings?|warnings?|remarks?|vulnerab\w*|security)\b`)
	toPublic = text.Pattern(`(?i)public|\bissues?\b|tracker|mailing list|forum`)
)

// leavesOutCode matches a setting of a review tool that leaves out code which people write, as a folder or by its language.
var leavesOutCode = text.Pattern(`^\s*-\s+["']!(\*\*/)?(\*\*?|(apps?|api|backend|client|cmd|core|frontend|internal|lib|packages|pkg` +
	`|server|sources?|src|web)(/\*\*?(/\*)?)?|\*\.(cs|go|java|[jt]sx?|kt|php|py|rb|rs|swift))/?["']\s*$`)

// adds reports whether the change adds a line to the file that matches words.
func adds(f *diff.File, words *regexp.Regexp) bool {
	for l := range f.AddedLines() {
		if words.MatchString(l.Text) && words.MatchString(otherAssistants().ReplaceAllString(l.Text, "")) &&
			(words != suppressing() || !toPublic().MatchString(l.Text)) {
			return true
		}
	}
	return false
}

// worse returns the worse of two severities.
func worse(a, b precedent.Severity) precedent.Severity {
	if a.AtLeast(b) {
		return a
	}
	return b
}

func firstLine(f *diff.File, op diff.Op) (diff.Line, bool) {
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			if l.Op == op {
				return l, true
			}
		}
	}
	return diff.Line{}, false
}

// changesOwners reports whether an edit of a list of code owners is more than comments and layout, and than further paths for
// people who own others: one owner is enough for an approval, and the last pattern that fits counts. So a pattern that is
// new, gone, moved or left by an owner is such a change, and so is a person who owned nothing before, or another owner of
// what is sensitive. Who owns a new path takes nothing from anybody.
func changesOwners(in *Input, f *diff.File) bool {
	switch {
	case f.Status != diff.Added:
	case path.Base(f.Path) != "CODEOWNERS":
		return !isNewPath(in, []string{path.Join("/", path.Dir(f.Path)), f.Path}, nil)
	default: // the first list asks for more approvals
		return slices.ContainsFunc([]string{"", ".github", ".gitlab", ".gitea", ".forgejo", "docs"},
			func(dir string) bool { return in.mayHave(path.Join(dir, "CODEOWNERS")) })
	}
	head, err := in.Read(f.Path)
	if err != nil || f.Status != diff.Modified || len(f.Hunks) == 0 || !strings.EqualFold(path.Base(f.Path), "CODEOWNERS") {
		return true
	}
	lines, known := strings.Split(string(head), "\n"), map[string]bool{}
	for l := range f.AddedLines() {
		lines[min(l.New, len(lines))-1] = ""
	}
	for _, line := range lines {
		for _, who := range ownersRule(line) {
			known[who] = true
		}
	}
	left := 50 // rules whose paths are looked up
	return slices.ContainsFunc(f.Hunks, func(h diff.Hunk) bool {
		var before, after [][]string
		for _, l := range h.Lines {
			rule := ownersRule(l.Text)
			if len(rule) == 0 {
				continue
			}
			if l.Op != diff.Add {
				before = append(before, rule)
			}
			if left--; l.Op == diff.Context || l.Op == diff.Add && (left < 0 || !isNewPath(in, rule, known)) {
				after = append(after, rule)
			}
		}
		return !slices.EqualFunc(before, after, func(was, is []string) bool {
			isNew := func(who string) bool { return !slices.Contains(was, who) }
			return was[0] == is[0] && !slices.ContainsFunc(was, func(who string) bool { return !slices.Contains(is, who) }) &&
				!slices.ContainsFunc(is, func(who string) bool { return isNew(who) && (!known[who] || IsSensitive(was[0])) })
		})
	})
}

// isNewPath reports whether a rule is about one folder or file that the base does not have, so that nobody owns it yet. What
// the change moves there may only go to people who are known. What is sensitive is none, and neither is a pattern without
// a slash before its end, which fits in any folder.
func isNewPath(in *Input, rule []string, known map[string]bool) bool {
	name := strings.TrimRight(rule[0], "/*")
	if end := rule[0][len(name):]; strings.HasPrefix(end, "*") || !strings.Contains(name, "/") ||
		strings.ContainsAny(name, `*?[]!\`) || IsSensitive(rule[0]) {
		return false
	}
	name = strings.TrimPrefix(name, "/")
	isKnown := !slices.ContainsFunc(rule[1:], func(who string) bool { return !known[who] })
	return !in.mayHave(name) && (isKnown || !slices.ContainsFunc(in.Change.Files, func(f diff.File) bool {
		return f.Status == diff.Renamed && strings.HasPrefix(f.Path, name)
	}))
}

// mayHave reports whether the base has something at a path, also if that cannot be known.
func (in *Input) mayHave(name string) bool {
	if in.Trusted.Has == nil || path.Clean(name) != name {
		return true
	}
	has, err := in.Trusted.Has(name)
	return has || err != nil
}

// ownersRule returns a pattern of a list of code owners, and its owners. Between them are ASCII spaces, and a # within one
// begins no comment.
func ownersRule(line string) []string {
	rule := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
	if i := slices.IndexFunc(rule, func(s string) bool { return s[0] == '#' }); i >= 0 {
		rule = rule[:i]
	}
	return rule
}

// sensitive are paths at which mistakes are the most costly, and patterns that fit such paths.
var sensitive = text.Pattern(`(?i)auth|crypt|passw|secret|token|session|permission|payment|billing|migrat|schema|\.sql$` +
	`|dockerfile|workflows/|\.git|owners|^[/*.]*$`)

// IsSensitive reports whether mistakes at a path are more costly than elsewhere, by its name.
func IsSensitive(path string) bool { return sensitive().MatchString(path) }

func describeEdit(f *diff.File) string {
	switch f.Status {
	case diff.Added, diff.Copied:
		return "adds"
	case diff.Deleted:
		return "deletes"
	case diff.Renamed:
		return "renames"
	}
	return "edits"
}

// steeringText describes what a file configures, and what to check when it changes.
type steeringText struct {
	short, long, ask string
	severity         precedent.Severity
	confidence       int
}

// Confidence of an edit, in percent. What decides over reviews, approvals or programs on other people's machines is
// always shown, and so is text that speaks to assistants. In 2,400 ranges of the histories of timescaledb, keepassxc,
// click and spring-ai, all four findings were about ordinary edits of CONTRIBUTING.md, which nobody needs to be told.
const (
	steeringSure  = 90
	steeringGuide = 30
)

const (
	whoApproves   = "who must approve"
	agentPrograms = "programs of coding agents"
)

// agentFile matches the files, in lower case, in which coding agents find programs to start.
var agentFile = text.Pattern(`(^|/)(\.?mcp(_config|_settings)?\.json|\.lsp\.json|opencode\.jsonc?|\.codex/config\.toml` +
	`|\.(claude|gemini|qwen)/settings\.[^/]*|\.(cursor|kiro|codex)/hooks\b.*|\.claude-plugin/.*)$`)

const askInstructions = "Check that the team wants these instructions, and that none of them tells a reviewer or an " +
	"assistant to ignore problems."

func steeringKind(p string) steeringText {
	p = strings.ToLower(p)
	switch base := path.Base(p); {
	case base == "codeowners", base == "owners", base == "owners_aliases":
		return steeringText{
			whoApproves, "the list of code owners: it decides whose approval a change needs",
			"Check that no path loses an owner who should review it.",
			precedent.Medium, steeringSure,
		}
	case agentFile().MatchString(p):
		return steeringText{
			agentPrograms, "a configuration of coding agents: they start the listed programs on the machine of anyone who " +
				"opens the repository",
			"Check every command and address in it as carefully as code you run.",
			precedent.Medium, steeringSure,
		}
	case strings.HasPrefix(base, ".precedent.") || strings.HasPrefix(p, ".precedent/"):
		return steeringText{
			"the review policy",
			"the review policy: it sets the threshold, the ignored paths and the instructions for reviewers",
			"Check that it does not hide findings that the team wants to see.",
			precedent.Medium, steeringSure,
		}
	case base == "architecture.md", base == "contributing.md":
		return steeringText{
			"a guide for reviews", "a guide: reviews check changes against its rules",
			"Check that the team agrees with the changed rules.",
			precedent.Nit, steeringGuide,
		}
	case base == "claude.md", base == "agents.md", base == ".cursorrules", base == "copilot-instructions.md":
		return steeringText{
			"instructions for assistants", "a file of instructions for coding assistants and reviewers", askInstructions,
			precedent.Low, steeringSure,
		}
	}
	return steeringText{
		"instructions for reviews or assistants",
		"a file that tells assistants how to work on the code, or reviewers how to review it", askInstructions,
		precedent.Low, steeringSure,
	}
}
