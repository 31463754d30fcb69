package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/sarif"
	"github.com/precedent-dev/precedent/internal/text"
)

// sourceRoot names the root of the repository, to which all paths are relative. Its location
// on a disk is not revealed.
const sourceRoot = "SRCROOT"

// SARIF writes the review as a SARIF 2.1.0 log with one run. The findings that are shown are results: GitHub opens
// an alert for one that is suppressed, too. For an incomplete review the log says
// that the execution was not successful, and why.
func SARIF(w io.Writer, r *precedent.Review, s Style) error {
	run := sarif.Run{
		Tool: sarif.Tool{Driver: sarif.Driver{
			Name: "precedent", InformationURI: homepage, Version: s.Version,
			Notifications: notificationKinds(),
		}},
		AutomationDetails: sarif.Automation{ID: "precedent/" + r.ID},
		Invocations:       []sarif.Invocation{invocation(r)},
		OriginalURIBaseIDs: map[string]sarif.Artifact{
			sourceRoot: {Description: sarif.Message{Text: "The root of the reviewed repository."}},
		},
		VersionControl: provenance(r),
		Results:        []sarif.Result{},
		ColumnKind:     "unicodeCodePoints",
		Properties: map[string]any{
			"verdict": r.Verdict, "scope": r.Scope, "threshold": r.Threshold, "base": r.Base, "head": r.Head,
			"files": r.Coverage.Files, "hunks": r.Coverage.Hunks, "hunksRead": r.Coverage.HunksRead,
		},
	}
	rules := map[string]int{}
	for _, f := range r.Live() {
		id := cmp.Or(ruleOf(f), "precedent/finding")
		n, ok := rules[id]
		if !ok {
			n = len(run.Tool.Driver.Rules)
			rules[id] = n
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(id, f))
		}
		run.Results = append(run.Results, sarifResultOf(f, id, n, s))
	}
	return writeJSON(w, sarif.Log{Schema: sarif.Schema, Version: sarif.Version, Runs: []sarif.Run{run}})
}

// sarifRuleOf describes the rule of a finding.
func sarifRuleOf(id string, f precedent.Finding) sarif.Rule {
	finder, category := visible(f.Finder), visible(string(f.Category))
	about := fmt.Sprintf("Findings of the finder %s about %s.", finder, category)
	if f.Rule != "" {
		about = fmt.Sprintf("The rule %s of the finder %s, about %s.", visible(text.Head(f.Rule, maxTitle)), finder, category)
	}
	help := about + " The confidence of a result is the chance in percent that the team accepts it. " +
		"To see why a result is shown: precedent explain ID. To dismiss it: precedent dismiss ID. The ID is among its " +
		"properties."
	d := sarif.Rule{
		ID: id, Short: sarifMessage(about), Full: sarifMessage(about), Help: sarifMessage(help),
		HelpURI: homepage,
	}
	if category != "" {
		d.Properties = sarif.Tags{Tags: []string{category}}
	}
	return d
}

func sarifResultOf(f precedent.Finding, id string, rule int, s Style) sarif.Result {
	res := sarif.Result{
		RuleID: id, RuleIndex: &rule, Level: string(levelOf(f.Severity)), Rank: float64(max(0, min(f.Confidence, 100))),
		Message:   sarifMessage(strings.TrimSpace(message(f) + s.saidBefore(f))),
		Locations: sarifPlace(f),
		Properties: map[string]any{
			"id": f.ID, "finder": f.Finder, "category": f.Category, "severity": f.Severity, "confidence": f.Confidence,
			"votes": f.Votes, "verifier": f.Verifier, "placement": f.Placement,
		},
	}
	if f.Origin != "" {
		res.Properties["origin"] = f.Origin
	}
	if f.Thread != "" {
		res.Properties["thread_id"] = f.Thread
	}
	if res.Message.Text == "" {
		res.Message = sarifMessage("A finding without text.")
	}
	if f.Fingerprint != "" {
		// GitHub recognizes a result by the second one only, in this form.
		res.PartialFingerprints = map[string]string{
			"precedent/v1": f.Fingerprint, "primaryLocationLineHash": f.Fingerprint + ":1",
		}
	}
	if f.Suggestion != "" && f.Side != precedent.Left && f.Start > 0 && f.Path != "" {
		res.Fixes = []sarif.Fix{{
			Description: sarif.Message{Text: "Replace the lines. This is untested."},
			Changes: []sarif.Change{{
				Artifact: artifact(f.Path),
				Replacements: []sarif.Replacement{{
					Deleted:  sarif.Region{StartLine: f.Start, EndLine: max(f.Start, f.End)},
					Inserted: sarif.Message{Text: strings.TrimRight(f.Suggestion, "\n")},
				}},
			}},
		}}
	}
	return res
}

// sarifPlace is the location of a finding. A line of the old side is not a line of the
// artifact: the location is then the file, with the line in its message.
func sarifPlace(f precedent.Finding) []sarif.Location {
	if f.Path == "" {
		return nil
	}
	at := sarif.Location{Physical: sarif.Physical{Artifact: artifact(f.Path)}}
	switch {
	case f.Side == precedent.Left && f.Start > 0:
		at.Message = sarifMessage(visible(f.String()) + ", before the change")
		at.Properties = map[string]any{"side": f.Side, "startLine": f.Start, "endLine": max(f.Start, f.End)}
	case f.Start > 0:
		at.Physical.Region = sarif.Region{StartLine: f.Start, EndLine: max(f.Start, f.End)}
	}
	return []sarif.Location{at}
}

func artifact(path string) sarif.Artifact {
	return sarif.Artifact{URI: percent(path), URIBaseID: sourceRoot}
}

// percent writes a path as a relative URI reference (RFC 3986). It encodes all bytes but
// unreserved characters and slashes, so that no path is read as a scheme, a host, a query or a
// parent directory.
func percent(path string) string {
	s := strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
	if strings.HasPrefix(s, "/") {
		return "%2F" + s[1:]
	}
	return s
}

// sarifMessage returns a message for text from outside. Braces are placeholders unless doubled
// (§3.11.5), and a bracket followed by a parenthesis is a link (§3.11.6).
func sarifMessage(s string) sarif.Message {
	return sarif.Message{Text: strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(s)}
}

// invocation says whether everything was read, and what failed.
func invocation(r *precedent.Review) sarif.Invocation {
	in := sarif.Invocation{ExecutionSuccessful: complete(r), Notifications: []sarif.Notification{}}
	if !r.At.IsZero() {
		in.Start = r.At.UTC().Format(time.RFC3339)
		in.End = r.At.Add(time.Duration(r.TookMS) * time.Millisecond).UTC().Format(time.RFC3339)
	}
	notify := func(kind, message, path string) {
		known := slices.IndexFunc(notifications, func(k [3]string) bool { return k[0] == kind })
		n := sarif.Notification{
			Level: notifications[known][1], Message: sarifMessage(visible(text.Head(message, maxBody))),
		}
		n.Descriptor.ID, n.Descriptor.Index = kind, known
		if path != "" {
			n.Locations = []sarif.Location{{Physical: sarif.Physical{Artifact: artifact(path)}}}
		}
		in.Notifications = append(in.Notifications, n)
	}
	if !complete(r) {
		notify("incomplete", incomplete(r), "")
	}
	if message := analyzersOnly(r); message != "" {
		notify("analyzers-only", message, "")
	}
	for _, f := range r.Finders {
		if f.Status.Bad() {
			notify("finder", fmt.Sprintf("The finder %s %s%s", f.Name, Ended(f.Status, f.Found), because(f.Error)), "")
		}
	}
	for _, t := range r.Coverage.Truncated {
		notify("truncated", fmt.Sprintf("Hunk %d was not read%s", t.Hunk, because(t.Reason)), t.Path)
	}
	for _, f := range r.Failures {
		notify("failure", fmt.Sprintf("The review continued without %s%s", f.Step, because(f.Error)), "")
	}
	for _, f := range r.Coverage.Skipped {
		notify("skipped", "The file was skipped"+because(f.Reason), f.Path)
	}
	return in
}

// notifications are the kinds of notification: id, level, what it means.
var notifications = [][3]string{
	{"incomplete", "error", "The review is incomplete: code that it does not mention may not have been read."},
	{"analyzers-only", "warning", "No model read the change: only the analyzers did."},
	{"finder", "error", "A finder failed."},
	{"truncated", "error", "A part of the change was not read."},
	{"failure", "warning", "A step failed and the review continued without it."},
	{"skipped", "note", "A changed file was skipped."},
}

func notificationKinds() []sarif.Rule {
	var all []sarif.Rule
	for _, n := range notifications {
		all = append(all, sarif.Rule{ID: n[0], Short: sarif.Message{Text: n[2]}, Full: sarif.Message{Text: n[2]}})
	}
	return all
}

// provenance names the repository and the reviewed commit, if the repository has a remote.
func provenance(r *precedent.Review) []sarif.Provenance {
	if r.Repo.IsZero() || r.Repo.IsLocal() {
		return nil
	}
	address := url.URL{Scheme: "https", Host: r.Repo.Host, Path: "/" + r.Repo.Owner + "/" + r.Repo.Name}
	return []sarif.Provenance{{
		RepositoryURI: address.String(), RevisionID: r.Head, MappedTo: sarif.Artifact{URIBaseID: sourceRoot},
	}}
}
