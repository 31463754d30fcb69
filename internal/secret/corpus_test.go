package secret

import (
	_ "embed"
	"math/rand"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret/secrettest"
)

var (
	//go:embed testdata/kinds.txt
	corpusKinds string
	//go:embed testdata/contexts.txt
	corpusContexts string
	//go:embed testdata/forms.txt
	corpusForms string
	//go:embed testdata/passwords.txt
	corpusPasswords string
	//go:embed testdata/settings.txt
	corpusSettings string
)

// spellings are the ways in which a context writes the name of a kind, which has capitals and underscores.
func spellings(name, value string) *strings.Replacer {
	small := strings.ToLower(name)
	camel := strings.ReplaceAll(strings.Title(strings.ReplaceAll(small, "_", " ")), " ", "")
	return strings.NewReplacer("nameC", strings.ToLower(camel[:1])+camel[1:], "NameP", camel,
		"name_s", small, "name-k", strings.ReplaceAll(small, "_", "-"), "NAME", name, "VALUE", value, `\n`, "\n", `\t`, "\t")
}

// TestCorpus writes many kinds of credentials into many contexts: those with a name on the line,
// those whose name and value are separated, and those in which only the form of the value shows what
// it is, which is asked of known forms alone.
func TestCorpus(t *testing.T) {
	kinds, contexts := secrettest.Table(corpusKinds), secrettest.Table(corpusContexts)
	if len(kinds) < 100 || len(contexts) < 20 {
		t.Fatalf("%d kinds in %d contexts", len(kinds), len(contexts))
	}
	planted, lost := map[string]int{}, map[string]int{}
	every := needs.Rounds(1, 3)
	for i, kind := range kinds {
		for j, context := range contexts {
			class := context[0]
			if class == "positional" && kind[0] != "known" || (i+j)%every != 0 {
				continue
			}
			value, _ := secrettest.Plant(rand.New(rand.NewSource(int64(1000*i+j))), kind[2])
			text := spellings(kind[1], value).Replace(context[2])
			planted[class]++
			for _, path := range []string{context[1], ""} {
				clean, _ := Redact(path, text)
				// A window that is in the name, too, is none of the value.
				around := spellings(kind[1], "").Replace(context[2])
				rest := remains(clean, []string{value})
				if rest != "" && !strings.Contains(around+"[REDACTED:"+strings.ToLower(around), rest) {
					lost[class]++
					if testing.Verbose() {
						t.Logf("%s in %q: %q remains of %s", class, path, rest, clean)
					}
					break
				}
			}
		}
	}
	for class, least := range map[string]int{"named": 95, "separated": 95, "positional": 60} {
		n, missed := planted[class], lost[class]
		t.Logf("%s: %d of %d are redacted", class, n-missed, n)
		if (n-missed)*100 < least*n {
			t.Errorf("%s: %d of %d are redacted, want %d %%", class, n-missed, n, least)
		}
	}
}

// remains returns a part of a secret that is in a text: eight bytes, or all of a shorter one.
func remains(text string, secrets []string) string {
	for _, s := range secrets {
		n := min(8, len(s))
		for i := 0; i+n <= len(s); i++ {
			if strings.Contains(text, s[i:i+n]) {
				return s[i : i+n]
			}
		}
	}
	return ""
}

// TestLeaving keeps the promise of the threat model "redact with gitleaks-class rules before egress" (T29): credentials
// on their way to a provider or a forge are redacted, in the file that they are in, and where it is not known; also
// those that are credentials by the format of their file, by the option of a command or within an encoding.
func TestLeaving(t *testing.T) {
	samples, lost := secrettest.Table(corpusForms), 0
	for i, sample := range samples {
		bad := false
		for seed := range int64(needs.Rounds(5, 2)) {
			text, secrets := secrettest.Plant(rand.New(rand.NewSource(seed*1000+int64(i))), sample[1])
			for _, path := range []string{sample[0], ""} {
				clean, _ := Redact(path, text)
				if rest := remains(clean, secrets); rest != "" && !bad {
					bad = true
					t.Logf("in %q: %q remains of\n%s\n%s", path, rest, text, clean)
				}
			}
		}
		if bad {
			lost++
		}
	}
	if t.Logf("%d of %d samples are redacted", len(samples)-lost, len(samples)); len(samples) < 250 || lost*20 > len(samples) {
		t.Errorf("%d of %d samples are not redacted", lost, len(samples))
	}
}

// TestInventedPasswords: passwords as people invent them, in settings without quotes.
func TestInventedPasswords(t *testing.T) {
	planted, lost := 0, 0
	for _, setting := range secrettest.Table(corpusSettings) {
		for _, p := range secrettest.Table(corpusPasswords) {
			planted++
			if clean, _ := Redact(setting[0], strings.ReplaceAll(setting[1], "VALUE", p[0])); strings.Contains(clean, p[0]) {
				t.Logf("in %q: %s", setting[0], clean)
				lost++
			}
		}
	}
	if t.Logf("%d of %d passwords are redacted", planted-lost, planted); lost*20 > planted {
		t.Errorf("%d of %d passwords are not redacted", lost, planted)
	}
}

// TestFormsAreFound: each form of a token is looked for, and found or hidden wherever it is.
func TestFormsAreFound(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, form := range secrettest.Table(issuedForms) {
		found := 0
		for range 20 {
			token := sample(r, form[2])
			text := "x := f(" + token + ", 3)"
			var s Scanner
			reported, leaving, err := s.Both("a.go", []string{text})
			needs.NoError(t, err)
			if len(leaving) > 0 && (len(reported) > 0 || form[0] == "hide") {
				found++
			}
		}
		if found < 16 {
			t.Errorf("%s: %d of 20 tokens of the form %s are found", form[1], found, form[2])
		}
	}
}

// TestChecksum: the checksum of an issued token counts wherever it is.
func TestChecksum(t *testing.T) {
	for token, want := range map[string][2]bool{
		"ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17": {true, true}, // of GitHub's announcement of the format
		"ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18": {false, true},
		"glpat-" + "zQWBuTSOoRi4A9spHcVY":               {false, false},
	} {
		if right, has := checksum(token); right != want[0] || has != want[1] {
			t.Errorf("%s: %v, %v", token, right, has)
		}
		lines := []string{"token = " + token}
		for _, m := range scan(t, "spec/fixtures/a.yml", lines...) {
			if got := m.Class("spec/fixtures/a.yml", lines) == Credential; got != want[0] {
				t.Errorf("%s in a fixture: a credential is %v", token, got)
			}
		}
	}
}
