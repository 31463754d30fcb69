package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// comparison is what a judge says of one pair.
type comparison struct {
	Pair  string `json:"pair"`
	Same  bool   `json:"same"`
	Quote string `json:"quote"`
}

// stands tells whether the words that are given as proof are in one of the
// texts; no words prove nothing.
func (c comparison) stands(texts ...string) bool {
	quote := strings.Trim(text.Squeeze(c.Quote), "\"'`.…")
	return quote != "" && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(text.Squeeze(text.Clean(t)), quote) })
}

// compared is what became of a request to a judge.
type compared struct {
	said    map[int]comparison // by the pair's index
	status  precedent.Status   // ok if every pair has an answer
	message string
	spent   Spent
}

func pairID(i int) string { return fmt.Sprintf("p%d", i+1) }

// compare asks a judge about n pairs. The error is that of a cancelled context.
func (v Reviewer) compare(ctx context.Context, name string, p prompt.Prompt, n int) (compared, error) {
	a, err := v.Engine.Run(ctx, engine.Task{
		Role: engine.Judge, Name: name, System: p.System, Common: p.Common, Prefix: p.Prefix, Prompt: p.Suffix,
		Schema: prompt.Schema(string(engine.Judge)), Timeout: v.Timeout,
	})
	out := compared{said: map[int]comparison{}, status: a.Status, message: a.Message, spent: Spent{a.Usage, a.CostUSD}}
	var answer struct {
		Pairs []comparison `json:"pairs"`
	}
	if err == nil && a.Status == precedent.StatusOK {
		err = json.Unmarshal(a.JSON, &answer)
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.status, out.message = precedent.StatusError, err.Error()
		return out, nil //nolint:nilerr // trouble of the engine is a value
	}
	for i := range n {
		if at := slices.IndexFunc(answer.Pairs, func(c comparison) bool { return c.Pair == pairID(i) }); at >= 0 {
			out.said[i] = answer.Pairs[at]
		}
	}
	if missing := n - len(out.said); missing > 0 && out.status == precedent.StatusOK {
		out.status, out.message = precedent.StatusMalformed, fmt.Sprintf("%d of %d pairs have no answer", missing, n)
	}
	return out, nil
}
