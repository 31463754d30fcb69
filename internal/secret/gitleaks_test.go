package secret

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/report"
)

// gitleaks is the detector whose rules are applied here.
func gitleaks(t testing.TB) *detect.Detector {
	t.Helper()
	d := needs.Value(detect.NewDetectorDefaultConfig())(t)
	d.IgnoreGitleaksAllow = true
	return d
}

// TestConfigurationIsUnderstood keeps the reading here equal to gitleaks' own,
// so that an upgrade which adds a kind of rule cannot pass unseen.
func TestConfigurationIsUnderstood(t *testing.T) {
	needs.Equal(t, config.DefaultConfig, defaultRules)
	set := rules(t)
	want := gitleaks(t).Config
	theirs := slices.DeleteFunc(slices.Clone(set.rules), func(r rule) bool { return r.own || r.issued || r.leaves != nil })
	if len(theirs) != len(want.Rules) || len(theirs) < 200 {
		t.Fatalf("%d rules, gitleaks reads %d", len(theirs), len(want.Rules))
	}
	anchored := 0
	for _, r := range theirs {
		w, ok := want.Rules[r.id]
		if !ok {
			t.Errorf("gitleaks has no rule %q", r.id)
			continue
		}
		if w.SkipReport || len(w.RequiredRules) > 0 {
			t.Errorf("%s: depends on other rules, which is not supported", r.id)
		}
		if (w.Regex == nil) != (r.pattern == nil) || (w.Path == nil) != (r.path == nil) ||
			w.SecretGroup != r.group || w.Entropy != r.entropy {
			t.Errorf("%s: read differently", r.id)
		}
		if w.Regex != nil {
			p := r.pattern()
			want := strings.ReplaceAll(strings.ReplaceAll(w.Regex.String(), leadIn, ""), tokenEnd, anyEnd)
			if p.anchored {
				anchored++
				want = "^(?:" + want + ")"
			}
			if p.String() != want {
				t.Errorf("%s: other expression", r.id)
			}
		}
		if w.Regex != nil && len(r.keywords) == 0 {
			t.Errorf("%s: has no keyword, so it would never be tried", r.id)
		}
		sameAllow(t, r.id, w.Allowlists, r.allow())
	}
	sameAllow(t, "all rules", want.Allowlists, set.allow())
	if anchored < 130 {
		t.Errorf("only %d of %d rules are matched at their keywords", anchored, len(theirs))
	}
}

func sameAllow(t *testing.T, id string, want []*config.Allowlist, got []allowlist) {
	t.Helper()
	var wanted, have []string
	for _, l := range want {
		words := slices.Sorted(slices.Values(l.StopWords))
		wanted = append(wanted, fmt.Sprint(l.MatchCondition == config.AllowlistMatchAnd, l.Paths, l.RegexTarget, l.Regexes, words, len(l.Commits)))
	}
	for _, l := range got {
		words := slices.Compact(slices.Sorted(slices.Values(l.StopWords)))
		have = append(have, fmt.Sprint(l.needsAll(), l.Paths, l.RegexTarget, l.Regexes, words, 0))
	}
	needs.Equal(t, wanted, have)
}

// TestAgreesWithGitleaks plants samples of every rule in ordinary text and
// compares with what gitleaks finds in the same lines.
func TestAgreesWithGitleaks(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewSource(seed))
	d := gitleaks(t)
	agreed, planted := 0, 0
	for _, id := range d.Config.OrderedRules {
		rule := d.Config.Rules[id]
		if rule.Regex == nil {
			continue
		}
		for range needs.Rounds(12, 4) {
			secret := sample(r, rule.Regex.String())
			path := pathFor(id)
			lines := strings.Split("package x\n\n// A comment.\n"+secret+"\nfunc f() { return }\n", "\n")
			want := needs.Each(d.Detect(detect.Fragment{Raw: strings.Join(lines, "\n"), FilePath: path}),
				func(f report.Finding) string { return strings.Trim(f.Secret, "\n") })
			got := scan(t, path, lines...)
			planted++
			if missing := lacking(want, got); len(missing) > 0 {
				t.Errorf("%s: gitleaks finds %q in %q; found here: %+v", id, missing, secret, got)
			} else if got = slices.DeleteFunc(got, func(m Match) bool { return isOwn(m.Rule) || strings.Contains(issuedForms, "\t"+m.Rule+"\t") }); len(got) > 0 && len(want) == 0 {
				t.Errorf("%s: gitleaks finds nothing in %q; found here: %+v", id, secret, got)
			} else if len(want) > 0 {
				agreed++
			}
		}
	}
	t.Logf("%d samples, %d of them secrets for gitleaks, all found", planted, agreed)
	if agreed < planted/2 {
		t.Errorf("only %d of %d samples are secrets for gitleaks: the test shows little", agreed, planted)
	}
}

// pathFor is a file that the rule is about.
func pathFor(rule string) string {
	for prefix, path := range map[string]string{
		"kubernetes": "deploy/secret.yaml", "nuget": "nuget.config", "freemius": "a.php", "hashicorp-tf-pass": "main.tf",
	} {
		if strings.HasPrefix(rule, prefix) {
			return path
		}
	}
	return "main.go"
}

// lacking returns the secrets that no match overlaps by value.
func lacking(want []string, got []Match) (missing []string) {
	for _, w := range want {
		if !slices.ContainsFunc(got, func(m Match) bool {
			return strings.Contains(m.Secret, w) || strings.Contains(w, m.Secret)
		}) {
			missing = append(missing, w)
		}
	}
	return missing
}
