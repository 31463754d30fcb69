package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// requirementFiles are the files of pip that count, if they are beside each other.
var requirementFiles = []string{
	"requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt",
	"requirements-test.txt", "requirements_test.txt", "test-requirements.txt", "requirements-tests.txt",
	"requirements/dev.txt", "requirements/test.txt", "requirements/tests.txt",
}

// Limits of requirements.
const (
	maxRequirements = 5000
	maxIncluded     = 50
)

// versions matches one condition on the version of a package.
const versions = `[<>=!~]=?=?\s*\w[\w.*+!-]*`

// requirements are the packages of Python that a folder asks for. They are read here and not by
// pip, because a line of theirs can name a server (T20), or a folder, which pip builds by running it,
// in the sandbox whose result other runs trust (T28).
type requirements struct {
	index       string   // the operator's
	lines       []string // for pip: names, versions and markers
	constraints []string // versions of packages that others ask for
	pre         bool     // versions before a release count
	// locked has the SHA-256 of all files that count: it is what was read of lock files. If it is
	// empty, all files of the index count.
	locked  string
	project bool // the folder itself is asked for, with extras
	extras  []string
	files   []string // that were read
}

// text is a file of requirements for pip.
func (r *requirements) text() []byte {
	lines := slices.Clone(r.lines)
	if r.pre {
		lines = append(lines, "--pre")
	}
	if len(r.constraints) > 0 {
		lines = append(lines, "-c constraints.txt")
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

var (
	requirementLine = text.Pattern(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[\w\s,.-]*\])?` +
		`\s*(\(?(?:` + versions + `(?:\s*,\s*` + versions + `)*)?\)?)\s*(;[\w\s.,'"<>=!~()+*-]*)?$`)
	hashOption = text.Pattern(`\s--hash[= ]\s*sha256:[0-9a-fA-F]{64}\b`)
	// lockIndex matches the indexes that a lock file takes its packages from.
	lockIndex = text.Pattern(`(?m)^(?:source = \{ registry = |url = |\s*"url": ?|.*"sources":.*"url": ?)"([^"]*)"`)
)

var errIndex = errors.New("it names an index or folder of its own")

// publicIndex is the name under which files know the index of Python. The operator's takes its place.
const publicIndex = "https://pypi.org/simple"

// isIndex reports whether an address is that of the index.
func (r *requirements) isIndex(address string) bool {
	return slices.Contains([]string{strings.TrimSuffix(r.index, "/"), publicIndex}, strings.TrimSuffix(address, "/"))
}

// add reads a file of requirements. Lines that name another server, a folder or a program refuse the file.
func (r *requirements) add(read func(string) []byte, name string, constraint bool) error {
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
		line, _, _ = strings.Cut(" "+line, " #")
		line = strings.TrimSpace(line)
		var err error
		if strings.HasPrefix(line, "-") {
			err = r.addOption(read, name, line)
		} else if line != "" {
			err = r.addLine(line, constraint)
		}
		if err != nil {
			return fmt.Errorf("%.60s: %.60q: %w", name, line, err)
		}
	}
	return nil
}

// addOption reads a line of a file that is an option of pip.
func (r *requirements) addOption(read func(string) []byte, name, line string) error {
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
		return r.add(read, other, strings.HasPrefix(strings.TrimLeft(option, "-"), "c"))
	case "-e", "--editable":
		return r.addLine(value, false)
	case "-i", "--index-url", "--pypi-url":
		if r.isIndex(value) {
			return nil
		}
	case "--pre":
		r.pre = true
		return nil
	case "--require-hashes", "--prefer-binary", "--only-binary", "--no-binary", "--use-feature", "--trusted-host":
		return nil
	}
	return errIndex
}

func (r *requirements) addLine(line string, constraint bool) error {
	project, is := strings.CutPrefix(line, ".")
	if is && (project == "" || project == "/" || strings.HasPrefix(project, "[") && strings.HasSuffix(project, "]")) {
		r.project = true
		for extra := range strings.SplitSeq(strings.Trim(project, "[]/"), ",") {
			r.extras = append(r.extras, strings.TrimSpace(extra))
		}
		return nil
	}
	r.locked += strings.ToLower(strings.Join(hashOption().FindAllString(line, -1), ""))
	line = strings.TrimSpace(hashOption().ReplaceAllString(line, ""))
	if !requirementLine().MatchString(line) {
		return errors.New("not a package of the index")
	}
	if constraint {
		r.constraints = append(r.constraints, line)
	} else {
		r.lines = append(r.lines, line)
	}
	if len(r.lines)+len(r.constraints) > maxRequirements {
		return errors.New("too many packages")
	}
	return nil
}

// addLock reads the lock file of a folder, if it has one: then only the files that it lists count.
func (r *requirements) addLock(read func(string) []byte, dir string) (found bool, err error) {
	for _, name := range []string{"uv.lock", "poetry.lock", "Pipfile.lock"} {
		name = path.Join(dir, name)
		data := read(name)
		if data == nil {
			continue
		}
		for _, m := range lockIndex().FindAllSubmatch(data, -1) {
			if !r.isIndex(string(m[1])) {
				return false, fmt.Errorf("%s: %w", name, errIndex)
			}
		}
		r.files = append(r.files, name)
		if r.locked += string(data); path.Base(name) == "Pipfile.lock" {
			err = r.addPipfile(data)
		}
		return true, err
	}
	return false, nil
}

func (r *requirements) addPipfile(data []byte) error {
	type pinned map[string]struct{ Version, Markers string }
	var lock struct{ Default, Develop pinned }
	if json.Unmarshal(data, &lock) != nil {
		return errors.New("invalid Pipfile.lock")
	}
	for _, list := range []pinned{lock.Default, lock.Develop} {
		for name, p := range list {
			line := name + p.Version
			if p.Markers != "" {
				line += " ; " + p.Markers
			}
			if err := r.addLine(line, false); err != nil {
				return fmt.Errorf("in Pipfile.lock: %.60q: %w", name, err)
			}
		}
	}
	slices.Sort(r.lines)
	return nil
}
