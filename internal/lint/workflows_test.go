package lint

import (
	"strings"
	"testing"
)

func TestWorkflows(t *testing.T) {
	const file = ".github/workflows/issues.yml"
	step := func(lines ...string) []string {
		return append([]string{" jobs:", "   greet:", "     steps:"}, lines...)
	}
	for _, test := range []struct {
		name, path string
		lines      []string
		want       string
	}{
		{"on one line", file, step(`+      - run: faq "${{ github.event.issue.title }}" > out.md`), file + ":4 script-injection high"},
		{"in a block", file, step(" ", "+      - name: x", "+        run: |", "+          set -e", "+          if true; then", "+",
			`+            b="${{ github.event.comment.body }}"`, "+          fi"), file + ":10 script-injection high"},
		{
			"folded, with a comment", file, step("       - run: >- # long", `+          echo ${{github.head_ref || github.ref}}`),
			file + ":5 script-injection medium",
		},
		{"of a program", ".gitea/workflows/a.yaml", step("       - with:", "           script: |",
			"+            log('${{ github.event.pull_request.title }}')"), ".gitea/workflows/a.yaml:6 script-injection medium"},
		{"an input whose step is not shown", file, []string{
			"           retries: 3", "           script: |",
			"+            log('${{ github.event.issue.title }}')",
		}, file + ":3 script-injection high"},
		{"with keys in quotes", file, step(`+      - 'run': 'echo "${{ github.head_ref }}"'`), file + ":4 script-injection medium"},
		{"of Gitea", ".gitea/workflows/a.yaml", step("+      - run: echo ${{ gitea.head_ref }}"), ".gitea/workflows/a.yaml:4 script-injection medium"},
		{"all of it", file, step("+      - run: echo '${{ toJson(github.event.issue) }}'"), file + ":4 script-injection high"},
		{"by an index", file, step("+      - run: echo ${{ github.event.issue['title'] }}"), file + ":4 script-injection high"},
		{"within another", file, step("+      - run: echo ${{ format('{0}', github.event.issue.title) || 'x' }}"), file + ":4 script-injection high"},
		{
			"of an action", "tools/greet/action.yml", step("+      - run: echo ${{ github.event.review.body }}"),
			"tools/greet/action.yml:4 script-injection medium",
		},
		{
			"a variable with such text", file, step("         env:", "           T: ${{ github.event.comment.body }}", "+      - run: echo ${{ env.T || 'x' }}"),
			file + ":6 script-injection high",
		},
		{"a variable of a later line", file, step("+      - run: echo ${{env.T}}", "         env:", "           T: ${{ github.head_ref }}"), file + ":4 script-injection medium"},

		{"a variable that is not always such text", file, step(
			"         env:", "           T: ${{ github.head_ref }}", "         env:", "           T: x", "+      - run: echo ${{ env.T }}"), ""},
		{"a comparison of a variable", file, step("         env:", "           T: ${{ github.head_ref }}", "+      - run: echo ${{ env.T == 'x' }}"), ""},
		{"a variable of a script", file, step("       - run: |", "           env:", "             T: ${{ github.head_ref }}", "+      - run: echo ${{ env.T }}"), ""},
		{"a comment", file, step("+      - run: make # ${{ github.event.issue.title }}"), ""},
		{"an input of another name", file, step("+      - env:", "+          script: ${{ github.event.issue.title }}"), ""},
		{"a form", ".github/ISSUE_TEMPLATE/bug.yml", step("+      - run: ${{ github.event.issue.title }}"), ""},
		{"a variable", file, step("+      - env:", "+          TITLE: ${{ github.event.issue.title }}", "+        run: |", `+          echo "$TITLE"`), ""},
		{"after a script", file, step("       - run: |", "           make", "         env:", "+          T: ${{ github.event.issue.title }}"), ""},
		{"a group", file, []string{"+concurrency:", "+  group: ${{ github.head_ref || github.run_id }}"}, ""},
		{"a comparison", file, step("+      - run: echo ${{ contains(github.head_ref, 'release') }}"), ""},
		{"a number", file, step("+      - run: echo ${{ github.event.issue.number }}"), ""},
		{"of the step before", file, step("+      - run: echo ${{ steps.a.outputs.title }}"), ""},
		{"unchanged", file, step("       - run: echo ${{ github.event.issue.title }}", "+        shell: sh"), ""},
		{"another key after a script of the same item", file, step("+      - run: |", "+          make", "+        name: ${{ github.head_ref }}"), ""},
		{"another file", "ci/issues.yml", step("+      - run: echo ${{ github.event.issue.title }}"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, "workflows", &Input{Change: change(test.path, test.lines...)})
			found(t, r, test.want)
			if test.want != "" && !strings.Contains(r.Findings[0].Title, ".") {
				t.Error(r.Findings[0].Title)
			}
		})
	}
}

// TestWorkflowFarAbove: the whole file is read, since a script can begin far above the changed line.
func TestWorkflowFarAbove(t *testing.T) {
	head := "jobs:\n  a:\n    steps:\n      - run: |\n" + strings.Repeat("          make\n", 9) + "          echo ${{ github.head_ref }}\n"
	in := &Input{
		Change: change("action.yml", "@@13", "           make", "+          echo ${{ github.head_ref }}"),
		Read:   func(string) ([]byte, error) { return []byte(head), nil },
	}
	found(t, run(t, "workflows", in), "action.yml:14 script-injection medium")
}

func FuzzWorkflows(f *testing.F) {
	f.Add("      - run: |", "          echo ${{ github.head_ref }}", "")
	f.Add("- script:", " ${{github.event.pages[0].page_name}}", "x: |")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		run(t, "workflows", &Input{Change: change(".github/workflows/a.yml", "+"+a, " "+c, "+"+b, " "+c, "+"+b)})
	})
}
