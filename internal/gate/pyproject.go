package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// pyproject is what counts of a pyproject.toml.
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

// wantedExtras are the optional parts that builds and tests need.
var wantedExtras = []string{"dev", "develop", "development", "test", "tests", "testing", "lint", "typing", "types", "check", "ci"}

// readPython reads what a folder asks for: its lock file, else its requirements and pyproject.toml.
func readPython(read func(string) []byte, dir, index string) (*requirements, error) {
	r := &requirements{}
	for _, name := range requirementFiles {
		if name = path.Join(dir, name); read(name) != nil {
			if err := r.add(read, name, index, false); err != nil {
				return nil, err
			}
		}
	}
	r.strict = len(r.hashes) > 0 && !r.loose
	var p pyproject
	data := read(path.Join(dir, "pyproject.toml"))
	if data != nil {
		if toml.Unmarshal(data, &p) != nil {
			return nil, errors.New("pyproject.toml is invalid")
		}
		r.files = append(r.files, path.Join(dir, "pyproject.toml"))
	}
	locked, err := r.addLock(read, dir, index)
	if err != nil {
		return nil, err
	}
	if data == nil {
		if r.project && !locked {
			return nil, errors.New("the packages of setup.py are known only by running it")
		}
		return r, nil
	}
	if len(r.lines) > 0 && !locked && !r.project && p.Project == nil {
		return r, nil // pyproject.toml has only settings
	}
	return r, r.addProject(p, locked)
}

// addProject adds what a pyproject.toml asks for. With a lock file, the versions are the lock's.
func (r *requirements) addProject(p pyproject, locked bool) error {
	tool := p.Tool
	if len(tool.UV.Index)+len(tool.UV.Sources)+len(tool.UV.Extra)+len(tool.UV.Links)+len(tool.Poetry.Source)+len(tool.PDM.Source) > 0 || tool.UV.URL != "" {
		return fmt.Errorf("pyproject.toml: %w", errIndex)
	}
	var lines []string
	if p.Project != nil {
		if slices.Contains(p.Project.Dynamic, "dependencies") && len(r.lines) == 0 {
			return errors.New("the packages of pyproject.toml are dynamic: they are known only by running it")
		}
		lines = append(lines, p.Project.Dependencies...)
		for name, of := range p.Project.Optional {
			if slices.Contains(wantedExtras, strings.ToLower(name)) || slices.Contains(r.extras, name) {
				lines = append(lines, of...)
			}
		}
	}
	for name, of := range p.Groups {
		if slices.Contains(wantedExtras, strings.ToLower(name)) {
			for _, one := range of {
				if line, is := one.(string); is { // the others include groups
					lines = append(lines, line)
				}
			}
		}
	}
	lines = append(lines, tool.UV.Dev...)
	poetry, err := p.poetryNames()
	if err != nil {
		return err
	}
	if len(poetry) > 0 && !locked {
		return errNoLock
	}
	lines = append(lines, poetry...)
	slices.Sort(lines)
	for _, line := range lines {
		if locked || r.strict { // the hashes decide
			line = nameOf(line)
		}
		if err := r.addLine(line, false); err != nil {
			return fmt.Errorf("pyproject.toml: %.60q: %w", line, err)
		}
	}
	return nil
}

// nameOf is a requirement without its versions.
func nameOf(line string) string {
	m := requirementLine().FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return line
	}
	return m[1] + m[2] + m[4]
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
			if name == "python" {
				continue
			}
			extras := ""
			if options, is := value.(map[string]any); is {
				for _, key := range []string{"git", "path", "url", "file", "source"} {
					if options[key] != nil {
						return nil, fmt.Errorf("pyproject.toml: %.60q: not a package of the index", name)
					}
				}
				if optional, _ := options["optional"].(bool); optional {
					continue
				}
				if list, is := options["extras"].([]any); is {
					for _, one := range list {
						extras += fmt.Sprint(",", one)
					}
					extras = "[" + strings.TrimPrefix(extras, ",") + "]"
				}
			}
			all = append(all, name+extras)
		}
	}
	return all, nil
}

// addLock reads the lock file of a folder, if it has one: then only the files that it lists count.
func (r *requirements) addLock(read func(string) []byte, dir, index string) (bool, error) {
	type file struct {
		Hash string `toml:"hash"`
	}
	var lock struct {
		Package []struct {
			Name   string         `toml:"name"`
			Source map[string]any `toml:"source"`
			Wheels []file         `toml:"wheels"`
			Files  []file         `toml:"files"`
		} `toml:"package"`
		Metadata struct {
			Files map[string][]file `toml:"files"`
		} `toml:"metadata"`
	}
	for _, name := range []string{"uv.lock", "poetry.lock"} {
		data := read(path.Join(dir, name))
		if data == nil {
			continue
		}
		if toml.Unmarshal(data, &lock) != nil {
			return false, fmt.Errorf("%s is invalid", name)
		}
		r.files = append(r.files, path.Join(dir, name))
		for _, p := range lock.Package {
			registry, is := p.Source["registry"].(string)
			if is && !slices.Contains([]string{strings.TrimSuffix(index, "/"), publicIndex}, strings.TrimSuffix(registry, "/")) {
				return false, fmt.Errorf("%s: %.60q: %w", name, p.Name, errIndex)
			}
			for _, f := range slices.Concat(p.Wheels, p.Files, lock.Metadata.Files[p.Name]) {
				if sum, is := strings.CutPrefix(f.Hash, "sha256:"); is {
					r.pin(normalName(p.Name), sum)
				}
			}
		}
		r.strict = true
		return true, nil
	}
	return r.addPipfile(read, dir, index)
}

// addPipfile reads a Pipfile.lock.
func (r *requirements) addPipfile(read func(string) []byte, dir, index string) (bool, error) {
	type pinned map[string]struct {
		Version string   `json:"version"`
		Hashes  []string `json:"hashes"`
		Markers string   `json:"markers"`
	}
	var lock struct {
		Meta struct {
			Sources []struct{ URL string } `json:"sources"`
		} `json:"_meta"`
		Default, Develop pinned
	}
	data := read(path.Join(dir, "Pipfile.lock"))
	if data == nil || len(r.lines) > 0 {
		return false, nil
	}
	if json.Unmarshal(data, &lock) != nil {
		return false, errors.New("invalid Pipfile.lock")
	}
	for _, s := range lock.Meta.Sources {
		if !slices.Contains([]string{strings.TrimSuffix(index, "/"), publicIndex}, strings.TrimSuffix(s.URL, "/")) {
			return false, fmt.Errorf("in Pipfile.lock: %w", errIndex)
		}
	}
	r.files = append(r.files, path.Join(dir, "Pipfile.lock"))
	for _, list := range []pinned{lock.Default, lock.Develop} {
		for name, p := range list {
			line := name + p.Version
			if p.Markers != "" {
				line += " ; " + p.Markers
			}
			for _, h := range p.Hashes {
				line += " --hash=" + h
			}
			if err := r.addLine(line, false); err != nil {
				return false, fmt.Errorf("in Pipfile.lock: %.60q: %w", name, err)
			}
		}
	}
	slices.Sort(r.lines)
	r.strict = true
	return true, nil
}
