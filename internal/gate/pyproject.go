package gate

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

type pyproject struct {
	Project *struct {
		Dependencies []string            `toml:"dependencies"`
		Optional     map[string][]string `toml:"optional-dependencies"`
		Dynamic      []string            `toml:"dynamic"`
	} `toml:"project"`
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		UV struct {
			Index   []map[string]any `toml:"index"`
			Sources map[string]any   `toml:"sources"`
			URL     string           `toml:"index-url"`
			Extra   []string         `toml:"extra-index-url"`
			Links   []string         `toml:"find-links"`
			Dev     []string         `toml:"dev-dependencies"`
		} `toml:"uv"`
		Poetry struct {
			Source       []map[string]any `toml:"source"`
			Dependencies map[string]any   `toml:"dependencies"`
			Dev          map[string]any   `toml:"dev-dependencies"`
			Group        map[string]struct {
				Dependencies map[string]any `toml:"dependencies"`
			} `toml:"group"`
		} `toml:"poetry"`
		PDM struct {
			Source []map[string]any `toml:"source"`
		} `toml:"pdm"`
	} `toml:"tool"`
}

// isWanted reports whether builds and tests need an optional part.
func isWanted(extra string) bool {
	return slices.Contains([]string{
		"dev", "develop", "development", "test", "tests", "testing", "lint", "typing", "types", "check", "ci",
	}, strings.ToLower(extra))
}

// readPython reads what a folder asks for: its lock file, else its requirements and pyproject.toml.
func readPython(read func(string) []byte, dir, index string) (*requirements, error) {
	r := &requirements{index: index}
	for _, name := range requirementFiles {
		if name = path.Join(dir, name); read(name) != nil {
			if err := r.add(read, name, false); err != nil {
				return nil, err
			}
		}
	}
	data := read(path.Join(dir, "pyproject.toml"))
	var p pyproject
	if data != nil {
		if toml.Unmarshal(data, &p) != nil {
			return nil, errors.New("pyproject.toml is invalid")
		}
		r.files = append(r.files, path.Join(dir, "pyproject.toml"))
	}
	locked, err := r.addLock(read, dir)
	switch {
	case err != nil:
		return nil, err
	case data == nil && r.project && !locked:
		return nil, errors.New("the packages of setup.py are known only by running it")
	case data == nil, len(r.lines) > 0 && !locked && !r.project && p.Project == nil: // it has only settings
		return r, nil
	}
	return r, r.addProject(p, locked)
}

// addProject adds what a pyproject.toml asks for. With a lock file, the versions are the lock's.
func (r *requirements) addProject(p pyproject, locked bool) error {
	tool := p.Tool
	uv := tool.UV
	indexes := len(uv.Index) + len(uv.Sources) + len(uv.Extra) + len(uv.Links) + len(uv.URL)
	if indexes+len(tool.Poetry.Source)+len(tool.PDM.Source) > 0 {
		return fmt.Errorf("pyproject.toml: %w", errIndex)
	}
	lines, err := p.poetryNames()
	if err != nil {
		return err
	}
	if len(lines) > 0 && !locked {
		return errors.New("pyproject.toml of poetry without poetry.lock")
	}
	if p.Project != nil {
		if slices.Contains(p.Project.Dynamic, "dependencies") && len(r.lines) == 0 {
			return errors.New("the packages of pyproject.toml are dynamic: they are known only by running it")
		}
		lines = append(lines, p.Project.Dependencies...)
		for name, of := range p.Project.Optional {
			if isWanted(name) || slices.Contains(r.extras, name) {
				lines = append(lines, of...)
			}
		}
	}
	for name, of := range p.Groups {
		for _, one := range of {
			if line, is := one.(string); is && isWanted(name) { // the others include groups
				lines = append(lines, line)
			}
		}
	}
	lines = append(lines, uv.Dev...)
	slices.Sort(lines)
	for _, line := range lines {
		if m := requirementLine().FindStringSubmatch(strings.TrimSpace(line)); m != nil && r.locked != "" {
			line = m[1] + m[2] + m[4] // without its versions: the hashes decide
		}
		if err := r.addLine(line, false); err != nil {
			return fmt.Errorf("pyproject.toml: %.60q: %w", line, err)
		}
	}
	return nil
}

// poetryNames are the names of the packages that poetry's own tables ask for.
func (p pyproject) poetryNames() ([]string, error) {
	var all []string
	tables := []map[string]any{p.Tool.Poetry.Dependencies, p.Tool.Poetry.Dev}
	for _, g := range p.Tool.Poetry.Group {
		tables = append(tables, g.Dependencies)
	}
	for _, t := range tables {
		for name, value := range t {
			options, _ := value.(map[string]any)
			optional, _ := options["optional"].(bool)
			if name == "python" || optional {
				continue
			}
			for _, key := range []string{"git", "path", "url", "file", "source"} {
				if options[key] != nil {
					return nil, fmt.Errorf("pyproject.toml: %.60q: not a package of the index", name)
				}
			}
			if list, is := options["extras"].([]any); is {
				name += strings.ReplaceAll(fmt.Sprint(list), " ", ",")
			}
			all = append(all, name)
		}
	}
	return all, nil
}
