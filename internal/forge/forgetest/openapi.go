package forgetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/precedent-dev/precedent/internal/needs"
)

// openAPIVariable names a copy of GitHub's description; without it scripts/testforge.sh puts one into .tools.
const (
	// openAPIVariable names a copy of GitHub's description; by default,
	// scripts/testforge.sh puts one into .tools.
	openAPIVariable = "PRECEDENT_TEST_OPENAPI"
	openAPIFile     = "forge/api.github.com.json"
)

// Judged reports whether this machine has what GitHub's server needs to check
// requests. If not, Stage.GitHub skips the test.
func Judged() bool {
	_, err1 := os.Stat(needs.Path(openAPIVariable, openAPIFile))
	_, err2 := os.Stat(needs.Path(graphQLVariable, graphQLFile))
	return err1 == nil && err2 == nil
}

// needJudges skips a test on a machine without GitHub's descriptions.
func needJudges(t testing.TB) {
	t.Helper()
	needs.File(t, openAPIVariable, openAPIFile, "GitHub's OpenAPI description")
	needs.File(t, graphQLVariable, graphQLFile, "GitHub's GraphQL schema")
}

// openAPI is GitHub's OpenAPI description. Loading all of it takes 2.4 s, and several times that with the
// race detector, so only the part for a path is loaded when the path is used.
type openAPI struct {
	Paths      map[string]json.RawMessage
	Components map[string]map[string]json.RawMessage

	parts  map[int][]template // paths by the number of their parts
	mu     sync.Mutex
	loaded map[string]*openapi3.T // by path
}

// template is a path of the description in parts.
type template struct {
	path  string
	parts []string // a parameter is empty
	names []string // of the parameters; empty for a literal part
}

var description = sync.OnceValues(func() (*openAPI, error) {
	data, err := os.ReadFile(needs.Path(openAPIVariable, openAPIFile))
	if err != nil {
		return nil, fmt.Errorf("read GitHub's OpenAPI description: %w", err)
	}
	all := &openAPI{loaded: map[string]*openapi3.T{}}
	if err := json.Unmarshal(data, all); err != nil {
		return nil, fmt.Errorf("read GitHub's OpenAPI description: %w", err)
	}
	if len(all.Paths) < 500 { // it had 760 in 2026
		return nil, errors.New("read GitHub's OpenAPI description: it is not whole")
	}
	all.parts = map[int][]template{}
	for path := range all.Paths {
		t := template{path: path, parts: strings.Split(path, "/")}
		t.names = make([]string, len(t.parts))
		for i, part := range t.parts {
			if strings.HasPrefix(part, "{") {
				t.parts[i], t.names[i] = "", strings.Trim(part, "{}")
			}
		}
		all.parts[len(t.parts)] = append(all.parts[len(t.parts)], t)
	}
	return all, nil
})

// reference is where one part of the description names another.
var reference = regexp.MustCompile(`"\$ref":\s*"#/components/([^/"]+)/([^"]+)"`)

// load loads a path and everything that it references.
func (o *openAPI) load(path string) (*openapi3.T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if doc, ok := o.loaded[path]; ok {
		return doc, nil
	}
	needed := map[string]map[string]json.RawMessage{}
	for open := []json.RawMessage{o.Paths[path]}; len(open) > 0; open = open[1:] {
		for _, ref := range reference.FindAllSubmatch(open[0], -1) {
			kind, name := string(ref[1]), string(ref[2])
			if needed[kind] == nil {
				needed[kind] = map[string]json.RawMessage{}
			}
			if _, ok := needed[kind][name]; !ok {
				needed[kind][name] = o.Components[kind][name]
				open = append(open, o.Components[kind][name])
			}
		}
	}
	part, err := json.Marshal(object{
		"openapi": "3.0.3", "info": object{"title": "GitHub", "version": "1"},
		"paths": object{path: o.Paths[path]}, "components": needed,
	})
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(part)
	if err != nil {
		return nil, fmt.Errorf("load %s of GitHub's OpenAPI description: %w", path, err)
	}
	o.loaded[path] = doc
	return doc, nil
}

// route finds the operation of a request: among matches, the path with the most literal parts. The routers of
// kin-openapi reject the description, in which paths differ only in parameter names.
func (o *openAPI) route(method, path string) (*routers.Route, map[string]string, error) {
	parts := strings.Split(path, "/")
	best, params := "", map[string]string{}
	for _, t := range o.parts[len(parts)] {
		values, fits := map[string]string{}, true
		for i, part := range parts {
			if name := t.names[i]; name != "" && part != "" {
				values[name] = part
			} else if part != t.parts[i] || name != "" {
				fits = false
				break
			}
		}
		if fits && (best == "" || len(values) < len(params)) {
			best, params = t.path, values
		}
	}
	if best == "" {
		return nil, nil, errors.New("path not found")
	}
	doc, err := o.load(best)
	if err != nil {
		return nil, nil, err
	}
	item := doc.Paths.Value(best)
	operation := item.GetOperation(method)
	if operation == nil {
		return nil, nil, errors.New("operation not found")
	}
	return &routers.Route{Spec: doc, Path: best, PathItem: item, Method: method, Operation: operation}, params, nil
}

// judge validates a request. path is below the root of the API.
func (o *openAPI) judge(ctx context.Context, r *http.Request, path string) error {
	route, params, err := o.route(r.Method, path)
	if err != nil {
		return err
	}
	query := map[string]bool{}
	for _, p := range append(route.PathItem.Parameters, route.Operation.Parameters...) {
		query[p.Value.Name] = p.Value.In == openapi3.ParameterInQuery
	}
	for name := range r.URL.Query() {
		if !query[name] {
			return fmt.Errorf("%s knows no parameter %q", route.Path, name)
		}
	}
	public := r.Clone(ctx)
	public.URL = &url.URL{Scheme: "https", Host: "api.github.com", Path: path, RawQuery: r.URL.RawQuery}
	return openapi3filter.ValidateRequest(ctx, &openapi3filter.RequestValidationInput{
		Request: public, PathParams: params, Route: route,
	})
}

// Example returns the example answer of the given name in the description.
func Example(t testing.TB, name string) []byte {
	t.Helper()
	needJudges(t)
	var example struct{ Value json.RawMessage }
	o, err := description()
	if err == nil {
		err = json.Unmarshal(o.Components["examples"][name], &example)
	}
	if err != nil {
		t.Fatalf("example %s: %v", name, err)
	}
	return example.Value
}
