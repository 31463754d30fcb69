package store

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// unscoped are the tables without rows of one repository, with the reason.
var unscoped = map[string]string{
	"repos":          "a row is a repository",
	"identities":     "looked up by name, to find the repository",
	"sqlite_schema":  "the tables themselves",
	"schema_version": "one for the whole database",
	"deliveries":     "what forges sent to the server, without contents",
	"work":           "the list of work of the server, over all repositories, without contents",
	"work_turns":     "how many executions of jobs there were",
	"river_job":      "what River keeps of the jobs of the server",
	"replicas":       "the processes of the server",
	"server_values":  "of the server itself",
	"sessions":       "who is signed in to the server",
	"last_commits":   "that transactions were committed",
}

// TestEveryStatementNamesItsRepository reads this package's sources: a statement about memory
// without the repository in its condition would read or change another one's rows. "Row-level
// repo_id in every query" (T16).
func TestEveryStatementNamesItsRepository(t *testing.T) {
	files := needs.Value(filepath.Glob("*.go"))(t)
	fset := token.NewFileSet()
	var parsed []*ast.File
	consts := map[string]ast.Expr{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f := needs.Value(parser.ParseFile(fset, file, nil, 0))(t)
		parsed = append(parsed, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					consts[name.Name] = v.Values[i]
				}
			}
			return true
		})
	}
	seen := 0
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			sql, ok := constant(e, consts)
			if !ok {
				return true
			}
			refs, problems := audit(sql)
			seen += refs
			for _, p := range problems {
				t.Errorf("%s: %s in %s", fset.Position(n.Pos()), p, sql)
			}
			return false
		})
	}
	if seen < 100 {
		t.Errorf("only %d tables were found in statements: the test no longer reads what it should", seen)
	}
}

var (
	tableRef = regexp.MustCompile(`\b(FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)(?:\s+(?:AS\s+)?([a-z]+)\b)?`)
	columns  = regexp.MustCompile(`INTO ([a-z_]+)\s*\(([^)]*)\)`)
	plain    = regexp.MustCompile(`(?:^|[^a-z.])repo_id = \$\d`)
	setRepo  = regexp.MustCompile(`SET\s+repo_id = \$\d`)
	verbs    = regexp.MustCompile(`%(\[\d\])?s`)
)

// audit returns how many tables of memory a statement, or a part of one, names, and which of
// them are not bound to a repository.
func audit(sql string) (refs int, problems []string) {
	sql = verbs.ReplaceAllString(sql, "spending") // the tables that a statement is made for
	with := map[string]bool{}
	for _, m := range columns.FindAllStringSubmatch(sql, -1) {
		with[m[1]] = strings.Contains(m[2], "repo_id")
	}
	bare := 0
	for _, m := range tableRef.FindAllStringSubmatch(sql, -1) {
		verb, table, alias := m[1], m[2], m[3]
		if unscoped[table] != "" || strings.HasPrefix(table, "pg_") || strings.HasPrefix(table, "pragma_") {
			continue
		}
		refs++
		switch {
		case verb == "INTO":
			if !with[table] {
				problems = append(problems, table+" gets a row without a repository")
			}
		case alias == "":
			bare++
			if regexp.MustCompile(`\b` + table + `\.repo_id = `).MatchString(sql) {
				bare--
			}
		case !regexp.MustCompile(`\b` + alias + `\.repo_id (= \$\d|= [a-z]+\.repo_id|IN \(\$1, \$2\))`).MatchString(sql):
			problems = append(problems, fmt.Sprintf("no repository for %s %s", table, alias))
		case !regexp.MustCompile(`repo_id = \$\d`).MatchString(sql):
			problems = append(problems, "the repository of "+table+" is only compared with another column")
		}
	}
	if n := len(plain.FindAllString(sql, -1)) - len(setRepo.FindAllString(sql, -1)); bare > n {
		problems = append(problems, fmt.Sprintf("%d tables, and %d conditions on the repository", bare, n))
	}
	return refs, slices.Compact(problems)
}

// constant is the text of an expression of strings; what is not constant is a ?.
func constant(e ast.Expr, consts map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		return constant(e.X, consts)
	case *ast.Ident:
		if value, ok := consts[e.Name]; ok {
			return constant(value, consts)
		}
	case *ast.BinaryExpr:
		x, left := constant(e.X, consts)
		y, right := constant(e.Y, consts)
		if e.Op != token.ADD || !left && !right {
			return "", false
		}
		if !left {
			x = "?"
		}
		if !right {
			y = "?"
		}
		return x + y, true
	}
	return "", false
}
