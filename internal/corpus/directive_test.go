package corpus

import "testing"

// TestDirective: what says how the project does things counts, and nothing that needs the code or the conversation around it.
func TestDirective(t *testing.T) {
	for words, want := range map[string]string{
		"Nit: we generally don't have `ARG_CHECK`s in `static` functions.":               "we generally don't have `ARG_CHECK`s in `static` functions.",
		"Good catch.\n\nPlease avoid `strcpy` for anything that comes from the network.": "Please avoid `strcpy` for anything that comes from the network.",
		"Looks fine. Should probably use the same copyright header as every other file.": "Should probably use the same copyright header as every other file.",
		"We do not use disambiguation strings anymore.":                                  "We do not use disambiguation strings anymore.",
		"Never return a nil error together with a nil value.":                            "Never return a nil error together with a nil value.",
		"in nit: same feedback regarding singular vs plural:":                            "",
		"Do we usually use tabs in this project?":                                        "",
		"This PR should keep them in sync with the rest of the code.":                    "",
		"Your change breaks the conventions that are described above.":                   "",
		"`argv` will never be NULL, as it is the result of applying `argv++`.":           "",
		"Use `x` instead":   "",
		"Avoid it please":   "",
		"I would change it": "",
		"```c\n// We always use tabs in this project, everywhere.\n```": "",
	} {
		if got := Directive(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
