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
		return regexp.MustCompile(`::| (?:-run|-k|-t|-m \w+ |--grep|--filter|--test|--testNamePattern|--tests|--package|-p|-Dtest\S*|--name|-only|--only)[ =]| --? ?\S+\.(?:py|js|ts|tsx|jsx|go|rs|rb)\b|\s\S+\.(?:py|js|ts|tsx|jsx|rb|exs)\b`)
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

// blockCommands returns the commands of a code block.
func blockCommands(block string) []string {
	var out []string
	var before []string // what the commands after it need, such as cd sub
	cloned := false
	for _, line := range shellLines(block) {
		if strings.HasPrefix(line, "git clone") {
			cloned = true
		}
		parts, ok := splitAnd(line)
		if !ok {
			continue
		}
		prepares := true
		for i, part := range parts {
			kind := classify(part)
			if dir, is := strings.CutPrefix(part, "cd "); is {
				if kind = preparation; !isLocalDir(dir) || cloned {
					kind = other
				}
			}
			switch {
			case kind == other && i == 0 && len(parts) > 1 && strings.HasPrefix(part, "cd ") && cloned:
			case kind == other:
				ok = false
			case kind == check:
				prepares = false
			}
		}
		switch {
		case !ok:
		case prepares:
			before = append(before, line)
		default:
			out = append(out, strings.Join(append(slices.Clone(before), line), " && "))
			if needsEarlier(before) {
				before = append(before, line)
			}
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) > maxLine })
}

// needsEarlier reports whether each command of a block needs what those before it wrote, as after
// a configuration.
func needsEarlier(before []string) bool {
	return slices.ContainsFunc(before, func(s string) bool { return !strings.HasPrefix(s, "cd ") })
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
			open += strings.TrimSpace(head) + " "
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
	if strings.ContainsAny(strings.ReplaceAll(plain, "&&", ""), "|;&<>`") || strings.Contains(plain, "$(") || placeholder().MatchString(plain) || single().MatchString(plain) || endless().MatchString(plain) {
		return nil, false
	}
	parts := strings.Split(line, "&&")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts, true
}
