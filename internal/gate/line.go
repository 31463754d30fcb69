package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// placeholder matches what a reader is meant to replace, and paths that only stand for
	// others.
	placeholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<[^>]*>|\[[^\]]*\]|\{[^}]*\}|(?i)\b(?:your|my|some|path/to|foo|xxx+)\b|\bexample|(?:^|[^./])\.\.\.|…|\$\{?[A-Z_]{2,}`)
	})
	// single matches arguments that choose some of the tests, as examples do.
	single = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`::| (?:-run|-k|-t|--grep|--filter|--test|--testNamePattern|--tests|--package|-p|-Dtest\S*|--name|-only|--only|--target)[ =]| --? ?\S+\.(?:py|js|ts|tsx|jsx|go|rs|rb)\b|\s\S+\.(?:py|js|ts|tsx|jsx|rb|exs)\b`)
	})
	// endless matches options that wait, that change the files, or that measure.
	endless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^| )(?:--watch\S*|--fix|-fix|--write|--update\S*|-u|--serve|--open|--ui|-bench\S*|-fuzz\S*|--debug|--inspect\S*|--help|--version|--list\S*|-i|--interactive)(?:[ =]|$)`)
	})
	assignment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=[\w./:,+@%=-]*$`) })
	processors = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("\\$\\(nproc\\)|\\$\\(getconf _NPROCESSORS_ONLN\\)|`nproc`")
	})
)

// Limits of one code block.
const (
	maxBlock  = 8 << 10 // bytes
	maxBefore = 12      // commands before another one
)

// blockCommands returns the commands of a code block. prepared are the commands that
// configure a build in the blocks above, under the same heading.
func blockCommands(block string, prepared []string) (commands, configured []string) {
	before := slices.Clone(prepared)
	configured = prepared
	cloned, built := false, false
	for _, line := range shellLines(wholeLines(block, maxBlock)) {
		cloned = cloned || strings.HasPrefix(line, "git clone")
		parts, what := readLine(line, cloned)
		joined := strings.Join(parts, " && ")
		switch {
		case what == other && strings.HasPrefix(line, "cd "):
			return commands, configured // the others are for a folder that nobody knows
		case what == other || len(parts) == 0:
		case what == preparation:
			if before = append(before, joined); len(before) > maxBefore {
				return commands, prepared
			}
			if !strings.HasPrefix(joined, "cd ") {
				configured = slices.Clone(before)
			}
		default:
			if len(configured) > 0 && built { // the command before is part of this one
				commands = commands[:len(commands)-1]
			}
			c := strings.Join(append(slices.Clone(before), joined), " && ")
			if built = len(c) <= maxLine; built {
				commands = append(commands, c)
			}
			if len(configured) > 0 { // after a configuration, a command needs what those before it built
				before = append(before, joined)
			}
			if len(before) > maxBefore {
				return commands, configured
			}
		}
	}
	return commands, configured
}

// wholeLines is the start of a text, at most n bytes of it, without the line that does not fit.
func wholeLines(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:strings.LastIndexByte(s[:n], '\n')+1]
}

// readLine splits a line into its commands, without those that install, and says what
// they do together. After a clone, the first cd leads to where commands run anyway.
func readLine(line string, cloned bool) ([]string, kind) {
	all, ok := splitAnd(line)
	if !ok {
		return nil, other
	}
	var parts []string
	what := preparation
	for _, part := range all {
		one := classify(part)
		if dir, is := strings.CutPrefix(part, "cd "); is {
			if one = preparation; cloned {
				one = install
			} else if !isLocalDir(dir) {
				return nil, other
			}
		}
		if one != install && placeholder().MatchString(processors().ReplaceAllString(part, "4")) {
			one = other
		}
		if one == check && (single().MatchString(part) || endless().MatchString(part)) {
			one = other
		}
		switch one {
		case other:
			return nil, other
		case install:
			continue
		case check:
			what = check
		}
		parts = append(parts, part)
	}
	return parts, what
}

func isLocalDir(dir string) bool {
	dir = strings.Trim(dir, `"' `)
	return dir != "" && !path.IsAbs(dir) && !strings.HasPrefix(path.Clean(dir), "..") && !strings.ContainsAny(dir, "~$<>*")
}

// shellLines returns the lines that a person would type: without prompts, comments and
// output, with continued lines joined.
func shellLines(block string) []string {
	lines := strings.Split(block, "\n")
	prompts := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "$ ") })
	var out []string
	open := ""
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if open == "" && prompts {
			typed, is := strings.CutPrefix(line, "$ ")
			if !is {
				continue // output
			}
			line = typed
		}
		if head, is := strings.CutSuffix(line, `\`); is {
			if open += strings.TrimSpace(head) + " "; len(open) > maxBlock {
				return out
			}
			continue
		}
		line = strings.Join(strings.Fields(withoutComment(open+line)), " ")
		open = ""
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// withoutComment removes a comment that starts outside of quotes.
func withoutComment(line string) string {
	quote := rune(0)
	last := ' '
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == '#' && last == ' ':
			return strings.TrimSpace(line[:i])
		}
		last = r
	}
	return line
}

// splitAnd splits a line at &&. It is not ok if the line has more of the shell's language.
func splitAnd(line string) ([]string, bool) {
	plain := processors().ReplaceAllString(line, "4")
	if strings.ContainsAny(strings.ReplaceAll(plain, "&&", ""), "|;&<>`") || strings.Contains(plain, "$(") {
		return nil, false
	}
	parts := strings.Split(line, "&&")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts, true
}
