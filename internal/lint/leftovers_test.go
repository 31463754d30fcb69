package lint

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/diff"
)

func TestLeftLines(t *testing.T) {
	const focused, breakpoint = " focused-test medium", " breakpoint medium"
	for _, test := range []struct{ path, line, want string }{
		{"test/pool.spec.ts", "  describe.only('swaps', () => {", focused},
		{"src/addDays/test.js", "test.failing.only('throws', async t => {", focused},
		{"e2e/login.ts", "test.describe.only(`login`, () => {", focused},
		{"spec/tooltip_spec.js", "\tfit('moves', function() {", focused},
		{"spec/user_spec.rb", "  fdescribe 'a user' do", focused},
		{"spec/user_spec.rb", "  it 'signs in', focus: true do", focused},
		{"user_test.go", "var _ = FDescribe(\"user\", func() {", focused},
		{"test/user_test.dart", "  }, solo: true);", focused},
		{"tests/UserTest.php", "})->only();", focused},
		{"src/app.vue", "    debugger;", breakpoint},
		{"app/user.rb", "    binding.pry", breakpoint},
		{"shop/views.py", "        import pdb; pdb.set_trace()", breakpoint},
		{"shop/views.py", "    breakpoint()", breakpoint},
		{"app/UserController.php", "    dd('post-create');", breakpoint},
		{"app/UserController.php", "    print_r($user); exit(1);", breakpoint},
		{"app/user.html.twig", "  <p>{{ dump(user) }}</p>", breakpoint},
		{"lib/user.ex", "    |> dbg()", breakpoint},
		{"src/lib.rs", "        dbg!(&found);", breakpoint},
		{"src/lib.rs", "        wait(dbg!(2 * n))", breakpoint},
		{"app/user.rb", "    require 'pry'; binding.pry", breakpoint},
		{"e2e/login.ts", "    await page.pause();", breakpoint},
		{"src/show.ts", "    await page.pause();", ""},
		{"AppTests/UserSpec.swift", "fdescribe(\"user\") {", focused},
		{"shop/user.go", "\truntime.Breakpoint()", breakpoint},
		{"lib/User.pm", "  $DB::single = 1;", breakpoint},

		{"src/only.ts", "  describe.only('swaps', () => {", ""},
		{"test/pool.spec.ts", "  // describe.only('swaps', () => {", ""},
		{"test/pool.spec.ts", "  expect(it.only).toBeDefined()", ""},
		{"test/numbers.spec.js", "  fit(curve, points)", ""},
		{"test/fixtures/only.spec.js", "it.only('x', () => {})", ""},
		{"user_test.go", "\tFIt(x)", ""},
		{"test/views_test.py", "    breakpoint()", ""},
		{"docs/debugging.py", "    breakpoint()", ""},
		{"shop/views.py", "    self.breakpoint()", ""},
		{"shop/views.py", "import pdb  # used below", ""},
		{"src/parser.js", "  case 'debugger':", ""},
		{"src/parser.js", "debugger;" + strings.Repeat(" ", 300), ""},
		{"app/Dumper.php", "    function dump($x) {", ""},
	} {
		want := test.want
		if want != "" {
			want = test.path + ":2" + want
		}
		found(t, run(t, "leftovers", &Input{Change: change(test.path, " before", "+"+test.line)}), want)
		found(t, run(t, "leftovers", &Input{Change: change(test.path, " "+test.line, "-"+test.line, "+after")}), "")
	}
}

// TestLeftLinesInTexts: what is in a comment or a string of several lines does not run.
func TestLeftLinesInTexts(t *testing.T) {
	for _, test := range []struct{ path, head, want string }{
		{"a.spec.ts", "const code = `\n  it.only('x', f)\n`\nit.only('y', f)", ":4 focused-test medium"},
		{"a.spec.ts", "/*\nit.only('x', f)\n*/", ""},
		{"a_spec.rb", "check(<<~RUBY)\n  fit 'x' do\nRUBY\nit 'a, focus: true' do", ""},
		{"a.ex", "@doc \"\"\"\n    |> dbg()\n\"\"\"", ""},
		{"a.spec.ts", "a(/`/, /\\/*$/)\nit.only('x', f)", ":2 focused-test medium"},
		{"app/UserController.php", "    xdebug_break();", ":1 breakpoint medium"},
		{"Share.cs", "    System.Diagnostics.Debugger.Launch();", ":1 breakpoint medium"},
		{"lib/user.dart", "    debugger();", ":1 breakpoint medium"},
		{"src/toast.ts", "  private inspect(): void { debugger }", ":1 breakpoint medium"},
		{"src/toast.ts", "  if (n > 3) debugger;", ":1 breakpoint medium"},
		{"src/app.vue", "<b @click=\"() => { debugger; save() }\">", ":1 breakpoint medium"},
		{"app/user.rb", "    binding.pry if email.blank?", ":1 breakpoint medium"},
		{"src/parser.js", "  f('{ debugger; }')\n// { debugger; }\n/*\n { debugger; } */", ""},
		{"src/parser.js", "  const o = { debugger: true, a: x.debugger };", ""},
		{"src/parser.js", "  if (options.breakOnError) { debugger; }", ""},
		{"src/app.vue", "<!-- <b @click=\"() => { debugger; }\"> -->", ""},
		{"src/app.vue", "<b title=\"a debugger; more\">", ""},
		{"app/user.rb", "    binding.irb if ENV['DEBUG']", ""},
		{"Share.cs", "    if (Debugger.IsAttached) Debugger.Break();", ""},
		{"Share.cs", "    // Debugger.Launch();\n/*\nDebugger.Launch();\n*/", ""},
		{"a.cs", "if (wait)\n{\n  Log(1);\n  Debugger.Launch();\n}", ""},
		{"a.cs", "#if DEBUG\n  Debugger.Launch();\n}", ""},
		{"a.cs", "#if DEBUG\n#endif\nvoid F()\n{\n  if (a) return;\n  Debugger.Launch();\n}", ":6 breakpoint medium"},
		{"a.cpp", "void Login::Send()\n{\n  open();\n  __debugbreak();\n}", ":4 breakpoint medium"},
		{"a.cpp", "void OnFatal()\n{\n  ::DebugBreak();\n}\n#define STOP() \\\n  __debugbreak();", ""},
		{"src/lib.rs", "  log::dbg!(x); // dbg!(x)\nf(\"dbg!(x)\"); wait(mydbg!(x));", ""},
		{"a.dart", "assert(() {\n  debugger();\n  return true;\n}());", ""},
		{"a.php", "<?php\na(<<<SQL\nvar_dump(1);\nSQL, 1);\nvar_dump($x);", ":5 breakpoint medium"},
		{"a_test.go", "x := `\n\tFIt(\"y\")\n` // FIt(\"z\")", ""},
	} {
		if test.want != "" {
			test.want = test.path + test.want
		}
		in := &Input{Change: added(test.path, test.head), Read: func(string) ([]byte, error) { return []byte(test.head), nil }}
		found(t, run(t, "leftovers", in), test.want)
	}
	found(t, run(t, "leftovers", &Input{Change: added("a.js", "debugger")}), "a.js:1 breakpoint medium") // it cannot be read
}

func TestStrayFiles(t *testing.T) {
	for path, want := range map[string]string{
		"src/.user.go.swp": "an editor", "src/user.go~": "an editor", "#notes#": "an editor",
		"SqlMapper.cs.rej": "a merge or a patch", "channels.c.orig": "a merge or a patch", "service copy.py": "its original",
		"app - Copy.json": "its original", "service.py.bak": "its original", "ad copy.html": "", "shop.bak": "", "a/.DS_Store": "operating system", "img/Thumbs.db": "operating system",
		"geo/__pycache__/coder.cpython-313.pyc": "one machine", ".idea/workspace.xml": "one machine",
		"lib/.svn/entries": "one machine", "yarn-error.log": "one machine", "a/debug.log": "one machine",
		"test/data.orig": "", "testdata/.a.swp": "", "docs/a.md~": "", "src/copy.py": "", "orig": "", "app.log": "",
		".idea/misc.xml": "", "a.swp": "", "src/original.go": "",
	} {
		in := &Input{
			Change: &diff.Change{Files: []diff.File{{Path: path, Status: diff.Added, Binary: true, Skip: "binary"}}},
			Read: func(path string) ([]byte, error) {
				if path == "service.py" || path == "app.json" {
					return nil, nil
				}
				return nil, fs.ErrNotExist
			},
		}
		r := run(t, "leftovers", in)
		if want == "" {
			same(t, r)
			continue
		}
		same(t, r, path+" stray-file low")
		if !strings.Contains(r.Findings[0].Title, want) {
			t.Errorf("%s: %s", path, r.Findings[0].Title)
		}
	}
}

// TestStrayFilesTogether: files of a kind are one finding, at the first line of the first one that has lines; what was there before
// and what is a copy of another project is not reported.
func TestStrayFilesTogether(t *testing.T) {
	c := added("a.c.orig", "int a;\n")
	c.Files = append(c.Files, []diff.File{
		{Path: ".DS_Store", Status: diff.Added},
		{Path: "b.c.orig", Status: diff.Added},
		{Path: "c.c.orig", Status: diff.Modified},
		{Path: "d.c.orig", Status: diff.Deleted},
		{Path: "e.c.orig", Status: diff.Added, Skip: "vendored"},
	}...)
	r := run(t, "leftovers", &Input{Change: c})
	same(t, r, "a.c.orig:1 stray-file low", ".DS_Store stray-file low")
	if want := "2 files of this kind are added: `a.c.orig`, `b.c.orig`."; !strings.Contains(r.Findings[0].Body, want) {
		t.Error(r.Findings[0].Body)
	}
}
