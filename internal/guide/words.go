package guide

import "strings"

// The words by which rules are told from the rest. They were chosen by reading
// guide files of public repositories; testdata holds texts of the same kinds,
// with the rules that people find in them.

// binders are phrases of a rule that binds in so many words.
var binders = phrases(`
	must; must not; mustn't; never; always; shall; don'ts; should; shouldn't; avoid; forbidden; prohibited;
	not allowed; disallowed; banned; make sure; ensure; mandatory; not permitted; no longer use; at most;
	no more than; no longer than; need tests; needs tests; need a test; needs a test; require tests;
	comes with a test; come with tests; off limits; under no circumstances; is not acceptable; are not acceptable;
	are not accepted`)

// unbinders are phrases in which those words tell or wish something else.
var unbinders = phrases(`
	should see; should now; should be able; should take; should have received; should get; should work;
	should already; should probably; should feel; must have installed; must be installed; must first install;
	you must have; should open; should output; should print; don't worry; don't hesitate; do not hesitate;
	don't be afraid; don't need; do not need; don't have to; do not have to; always welcome; never too; we always;
	as always; if you don't; if you do not; that do not; that don't; which do not; who do not; may be closed;
	almost always; we will; will always; are always; is always; has always; should start; must start by;
	you should know; you should read; it should just`)

// habits are words of a convention that names no verb.
var habits = phrases(`
	use; uses; used; using; prefer; prefers; preferred; only; instead of; rather than; required; at least; at most;
	no more than; no; without; camelcase; pascalcase; snake_case; kebab-case; snake; kebab; lowercase; uppercase;
	upper case; lower case; prefix; prefixed; suffix; suffixed; named; indentation; trailing; one; single; strict;
	explicit; immutable; over; before; after; per; limit; maximum; minimum; max; min; live; lives; belong; belongs;
	go; goes; stay; stays; need; needs; validate; validates; validated; return; returns; wrapped; sorted; ordered;
	conventional commits; alphabetical; mandatory`)

// imperatives are verbs with which a rule about code, tests or texts starts.
var imperatives = set(`
	abstract adhere add align annotate apply assert authenticate authorize avoid await base batch bubble cache cap
	catch centralize check choose cite clean clear close co-locate colocate combine commit compare compose configure
	consider copy cover create declare decouple default defer define delegate delete deprecate derive describe
	destructure disable dispatch document drop emit enable encapsulate encode encrypt end enforce ensure escape
	export expose extend extract fail favor favour flag follow format free generate give group guard handle hash
	hide honor hold implement import include increment indent inherit initialize inject inline isolate keep label
	lazy-load leave limit localize lock log lowercase maintain make mark match memoize migrate minimize mock model
	modify modularize move name namespace nest normalize omit only optimize order organize pad paginate parameterize
	parse pass pin place preallocate prefer prefix preserve propagate protect provide put quote raise rate-limit
	redact reduce reference register release remove rename render replace represent reserve respect restrict retry
	return reuse roll sanitize scope seal separate serialize set share simplify sort specify split stick store
	stream strip structure strive style subclass suffix support suppress surface target test throw track translate
	treat trim turn type unit-test unsubscribe update use utilize validate verify version wrap write`)

// actions are verbs of what people and assistants do at work; their outcome is
// not in a change.
var actions = set(`
	act activate ask attend be become begin bookmark browse bring build check-out checkout choose click clone
	comment communicate compile confirm consult contact contribute debug deploy discuss double-check download edit
	enjoy execute expect explain explore familiarize feel fetch file find fork get go have help install invoke join
	know launch learn let listen log-in look merge navigate notify open participate pick plan play please point post
	propose publish pull push read rebase recommend refer remember reply report request respond restart review run
	search see send show sign sign-off squash star start stay stop subscribe submit suggest switch take talk tell
	thank think try understand view visit wait watch welcome work`)

// makings are things that a person creates beside the code.
var makings = phrases(`
	a branch; a new branch; feature branch; an issue; a new issue; a pull request; a pr; a fork; your fork;
	your branch; an account; virtual environment; virtualenv; venv; a database; topic branch; a file called .env;
	a .env; the following software; your changes; the changes; your change`)

// requests are things of a forge.
var requests = phrases(`pull request; pull requests; pr; prs; issue; issues; branch; branches`)

// behaviours are phrases of advice on how to behave.
var behaviours = phrases(`
	code of conduct; your fork; your local; your machine; your editor; issue tracker; bug report; bug reports;
	feature request; feature requests; mailing list; discord; slack; gitter; stack overflow; stackoverflow;
	license agreement; contributor license; sign the cla; good first issue; clarifying question;
	clarifying questions; ask the user; the user asks; asked by the user; explicitly asked; explicitly requested;
	user's request; think step; step by step; before responding; your response; your responses; in your answer;
	your answer; plan mode; todo list; be respectful; be kind; be concise; upstream remote; git remote; fork the;
	clone the; new contributors; we will review; maintainers will; feel free; our faq; checks pass; tests pass;
	suite passes; checks are passing; cloning; git hook; git hooks; pre-commit hook; precommit hook;
	pre-commit hooks; claude should; claude must; claude code; when asked; if asked; is not available;
	isn't available; you can also; you can use; you are an; you are a; act as; subagent; subagents; mcp server;
	tool calls; context window; conversation; your knowledge; hallucinate; answers short; technical responses;
	you are asked; unless asked; screenshot; reviewers will; will be reviewed; be patient`)

// openers stand before the verb that counts.
var openers = set(`
	please always never do don't not you must should shall mustn't shouldn't also all and then so kindly instead
	generally usually that to just simply only the a an try first be`)

// negations turn a verb into its opposite.
var negations = phrases(`never; not; don't; mustn't; shouldn't; avoid; no`)

// determiners follow a verb, where a noun is meant they do not.
var determiners = set(`all every each the a an any your only new both that` + " `")

// leadWords start a line that speaks for each item of the list after it.
var leadWords = set(`when whenever for in before after if while do don't never always avoid prefer each every`)

// nouns name what a change holds.
var nouns = set(`
	abstraction accessor adapter algorithm annotation api apis argument array assertion async attribute benchmark
	cache boundary branch-name buffer bug-fix callback cast catch changelog class classes client code command
	comment commit commits component config configuration connection constant constructor context contract
	controller coverage credential css database decorator default dependency dependencies deprecation diff directive
	doc docs driver docstring documentation dto email endpoint enum error event exception export expression factory
	feature field file fixture flag fixme folder format formatting function getter global goroutine handler header
	helper hook html identifier if import imports indentation input interface interfaces invariant job json key keys
	language layer layers library lock line lines link lint linter literal log logger logging logic loop macro magic
	message method methods middleware migration migrations mock model module modules mutation name names namespace
	naming null number object operation option output package packages panic parameter password patch path pattern
	permission pii pointer pr prs prefix print private promise prop property protocol public pull query queries
	readme record reducer reference refactoring regex regression release-note repository request resource response
	return route router schema script secret secrets selector sentence serializer server service setter signature
	snapshot sql stack state statement step store string strings struct style stylesheet subject suffix suppression
	symbol syntax table template test tests testing text thread todo token transaction translation ts type types ui
	unit url user-input util utility validation value variable variables vendor version view violation warning
	whitespace widget wrapper yaml`)

// rulingSections are headings under which everything is meant as a rule.
var rulingSections = phrases(`
	rule; rules; convention; conventions; guideline; guidelines; standard; standards; principle; principles;
	best practices; practices; constraints; do not; don't; dont; don'ts; dos; never; always; must; invariants;
	policy; gotchas; pitfalls; important; boundaries; requirements for code; anti-patterns; antipatterns; avoid`)

// verdicts are headings that say of all below them that it is to be done or not.
var verdicts = func() map[string]bool {
	m := map[string]bool{}
	for _, p := range phrases(`
	do; dos; do's; always; always do; must; prefer; dont; don'ts; donts; banned; not allowed; anti-patterns;
	antipatterns; what not to do; things to avoid; what to avoid; bad`) {
		m[strings.TrimSpace(p)] = true
	}
	return m
}()

// prohibitions start a heading that forbids what stands below it.
var prohibitions = phrases(`don't; do not; never; avoid; must not; forbidden; prohibited`)

// idleSections are headings under which nothing is a rule about a change.
var idleSections = phrases(`
	table of contents; contents; toc; installation; install; installing; setup; set up; setting up; getting started;
	quick start; quickstart; prerequisites; links; resources; references; further reading; see also; license;
	licence; acknowledgements; credits; contact; support; getting help; community; code of conduct; faq;
	troubleshooting; reporting; report; reporting bugs; bug reports; suggesting; feature requests; questions;
	ask a question; first contribution; your first; debugging; debug; sandboxing; signing; profiling; benchmarking;
	publishing; publish; forking; need help; help; use of ai; finding; assigning; certificate; attribution;
	communication; communicate; interaction; financial contributions; issues; legal; sponsors; new contributors;
	finding something; ways to contribute; personas; persona`)

// tellingSections are headings under which the repository is described.
var tellingSections = phrases(`
	overview; about; introduction; background; structure; layout; directory; directories; tech stack; stack;
	technologies; commands; command; scripts; building; build; running; run; development environment; environment;
	environment variables; usage; key files; important files; files; glossary; roadmap; history; data flow;
	how it works; features; goals; deployment; deploying; ci; tooling; tools; workflow; development workflow;
	project context; context; examples`)

// A named is a list of words with the category that they stand for.
type named struct {
	name  string
	words []string
}

// sectionCategories are the words of headings, in the order in which they decide.
var sectionCategories = []named{
	{"testing", phrases(`test; tests; testing; coverage; qa; specs; unit tests; e2e; mocks; mocking; fixtures`)},
	{"security", phrases(`
	security; secure; secrets; auth; authentication; authorization; privacy; credentials; vulnerabilities;
	sanitization; permissions; compliance`)},
	{"process", phrases(`
	commit; commits; commit messages; pull request; pull requests; pr; prs; branch; branches; branching; git;
	process; workflow; release; releases; versioning; changelog; review; reviews; documentation; docs; contributing;
	submitting; deployment; ci`)},
	{"architecture", phrases(`
	architecture; architectural; design; layers; layering; modules; dependencies; boundaries; structure;
	organization; organisation; api; apis; database; data access; persistence; state management; services; packages;
	concurrency; invariants; migrations`)},
	{"style", phrases(`
	style; styles; styling; formatting; format; naming; names; code; coding; lint; linting; comments; imports;
	typescript; javascript; python; go; golang; rust; java; kotlin; swift; react; css; sql; types; typing; error;
	errors; logging; error handling; syntax; functions; classes; components; ui; performance; accessibility;
	language; html; tailwind; ruby; php; c++`)},
}

// textCategories are the words of statements, in the order in which they decide.
var textCategories = []named{
	{"testing", phrases(`test; tests; tested; testing; coverage; fixture; fixtures; mock; mocks`)},
	{"security", phrases(`
	secret; secrets; credential; credentials; password; passwords; sanitize; sanitized; escape; injection; pii;
	encrypt; encrypted; authorization; authentication; untrusted; vulnerability; api key; api keys`)},
	{"process", phrases(`
	commit; commits; changelog; pull request; pull requests; pr; prs; release notes; readme; documentation;
	migration guide; review`)},
	{"architecture", phrases(`
	module; modules; layer; layers; depend; depends; dependency; dependencies; package; packages; import from;
	service; services; repository; controller; controllers; interface; interfaces; transaction; database;
	global state`)},
	{"style", phrases(`
	name; named; naming; names; indent; indentation; format; formatting; comment; comments; camelcase; pascalcase;
	snake_case; kebab-case; line length; whitespace; semicolons; quotes; type; types; function; functions; class;
	classes; variable; variables; constant; constants; component; components; error; errors; log; logging; print;
	console.log; var; let; const; enum; enums; line; lines; import; imports; export; exports; string; strings`)},
}

// foreignMarks are words of rules in languages that are not written in Latin letters.
var foreignMarks = []string{
	"必须", "必須", "不要", "禁止", "避免", "不得", "应", "應", "始终", "总是", "切勿", "使用", "不能", "不可", "务必", "需要",
	"すること", "しない", "必ず", "避ける", "ください", "してはいけない", "べき",
	"하세요", "하지", "반드시", "사용", "금지", "항상", "작성", "않는다", "해야",
	"никогда", "всегда", "должн", "используй", "нельзя", "избегай", "запрещ", "обязательно", "Не ", "не ", "Никогда", "Всегда", "Используй",
}

// phrases splits a list at semicolons; each phrase has a space at both ends, so
// that it matches whole words only.
func phrases(list string) []string {
	var out []string
	for p := range strings.SplitSeq(list, ";") {
		out = append(out, " "+strings.Join(strings.Fields(p), " ")+" ")
	}
	return out
}

func set(list string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		words[w] = true
	}
	return words
}
