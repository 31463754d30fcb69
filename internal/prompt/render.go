package prompt

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"text/template/parse"
)

// The templates of the material are those of text/template, with fields, with, range, if, and, or,
// not and fence. They are not run by it: it calls methods by name, and a program that does so is
// linked with all exported methods of all its types, which is a third of this program.

// templates are parsed once, on first use.
var templates = sync.OnceValue(func() map[string]*parse.Tree {
	known := map[string]any{"fence": true, "and": true, "or": true, "not": true}
	all := map[string]*parse.Tree{}
	for _, name := range []string{
		"common.md", "prefix.md", "suffix.md", "discussion.md", "claims.md", "pairs.md", "conversations.md",
		"conversation.md", "patterns.md", "fix_task.md", "merge_task.md",
	} {
		if _, err := parse.New(name).Parse(load(name), "", "", all, known); err != nil {
			panic(fmt.Sprintf("prompt: %v", err)) // the templates are part of the program and every test runs them
		}
	}
	return all
})

// execute renders a template, in which fence marks a block. It panics if data does not have the
// fields of the template.
func execute(name, nonce string, data any) string {
	r := rendering{name: name, nonce: nonce}
	r.list(templates()[name].Root, reflect.ValueOf(data))
	return r.b.String()
}

type rendering struct {
	name, nonce string
	b           strings.Builder
}

func (r *rendering) list(l *parse.ListNode, dot reflect.Value) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			r.b.Write(n.Text)
		case *parse.ActionNode:
			fmt.Fprint(&r.b, r.pipe(n.Pipe, dot))
		case *parse.IfNode:
			r.branch(&n.BranchNode, dot, dot)
		case *parse.WithNode:
			r.branch(&n.BranchNode, r.pipe(n.Pipe, dot), dot)
		case *parse.RangeNode:
			items := r.pipe(n.Pipe, dot)
			for i := range items.Len() {
				r.list(n.List, items.Index(i))
			}
		default:
			r.refuse(n)
		}
	}
}

// branch renders the list of a node with inner as its data if its pipe is not empty, and else the
// other one.
func (r *rendering) branch(n *parse.BranchNode, inner, dot reflect.Value) {
	if isTrue(r.pipe(n.Pipe, dot)) {
		r.list(n.List, inner)
	} else {
		r.list(n.ElseList, dot)
	}
}

func (r *rendering) pipe(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	if len(p.Cmds) != 1 || len(p.Decl) > 0 {
		r.refuse(p)
	}
	args := p.Cmds[0].Args
	function, ok := args[0].(*parse.IdentifierNode)
	if !ok {
		if len(args) != 1 {
			r.refuse(p)
		}
		return r.value(args[0], dot)
	}
	var values []reflect.Value
	for _, a := range args[1:] {
		values = append(values, r.value(a, dot))
	}
	return r.call(function, values)
}

// call calls a function. And and or return the value that decides, as in text/template.
func (r *rendering) call(function *parse.IdentifierNode, args []reflect.Value) reflect.Value {
	switch name := function.Ident; {
	case name == "fence" && len(args) == 2:
		return reflect.ValueOf(fence(r.nonce, args[0].String(), args[1].String()))
	case name == "not" && len(args) == 1:
		return reflect.ValueOf(!isTrue(args[0]))
	case (name == "and" || name == "or") && len(args) > 0:
		for _, a := range args {
			if isTrue(a) == (name == "or") {
				return a
			}
		}
		return args[len(args)-1]
	}
	r.refuse(function)
	return reflect.Value{}
}

func (r *rendering) value(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		if len(n.Ident) == 1 {
			if f := dot.FieldByName(n.Ident[0]); f.IsValid() {
				return f
			}
		}
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.PipeNode:
		return r.pipe(n, dot)
	}
	r.refuse(n)
	return reflect.Value{}
}

// refuse panics: the templates are part of the program and every test runs them.
func (r *rendering) refuse(n parse.Node) {
	panic(fmt.Sprintf("prompt: %s: cannot render %s", r.name, n))
}

// isTrue reports whether a value is not empty.
func isTrue(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() > 0
	}
	return !v.IsZero()
}
