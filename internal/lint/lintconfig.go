package lint

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/precedent-dev/precedent/internal/text"
)

// Configuration can name other files of the repository that it extends. They are
// configuration, too, as are those that they name. How they are named differs between
// linters, so they are found by the text of the trusted files: in code every relative
// path counts, in data every path after one of these words.
var inheritWords = []string{
	"extends", "extend", "inherit", "inherits", "inherit_from", "require", "requires", "plugin", "plugins", "load-plugins",
	"load_plugins", "parser", "processor",
	"rules", "rulesdir", "rulepaths", "customrules", "custom-rules", "config", "configs", "ignore-from-file",
	"template-path",
}

// Limits on the search.
const (
	mostConfigs     = 1000
	mostConfigBytes = 1 << 20
	mostNamed       = 5000 // paths in one file
)

var errConfigs = errors.New("its configuration is too large")

// configSearch finds the configuration files of the trusted commit.
type configSearch struct {
	tree    *lintTree
	dir     string          // copy of the head
	have    map[string]bool // files of the head and the trusted commit
	changed map[string]bool // files that differ between them
	found   map[string]bool // configuration files
	queue   []string
}

// findConfigs returns the configuration files, and those that they extend, by their paths
// in the trusted commit and in the head. dir is a copy of the head.
func (t *lintTree) findConfigs(dir string) (map[string]bool, error) {
	s := &configSearch{tree: t, dir: dir, have: map[string]bool{}, changed: map[string]bool{}, found: map[string]bool{}}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		s.have[filepath.ToSlash(rel)] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range t.differing {
		s.have[name], s.changed[name] = true, true
	}
	for name := range s.have {
		if matches(t.globs, name) {
			s.add(name)
		} else if s.changed[name] && slices.Contains(strings.Split(name, "/"), "node_modules") { // named without a path
			s.found[name] = true
		}
	}
	for n := 0; len(s.queue) > 0; n++ {
		if n == mostConfigs {
			return nil, errConfigs
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		if err := s.read(next); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

func (s *configSearch) add(name string) {
	if !s.found[name] {
		s.found[name] = true
		s.queue = append(s.queue, name)
	}
}

// read finds the files that a file of the trusted commit names.
func (s *configSearch) read(name string) error {
	var data []byte
	if s.changed[name] {
		var err error
		if data, err = s.tree.in.Trusted.Read(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else {
		data = readInTree(s.dir, name)
	}
	if len(data) > mostConfigBytes {
		return errConfigs
	}
	var all []namedPath
	if matches(codeFiles, name) {
		all = namedInCode(string(data))
	} else {
		all = namedInData(string(data), path.Base(name) == "package.json")
	}
	if len(all) > mostNamed {
		return errConfigs
	}
	for _, n := range all {
		s.resolve(path.Dir(name), n)
	}
	return nil
}

// namedPath is what may be a path in a configuration file.
type namedPath struct {
	text string
	sure bool // it can name a file that linters check; otherwise it may be one of a list of these
}

// resolve adds the files that a path in a folder can mean.
func (s *configSearch) resolve(dir string, n namedPath) {
	text := n.text
	if strings.HasPrefix(text, "${") { // a variable for the folder
		_, text, _ = strings.Cut(text, "}/")
	}
	if text == "" || path.IsAbs(text) {
		return
	}
	add := func(name string) {
		if s.have[name] && (n.sure || !matches(s.tree.sources, name)) {
			s.add(name)
		}
	}
	for _, from := range []string{dir, "."} {
		whole := path.Join(from, text)
		if strings.ContainsAny(text, "*?[{") {
			for name := range s.changed {
				if ok, err := doublestar.Match(whole, name); ok && err == nil {
					add(name)
				}
			}
			continue
		}
		add(whole)
		for _, ext := range []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json", ".yml", ".yaml", ".toml"} {
			add(whole + ext)
			add(whole + "/index" + ext)
		}
		add(whole + "/package.json")
		add(whole + "/tsconfig.json")
		module := path.Join(from, strings.ReplaceAll(text, ".", "/"))
		add(module + ".py")
		add(module + "/__init__.py")
	}
}

var codeFiles = []string{"*.{js,cjs,mjs,ts,cts,mts,py,rb}", ".rubocop"}

var (
	quoted = text.Pattern("\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`")
	joins  = text.Pattern(`\b(join|resolve)\(`)
	// wordInData is a value in quotes, or one without, and whether a colon or an equals
	// sign makes it a key.
	wordInData = text.Pattern(`(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"',\[\](){}=:;|]+))(\s*[:=])?`)
)

// namedInCode returns the paths in a program: in quotes, or the parts of one, which a
// function joins.
func namedInCode(code string) (all []namedPath) {
	for line := range strings.Lines(code) {
		var words []string
		for _, m := range quoted().FindAllStringSubmatch(line, -1) {
			words = append(words, m[1]+m[2]+m[3])
		}
		for i, w := range words {
			all = append(all, namedPath{w, strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../")})
			for j := i + 2; j <= min(len(words), i+4) && joins().MatchString(line); j++ {
				all = append(all, namedPath{strings.Join(words[i:j], "/"), true})
			}
		}
	}
	return all
}

// namedInData returns the values after a word of inheritWords in JSON, YAML, TOML or INI.
// In the description of a package, require names its programs.
func namedInData(data string, ofPackage bool) (all []namedPath) {
	key := ""
	for _, m := range wordInData().FindAllStringSubmatch(data, -1) {
		word := m[1] + m[2] + m[3]
		if m[4] != "" {
			key = strings.ToLower(word[strings.LastIndexByte(word, '.')+1:])
		} else if slices.Contains(inheritWords, key) && (!ofPackage || key != "require") {
			all = append(all, namedPath{word, true})
		}
	}
	return all
}
