package gate

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// requirementFiles are the files of pip that count, if they are beside each other.
var requirementFiles = []string{
	"requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "requirements-test.txt", "requirements_test.txt",
	"test-requirements.txt", "requirements-tests.txt", "requirements/dev.txt", "requirements/test.txt", "requirements/tests.txt",
}

// Limits of requirements.
const (
	maxRequirements = 5000
	maxIncluded     = 50
)

// requirements are the packages of Python that a folder asks for.
type requirements struct {
	lines       []string // for pip: names, versions and markers
	constraints []string // versions of packages that others ask for
	pre         bool     // versions before a release count
	// hashes are the SHA-256 that the files of a package must have, by the package's name. A package without any
	// may have all files of the index, unless the requirements are strict.
	hashes  map[string][]string
	strict  bool // only packages with hashes count
	loose   bool // some requirement has no hash
	project bool // the folder itself is asked for, with extras
	extras  []string
	files   []string // that were read
}

// text is a file of requirements for pip. The hashes are not in it: the index has only files that match.
func (r *requirements) text() []byte {
	var b strings.Builder
	if r.pre {
		b.WriteString("--pre\n")
	}
	for _, line := range r.lines {
		b.WriteString(line + "\n")
	}
	if len(r.constraints) > 0 {
		b.WriteString("-c constraints.txt\n")
	}
	return []byte(b.String())
}

// pins are what the hashes decide, in order.
func (r *requirements) pins() []string {
	all := []string{fmt.Sprint(r.strict)}
	for name, hashes := range r.hashes {
		all = append(all, name+" "+strings.Join(hashes, " "))
	}
	slices.Sort(all[1:])
	return all
}

var (
	requirementLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[\w\s,.-]*\])?\s*(\(?(?:[<>=!~]=?=?\s*\w[\w.*+!-]*(?:\s*,\s*[<>=!~]=?=?\s*\w[\w.*+!-]*)*)?\)?)\s*(;[\w\s.,'"<>=!~()+*-]*)?$`)
	})
	hashOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s--hash[= ]\s*(\w+):([0-9a-fA-F]+)`) })
	separators = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-_.]+`) })
)

// normalName is the name of a package as an index has it.
func normalName(name string) string {
	return strings.ToLower(separators().ReplaceAllString(name, "-"))
}

var errIndex = errors.New("it names an index or folder of its own")

// add reads a file of requirements. Lines that name another server, a folder or a program refuse the file.
func (r *requirements) add(read func(string) []byte, name, index string, constraint bool) error {
	if slices.Contains(r.files, name) {
		return nil
	}
	if r.files = append(r.files, name); len(r.files) > maxIncluded {
		return errors.New("the requirements include too many files")
	}
	data := read(name)
	if data == nil {
		return fmt.Errorf("there is no %.60q at the base", name)
	}
	joined := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(strings.TrimPrefix(joined, "\ufeff")) {
		line = strings.TrimSpace(line)
		if i := strings.Index(" "+line, " #"); i >= 0 {
			line = strings.TrimSpace(line[:i])
		}
		if line == "" {
			continue
		}
		var err error
		if strings.HasPrefix(line, "-") {
			err = r.addOption(read, name, index, line)
		} else {
			err = r.addLine(line, constraint)
		}
		if err != nil {
			return fmt.Errorf("%.60s: %.60q: %w", name, line, err)
		}
	}
	return nil
}

// addOption reads a line of a file that is an option of pip.
func (r *requirements) addOption(read func(string) []byte, name, index, line string) error {
	option, value, _ := strings.Cut(strings.Replace(line, "=", " ", 1), " ")
	if !strings.HasPrefix(line, "--") && len(line) > 2 { // -rother.txt
		option, value = line[:2], line[2:]
	}
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	switch option {
	case "-r", "--requirement", "-c", "--constraint":
		other := path.Join(path.Dir(name), value)
		if path.IsAbs(value) || strings.Contains(value, ":") || !filepath.IsLocal(filepath.FromSlash(other)) {
			return errIndex
		}
		return r.add(read, other, index, strings.HasPrefix(strings.TrimLeft(option, "-"), "c"))
	case "-e", "--editable":
		return r.addLine(value, false)
	case "-i", "--index-url", "--pypi-url":
		if slices.Contains([]string{strings.TrimSuffix(index, "/"), publicIndex}, strings.TrimSuffix(value, "/")) {
			return nil
		}
		return errIndex
	case "--pre":
		r.pre = true
		return nil
	case "--require-hashes", "--prefer-binary", "--only-binary", "--no-binary", "--use-feature", "--trusted-host":
		return nil
	}
	return errIndex
}

// publicIndex is the name under which files know the index of Python. The operator's takes its place.
const publicIndex = "https://pypi.org/simple"

// addLine reads one requirement.
func (r *requirements) addLine(line string, constraint bool) error {
	if project, is := strings.CutPrefix(line, "."); is && (project == "" || project == "/" || strings.HasPrefix(project, "[") && strings.HasSuffix(project, "]")) {
		r.project = true
		for extra := range strings.SplitSeq(strings.Trim(project, "[]/"), ",") {
			r.extras = append(r.extras, strings.TrimSpace(extra))
		}
		return nil
	}
	hashes := hashOption().FindAllStringSubmatch(line, -1)
	if len(hashes) > 0 {
		line = strings.TrimSpace(hashOption().ReplaceAllString(line, ""))
	}
	m := requirementLine().FindStringSubmatch(line)
	if m == nil {
		return errors.New("not a package of the index")
	}
	name := normalName(m[1])
	for _, h := range hashes {
		if _, ok := parseHex(h[1], h[2]); ok && h[1] == "sha256" {
			r.pin(name, h[2])
		} else {
			return errors.New("a hash other than SHA-256")
		}
	}
	switch {
	case constraint:
		r.constraints = append(r.constraints, line)
	default:
		r.loose = r.loose || len(hashes) == 0
		r.lines = append(r.lines, line)
	}
	if len(r.lines)+len(r.constraints) > maxRequirements {
		return errEntries
	}
	return nil
}

// pin allows a file of a package, and no other files than those that are pinned.
func (r *requirements) pin(name, sum string) {
	if r.hashes == nil {
		r.hashes = map[string][]string{}
	}
	r.hashes[name] = append(r.hashes[name], strings.ToLower(sum))
}
