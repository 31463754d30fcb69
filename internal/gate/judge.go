package gate

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// mostOutput is how many bytes of a command's output are kept.
const mostOutput = 64 << 10

// What a failed command prints if something else than the change made it fail. A command decides what it
// prints, but a pull request gains nothing by it: its command could as well end with success.
var (
	missing = text.Pattern(`(?m)([\w./+-]+): (?:(?:command |inaccessible or )?not found|` +
		`No such file or directory\nmake)`)
	missingMake = text.Pattern(`(?m)^make.*\bError 127$`)
	// missingModule matches what python -m prints if there is no such program.
	missingModule = text.Pattern(`(?m)python[\d.]*: No module named '?([\w.]+)'?$`)
	// unfetched matches what package managers print if they ask for what only the network has.
	unfetched = text.Pattern(strings.Join([]string{
		`npm (?:error|ERR!) code (?:ENOTCACHED|EAI_AGAIN|ENOTFOUND|ECONNREFUSED)`,
		`ERR_PNPM_(?:NO_OFFLINE_\w+|META_FETCH_FAIL)`,
		`YN0080`, `There appears to be trouble with your network connection`,
		`Can't make a request in offline mode`, `[Cc]orepack.*(?:network|download)`,
		`No matching distribution found for `, `[Nn]etwork connectivity is disabled`,
		`All attempts to connect to pypi\.org failed`,
		`attempting to make an HTTP request, but --offline was specified`, `perhaps you ran [^\n]*--offline`,
		`you may wish to retry without[^\n]*offline`,
		`module lookup disabled by GOPROXY=off`, `Could not reach host rubygems\.org`,
		`Could not find [^\n]+ in (?:any of the sources|locally installed gems)`,
		`curl error 6 while downloading`, `Cannot access [^\n]+ in offline mode`,
		`Unknown host repo\.maven\.apache\.org`, `repo\.maven\.apache\.org: Temporary failure in name resolution`,
		`No cached version of [^\n]+ available for offline mode`, `Could not (?:GET|HEAD|resolve) 'https?://`,
		`Unable to load the service index for source`,
	}, "|"))
	otherGo   = text.Pattern(`requires (go >= ?[\w.]+) \(running go`)
	exhausted = text.Pattern(`(?i)no space left on device|cannot fork|fork: retry|` +
		`fork: resource temporarily unavailable|fork/exec [^\n]*: resource temporarily unavailable`)
)

// lacking is the part of a result that says that dependencies are missing.
const lacking = ", but dependencies are missing: "

// programMissing is the exit status of a shell that finds no program.
const programMissing = 127

func (s *session) judge(c Command, r sandbox.Result, l sandbox.Limits) (Status, string) {
	out := r.Stdout.String()
	switch r.Status {
	case sandbox.OK:
		return Passed, ""
	case sandbox.TimedOut:
		return TimedOut, fmt.Sprintf("not done after %v", l.Time)
	case sandbox.OverMemory:
		return Resource, "over the memory limit"
	case sandbox.OverProcesses:
		return Resource, "over the process limit"
	case sandbox.OverOutput:
		return Resource, "over the output limit"
	}
	switch {
	case r.Exit == programMissing || missingMake().MatchString(out):
		return Skipped, missingProgram(c, out) + " is not installed"
	case missingTool(out) != "":
		return Skipped, missingTool(out) + " is not installed"
	case otherGo().MatchString(out):
		return Skipped, "it needs " + otherGo().FindStringSubmatch(out)[1]
	case exhausted().MatchString(out):
		return Resource, "out of disk space or processes"
	}
	if why, _ := s.incomplete(c); why != "" {
		return Skipped, fmt.Sprintf("it ended with status %d%s%s", r.Exit, lacking, why)
	}
	if asked := unfetched().FindString(out); asked != "" {
		return Skipped, fmt.Sprintf("it ended with status %d, and asked for packages that were not fetched: %s", r.Exit,
			text.Cut(text.VisibleLine(asked), 80))
	}
	return Failed, fmt.Sprintf("exit status %d", r.Exit)
}

func missingProgram(c Command, out string) string {
	if all := missing().FindAllStringSubmatch(out, -1); len(all) > 0 {
		return text.Cut(all[len(all)-1][1], 40)
	}
	first, _, _ := strings.Cut(c.Line, " ")
	return text.Cut(first, 40)
}

// missingTool is the program that python -m did not find and that checks the tree; empty if there is none.
func missingTool(out string) string {
	if m := missingModule().FindStringSubmatch(out); m != nil && tools[m[1]] != "" {
		return m[1]
	}
	return ""
}

// readable is an output without secrets and without characters that do something in a terminal.
func readable(o sandbox.Output) string {
	s := secret.RedactText(strings.ToValidUTF8(o.String(), "\ufffd"))
	return strings.TrimSpace(text.Visible(escapes().ReplaceAllString(s, "")))
}

// escapes matches the sequences that control a terminal.
var escapes = text.Pattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\r`)
