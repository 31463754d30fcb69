package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

// counts says how many findings were shown, how many of those were confirmed or posted before,
// and how many were dropped for each reason.
func counts(r *precedent.Review) string {
	parts := []string{Plural(len(r.Live()), "finding")}
	if r.Verdict == precedent.NoFindings && len(r.Live()) == 0 {
		parts = nil // the verdict says it
	}
	confirmed, before := 0, 0
	for _, f := range r.Live() {
		if f.Thread != "" {
			before++
		}
		if f.Verifier == precedent.Confirmed {
			confirmed++
		}
	}
	if confirmed > 0 {
		parts[0] += fmt.Sprintf(", %s confirmed", thousands(confirmed))
	}
	if before > 0 {
		parts[0] += fmt.Sprintf(", %s posted before", thousands(before))
	}
	for _, left := range []string{onlyChecks(r), notChecked(r)} {
		if left != "" {
			parts = append(parts, left)
		}
	}
	add := func(n int, format string, args ...any) {
		if n > 0 {
			parts = append(parts, thousands(n)+" "+fmt.Sprintf(format, args...))
		}
	}
	add(len(r.OpenThreads()), "still open from earlier reviews")
	add(r.Count(precedent.Minor), "minor")
	add(r.Count(precedent.BelowThreshold), "below %d", r.Threshold)
	if n := r.Count(precedent.Duplicate); n > 0 {
		parts = append(parts, Plural(n, "duplicate"))
	}
	add(r.Count(precedent.Refuted), "refuted")
	add(r.Count(precedent.NoEvidence), "without evidence")
	add(r.Count(precedent.UnchangedCode), "on unchanged code")
	add(r.Count(precedent.IgnoredPath), "in ignored files")
	add(r.Count(precedent.TurnedOff), "turned off by comments in the code")
	add(r.Count(precedent.Dismissed), "dismissed")
	add(r.Count(precedent.Rejected)+r.Count(precedent.ByLearning), "suppressed by memory")
	return strings.Join(parts, " · ")
}

// unchecked lists what analyzers could not load, each reason once; empty for nothing.
func unchecked(all []precedent.NotChecked) string {
	var whys []string
	names := map[string][]string{}
	for _, u := range all {
		if names[u.Reason] == nil {
			whys = append(whys, u.Reason)
		}
		names[u.Reason] = append(names[u.Reason], fmt.Sprintf("%s %s", u.Kind, u.Path))
	}
	return joinSome(whys, maxTruncated, func(why string) string {
		return joinSome(names[why], maxTruncated, func(name string) string { return name }) + " (" + why + ")"
	})
}

// onlyChecks says that no model read a change in which nothing was found; empty for any other review.
func onlyChecks(r *precedent.Review) string {
	if r.Verdict != precedent.NoFindings || r.Scope != precedent.AnalyzersScope || len(r.Coverage.NotChecked) > 0 {
		return ""
	}
	checks := 0
	for _, f := range r.Finders {
		if f.Engine == precedent.AnalyzerEngine && f.Status.Good() {
			checks++
		}
	}
	return fmt.Sprintf("%s, no model read it", Plural(checks, "check"))
}

// notChecked counts what analyzers could not load, with the reasons; empty if there is
// nothing.
func notChecked(r *precedent.Review) string {
	var whys []string
	packages, files := 0, 0
	for _, u := range r.Coverage.NotChecked {
		if !slices.Contains(whys, u.Reason) {
			whys = append(whys, u.Reason)
		}
		if u.Kind == precedent.PackageKind {
			packages++
		} else {
			files++
		}
	}
	var what []string
	if packages > 0 {
		what = append(what, Plural(packages, "package"))
	}
	if files > 0 {
		what = append(what, Plural(files, "file"))
	}
	if len(what) == 0 {
		return ""
	}
	return strings.Join(what, " and ") + " not checked: " + strings.Join(whys, "; ")
}

// after puts a separator before what follows in a sentence, if anything does.
func after(separator, s string) string {
	if s == "" {
		return ""
	}
	return separator + s
}

// sinceLast says which findings are fixed, still there or new; empty without a last review.
func sinceLast(r *precedent.Review) string {
	if r.Since == nil {
		return ""
	}
	s := fmt.Sprintf("Since the last review: %s fixed, %s still there, %s new", thousands(len(r.Since.Fixed)),
		thousands(len(r.Since.Still)), thousands(len(r.Since.New)))
	if n := len(r.Since.Unknown); n > 0 {
		s += fmt.Sprintf(", %s undetermined", thousands(n))
	}
	return s
}

// coverage says what was read, and what it cost.
func coverage(r *precedent.Review) string {
	c := r.Coverage
	parts := []string{fmt.Sprintf("read %s of %s", thousands(c.HunksRead), Plural(c.Hunks, "hunk"))}
	if c.HunksBefore > 0 {
		parts = append(parts, thousands(c.HunksBefore)+" unchanged since an earlier review")
	}
	if n := len(c.Skipped); n > 0 {
		parts = append(parts, Plural(n, "file")+" skipped")
	}
	return strings.Join(append(parts, cost(r)), " · ")
}

// cost says what a review cost, and how long it took.
func cost(r *precedent.Review) string {
	took := time.Duration(r.TookMS) * time.Millisecond
	if took >= 10*time.Second {
		took = took.Round(time.Second)
	}
	return strings.Join(append(Spent(r.Usage, r.CostUSD), took.String()), " · ")
}

// Spent says what models cost: dollars, and tokens with the share from the provider's cache, each if there are any.
func Spent(u precedent.Usage, usd float64) (parts []string) {
	if usd > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", usd))
	}
	if total := u.Tokens(); total > 0 {
		used := Tokens(total)
		if u.CachedTokens > 0 && u.InputTokens > 0 {
			used += fmt.Sprintf(", %d %% cached", 100*u.CachedTokens/u.InputTokens)
		}
		parts = append(parts, used)
	}
	return parts
}

// Tokens is a number of tokens in thousands, from 1,000 upwards.
func Tokens(n int) string {
	if n < 1000 {
		return Plural(n, "token")
	}
	return fmt.Sprintf("%sk tokens", thousands((n+500)/1000))
}

// rules names the guide's rules that the finders were given.
func rules(r *precedent.Review) string {
	var sources []string
	for _, rule := range r.RulesChecked {
		if !slices.Contains(sources, rule.Source) {
			sources = append(sources, rule.Source)
		}
	}
	if len(sources) == 0 {
		return ""
	}
	return fmt.Sprintf("checked %s of %s", Plural(len(r.RulesChecked), "rule"), strings.Join(sources, ", "))
}
