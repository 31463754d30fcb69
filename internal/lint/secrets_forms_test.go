package lint

import (
	_ "embed"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/secret/secrettest"
)

var (
	//go:embed testdata/forms.txt
	forms string
	//go:embed testdata/lookalikes.txt
	lookAlikes string
)

// shownFrom is review.DefaultThreshold, which stands higher than this package.
const shownFrom = 75

// shownIn are the findings in a text of random values that are shown at the default threshold.
func shownIn(t *testing.T, seed int64, path, text string) (shown []precedent.Finding, planted string) {
	t.Helper()
	planted, _ = secrettest.Plant(rand.New(rand.NewSource(seed)), text)
	res := run(t, "secrets", &Input{Change: change(path, prefix("+", strings.Split(planted, "\n"))...)})
	return slices.DeleteFunc(res.Findings, func(f precedent.Finding) bool { return f.Confidence < shownFrom }), planted
}

// TestSecretForms plants a credential in every form, many times: each is found and
// shown at the default threshold. Chance makes one in some hundred values look less
// random than the rules demand, such as an access key with few different letters.
func TestSecretForms(t *testing.T) {
	rounds := needs.Rounds(20, 5)
	rows, missed := secrettest.Table(forms), 0
	for _, form := range rows {
		lost, last := 0, ""
		for seed := range rounds {
			shown, text := shownIn(t, int64(seed), form[1], form[2])
			if len(shown) == 0 {
				lost, last = lost+1, text
				continue
			}
			for _, path := range []string{form[1], ""} {
				if clean, _ := secret.Redact(path, text); strings.Contains(clean, shown[0].Secrets[0]) {
					t.Errorf("%s: what is shown stays in\n%s", form[0], clean)
				}
			}
		}
		if missed += lost; lost > 1 {
			t.Errorf("%s: %d of %d not shown, such as\n%s", form[0], lost, rounds, last)
		}
	}
	planted := len(rows) * rounds
	t.Logf("%d forms, %d of %d shown", len(rows), planted-missed, planted)
	if len(rows) < 60 || missed*200 > planted {
		t.Errorf("%d of %d not shown", missed, planted)
	}
}

func TestSecretLookAlikes(t *testing.T) {
	rows := append(secrettest.Table(lookAlikes), []string{
		"storage emulator", "app/a.cs", "AccountKey=Eby8vdM02xNOcqFl" +
			"qUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;",
	})
	if len(rows) < 60 {
		t.Errorf("only %d look-alikes", len(rows))
	}
	for _, like := range rows {
		for seed := range int64(needs.Rounds(10, 3)) {
			shown, text := shownIn(t, seed, like[1], like[2])
			for _, f := range shown {
				t.Errorf("%s: %s is shown for\n%s", like[0], f.Rule, text)
			}
		}
	}
}

// TestTestKeysAreOneFinding: many keys in a file of fixtures are one low finding, which
// knows all of them, so that each is redacted.
func TestTestKeysAreOneFinding(t *testing.T) {
	var lines []string
	keys := map[string]bool{}
	for i := range int64(30) {
		key := "ghp_" + random(i, 36, base64Letters[:61])
		keys[key] = true
		lines = append(lines, "+"+key, "+")
	}
	res := run(t, "secrets", &Input{Change: change("pkg/testdata/keys.txt", lines...)})
	same(t, res, "pkg/testdata/keys.txt:1 github-pat low")
	for _, s := range res.Findings[0].Secrets {
		delete(keys, s)
	}
	if f := res.Findings[0]; len(keys) > 0 || f.Confidence >= shownFrom ||
		!strings.HasPrefix(f.Body, "This file has 30 values") {
		t.Errorf("%d keys unknown, confidence %d, body %q", len(keys), f.Confidence, f.Body)
	}
}
