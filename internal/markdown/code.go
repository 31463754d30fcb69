package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	source "github.com/yuin/goldmark/text"
)

// CodeBlock is a code block of a page.
type CodeBlock struct {
	Headings []string // above it, outermost first, as written
	Language string   // as its fence says, such as sh; may be empty
	Text     string
}

// CodeBlocks returns the code blocks of a page of Markdown, in order. Of each line it
// reads at most 400 bytes.
func CodeBlocks(page string) []CodeBlock {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line[:min(len(line), maxOutline)], "\r")
	}
	text := []byte(strings.Join(lines, "\n"))
	var all []CodeBlock
	var above []*ast.Heading
	_ = ast.Walk(outlines().Parse(source.NewReader(text)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := CodeBlock{}
		switch n := n.(type) {
		case *ast.Heading:
			for len(above) > 0 && above[len(above)-1].Level >= n.Level {
				above = above[:len(above)-1]
			}
			above = append(above, n)
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			block.Language = string(n.Language(text))
		case *ast.CodeBlock:
		default:
			return ast.WalkContinue, nil
		}
		for _, h := range above {
			block.Headings = append(block.Headings, strings.TrimSpace(string(h.Lines().Value(text))))
		}
		block.Text = string(n.Lines().Value(text))
		all = append(all, block)
		return ast.WalkSkipChildren, nil
	})
	return all
}
