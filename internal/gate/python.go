package gate

import (
	"context"
	"errors"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// wheelsAt is where a sandbox has what Python needs: the wheels, and site with what they hold.
const wheelsAt = "/dependencies/python"

// pipInstall gets wheels, never sources, which would have to be built by running them, and unpacks
// them. What a wheel holds does not run.
const pipInstall = `pip() { python3 -m pip --isolated --disable-pip-version-check --no-input -q "$@" >&2; }
mkdir -p /tmp/out/wheels /tmp/out/site
pip download --no-cache-dir --only-binary :all: --index-url ` + registryIs + `/simple/ --dest /tmp/out/wheels \
	-r requirements.txt
if test -n "$(ls /tmp/out/wheels)"; then
	pip install --no-index --no-deps --no-compile --target /tmp/out/site /tmp/out/wheels/*.whl
fi
cd /tmp/out && exec tar -cf - wheels site
`

// fetchPython prepares the wheels that the files of the outermost folder ask for: requirements*.txt and
// pyproject.toml, Pipfile.lock, and the hashes of uv.lock and poetry.lock. There is one set of packages in a
// sandbox, so that those of other folders are missing.
func (s *session) fetchPython(ctx context.Context, l language) []dependencies {
	found := s.find(l.files...)
	dir := shortest(found)
	d := l.in(dir)
	kept, c, err := s.fetchWheels(ctx, dir)
	switch {
	case err != nil:
		d.fail(err)
	case kept != "":
		d.say("wheels", c)
		d.mounts = []sandbox.Mount{{Source: kept, Target: wheelsAt}}
		d.path = wheelsAt + "/site/bin"
		d.env = []string{"PIP_FIND_LINKS=" + wheelsAt + "/wheels", "UV_FIND_LINKS=" + wheelsAt + "/wheels"}
	case c.differs:
		d.say("nothing", c)
	}
	own := dir // as an installation for development has it
	if s.exists(path.Join(dir, "src")) {
		own = path.Join(dir, "src")
	}
	d.env = append(d.env, "PYTHONPATH="+wheelsAt+"/site:"+path.Join(sandbox.Work, own), "UV_NO_SYNC=1",
		"UV_NO_INDEX=1", "UV_PYTHON_DOWNLOADS=never", "POETRY_VIRTUALENVS_CREATE=false")
	all := []dependencies{d}
	for _, name := range l.files { // in order, so that it is always the same one that is named
		dirs := found[name]
		if i := slices.IndexFunc(dirs, func(other string) bool { return other != dir }); i >= 0 && len(all) == 1 {
			other := l.in(dirs[i])
			other.fail(errors.New("only one folder with packages of Python is supported"))
			all = append(all, other)
		}
	}
	return all
}

// fetchWheels returns the kept folder with the wheels of a folder; none if it needs none.
func (s *session) fetchWheels(ctx context.Context, dir string) (string, choice, error) {
	names := append([]string{"pyproject.toml", "uv.lock", "poetry.lock", "Pipfile.lock"}, requirementFiles...)
	for i, name := range names {
		names[i] = path.Join(dir, name)
	}
	c := s.choose(names...)
	wanted, err := readPython(c.read, dir, s.PythonIndex)
	if err != nil || len(wanted.lines) == 0 {
		return "", c, err
	}
	if err := s.mayFetch(s.PythonIndex); err != nil {
		return "", c, err
	}
	if !c.differs && c.trust == Base { // a file that another one includes
		c.differs = slices.ContainsFunc(wanted.files,
			func(name string) bool { return string(s.head(name)) != string(s.atBase(name)) })
	}
	r := managerRun{
		files: map[string][]byte{
			"requirements.txt": wanted.text(), "constraints.txt": []byte(strings.Join(wanted.constraints, "\n")),
		},
		program: "python3", script: pipInstall,
		serve: func(f *fetcher) http.Handler { return newWheelIndex(f, s.PythonIndex, wanted.locked) },
	}
	kept, err := s.keepInstalled(ctx, c.trust, []string{"python", s.PythonIndex, s.python(), wanted.locked}, r)
	return kept, c, err
}

// python is the program that runs as python3 in a sandbox, whose version decides which wheels fit.
func (s *session) python() string {
	if t, ok := s.tool("python"); ok {
		name, _ := filepath.EvalSymlinks(filepath.Join(t.root, "bin", "python3"))
		return name
	}
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		if name, err := filepath.EvalSymlinks(dir + "/python3"); err == nil {
			return name
		}
	}
	return ""
}
