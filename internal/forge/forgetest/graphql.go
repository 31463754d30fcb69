package forgetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"github.com/precedent-dev/precedent/internal/needs"
)

// graphQLVariable names a copy of GitHub's schema; without it scripts/testforge.sh puts one into .tools.
const (
	// graphQLVariable names a copy of GitHub's schema; by default, scripts/testforge.sh puts one into .tools.
	graphQLVariable = "PRECEDENT_TEST_GRAPHQL"
	graphQLFile     = "forge/schema.graphql"
)

// graphQLSchema is GitHub's own schema of its GraphQL, read when the first query
// comes: it takes half a second, and several times that with the race detector.
var graphQLSchema = sync.OnceValues(func() (*ast.Schema, error) {
	data, err := os.ReadFile(needs.Path(graphQLVariable, graphQLFile))
	if err != nil {
		return nil, fmt.Errorf("read GitHub's GraphQL schema: %w", err)
	}
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "schema.graphql", Input: string(data)})
	if err != nil {
		return nil, fmt.Errorf("read GitHub's GraphQL schema: %w", err)
	}
	for _, d := range doc.Definitions { // GitHub defines a field twice, which GraphQL forbids
		seen := map[string]bool{}
		d.Fields = slices.DeleteFunc(d.Fields, func(f *ast.FieldDefinition) bool {
			again := seen[f.Name]
			seen[f.Name] = true
			return again
		})
	}
	schema, err := validator.ValidateSchemaDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("read GitHub's GraphQL schema: %w", err)
	}
	return schema, nil
})

// query is a valid GraphQL query.
type query struct {
	schema    *ast.Schema
	operation *ast.OperationDefinition
	variables map[string]any
}

// readQuery validates the body of a request.
func readQuery(body []byte) (*query, error) {
	var in struct {
		Query         string
		Variables     map[string]any
		OperationName string
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("read query: %w", err)
	}
	schema, err := graphQLSchema()
	if err != nil {
		return nil, err
	}
	doc, errs := gqlparser.LoadQueryWithRules(schema, in.Query, nil)
	if len(errs) > 0 {
		return nil, errs
	}
	op := doc.Operations.ForName(in.OperationName)
	if op == nil {
		return nil, errors.New("operation not found")
	}
	for name := range in.Variables {
		if op.VariableDefinitions.ForName(name) == nil {
			return nil, fmt.Errorf("the query has no variable $%s", name)
		}
	}
	values, err := validator.VariableValues(schema, op, in.Variables)
	if err != nil {
		return nil, err
	}
	return &query{schema, op, values}, nil
}

// graphError is the GraphQL error of a field.
type graphError struct {
	Kind    string // NOT_FOUND, FORBIDDEN, …
	Message string
}

// resolver computes a field, with the arguments of the query.
type resolver func(args map[string]any) (any, *graphError)

// answerer selects from a value what a query asks for.
type answerer struct {
	*query
	errors []object
	unsaid []string // fields that the value does not have: the fake's own gap
}

// pick applies a selection to an object, a list, or null.
func (a *answerer) pick(set ast.SelectionSet, value any, path []any) any {
	switch v := value.(type) {
	case []object:
		all := []any{}
		for i, item := range v {
			all = append(all, a.pick(set, item, append(path[:len(path):len(path)], i)))
		}
		return all
	case object:
		out := object{}
		a.fields(out, set, v, path)
		return out
	}
	return value
}

// fields applies a selection to one object, including fragments.
func (a *answerer) fields(out object, set ast.SelectionSet, of object, path []any) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.InlineFragment:
			if a.is(of, s.TypeCondition) {
				a.fields(out, s.SelectionSet, of, path)
			}
		case *ast.FragmentSpread:
			if a.is(of, s.Definition.TypeCondition) {
				a.fields(out, s.Definition.SelectionSet, of, path)
			}
		case *ast.Field:
			at := append(path[:len(path):len(path)], s.Alias)
			value, ok := of[s.Name]
			if !ok || len(s.Directives) > 0 {
				a.unsaid = append(a.unsaid, fmt.Sprint(of["__typename"], ".", s.Name))
			}
			if work, is := value.(resolver); is {
				var wrong *graphError
				if value, wrong = work(s.ArgumentMap(a.variables)); wrong != nil {
					value = nil
					a.errors = append(a.errors, object{
						"type": wrong.Kind, "path": at, "message": wrong.Message,
						"locations": []object{{"line": s.Position.Line, "column": s.Position.Column}},
					})
				}
			}
			out[s.Alias] = a.pick(s.SelectionSet, value, at)
		}
	}
}

// is reports whether an object has a type, or implements it.
func (a *answerer) is(of object, condition string) bool {
	name, _ := of["__typename"].(string)
	if name == condition || condition == "" {
		return true
	}
	for _, possible := range a.schema.PossibleTypes[condition] {
		if possible.Name == name {
			return true
		}
	}
	return false
}

// connection is a GraphQL list, paged as the query asks.
func connection(kind string, all []object) resolver {
	return func(args map[string]any) (any, *graphError) {
		number := func(name string) (int, bool) {
			if args[name] == nil {
				return 0, false
			}
			n, err := strconv.Atoi(fmt.Sprint(args[name]))
			return n, err == nil
		}
		first, ok := number("first")
		if _, last := number("last"); !ok || last || args["before"] != nil {
			return nil, &graphError{
				"MISSING_PAGINATION_BOUNDARIES",
				"You must provide a `first` or `last` value to properly paginate the connection.",
			}
		}
		if first < 1 || first > 100 {
			return nil, &graphError{
				"EXCESSIVE_PAGINATION",
				fmt.Sprintf("Requesting %d records on the connection exceeds the `first` limit of 100 records.", first),
			}
		}
		from := 0
		if after, _ := args["after"].(string); after != "" {
			plain, err := base64.StdEncoding.DecodeString(after)
			n, err2 := strconv.Atoi(strings.TrimPrefix(string(plain), "cursor:"))
			if err != nil || err2 != nil {
				return nil, &graphError{"INVALID_CURSOR_ARGUMENTS", fmt.Sprintf("`%s` does not appear to be a valid cursor.",
					after)}
			}
			from = min(n, len(all))
		}
		to := min(from+first, len(all))
		cursor := func(n int) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:%d", n)) }
		info := object{"__typename": "PageInfo", "hasNextPage": to < len(all), "endCursor": nil}
		if to > from {
			info["endCursor"] = cursor(to)
		}
		return object{"__typename": kind + "Connection", "pageInfo": info, "nodes": all[from:to]}, nil
	}
}

// graphQL answers a query. One that is not valid in the schema fails the test.
func (g *GitHub) graphQL(c *call) reply {
	q, err := readQuery(c.body)
	if err != nil {
		g.t.Errorf("GitHub's own schema refuses %.2000s: %v", c.body, err)
		return reply{status: http.StatusOK, body: object{"errors": []object{{"message": err.Error()}}}}
	}
	root := g.queries(c)
	if q.operation.Operation == ast.Mutation {
		root = g.mutations(c)
	}
	a := &answerer{query: q}
	data := a.pick(q.operation.SelectionSet, root, nil)
	if len(a.unsaid) > 0 {
		g.t.Errorf("the server of the tests does not know %s, which GitHub has", strings.Join(a.unsaid, ", "))
	}
	out := object{"data": data}
	if len(a.errors) > 0 {
		out["errors"] = a.errors
	}
	return reply{status: http.StatusOK, body: out}
}
