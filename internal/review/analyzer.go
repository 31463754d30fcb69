package review

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
)

// analyze runs an analyzer over the whole change, including files that no model is shown.
func (in *Input) analyze(ctx context.Context, a lint.Analyzer) Report {
	res := a.Run(ctx, &lint.Input{
		Change: in.Change, Tree: in.Tree, IsPolicyPath: guide.IsPolicyPath, OwnPolicy: in.OwnPolicy, Go: in.Go,
		Read:     func(path string) ([]byte, error) { return in.Read(precedent.Right, path) },
		Secrets:  in.secrets,
		Trusted:  in.Trusted,
		External: in.Linters,
	})
	for i := range res.Findings {
		res.Findings[i].Analyzer = true
	}
	return Report{
		Findings: res.Findings,
		Files:    res.Files, NotChecked: res.NotChecked,
		Run: precedent.FinderRun{Engine: precedent.AnalyzerEngine, Status: res.Status, Error: res.Error},
	}
}
