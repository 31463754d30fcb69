package fixround

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// Answer is what the engine says about its change. It proves nothing.
type Answer struct {
	Addressed []Addressed
	Summary   string
	// Refused is why there is no answer, although the engine could be asked: it refused, or did not
	// come to an end. Empty if there is one.
	Refused string
	// Malformed is why the engine's answers were not in the required format, also after requests that named the error.
	// It says something about the engine and nothing about the change. Empty if there is an answer.
	Malformed string
}

// Addressed is a thread that the engine says it addressed.
type Addressed struct {
	Thread string `json:"thread"` // as in the prompt
	How    string `json:"how"`
}

// maxWords bounds what an engine says, in characters.
const maxWords = 1_000

// Fix has the engine change the copy so that threads are addressed.
func Fix(ctx context.Context, e engine.Engine, c *Copy, in prompt.FixInput, timeout time.Duration) (Answer, error) {
	var said struct {
		Addressed []Addressed `json:"threads_addressed"`
		Summary   string      `json:"summary"`
	}
	a, err := c.ask(ctx, e, engine.Fixer, prompt.Fix(in), timeout, &said)
	a.Summary = text.Cut(said.Summary, maxWords)
	for _, one := range said.Addressed {
		known := slices.ContainsFunc(in.Threads, func(t prompt.Conversation) bool { return t.ID == one.Thread })
		twice := slices.ContainsFunc(a.Addressed, func(o Addressed) bool { return o.Thread == one.Thread })
		if known && !twice {
			a.Addressed = append(a.Addressed, Addressed{one.Thread, text.Cut(one.How, maxWords)})
		}
	}
	return a, err
}

// Resolve has the engine resolve the conflicts of a merge of theirs into ours in the files of the copy.
func Resolve(ctx context.Context, e engine.Engine, c *Copy, ours, theirs string, paths []string,
	timeout time.Duration,
) (Answer, error) {
	var said struct {
		Summary string `json:"summary"`
	}
	a, err := c.ask(ctx, e, engine.Merger, prompt.Merge(ours, theirs, paths), timeout, &said)
	a.Summary = text.Cut(said.Summary, maxWords)
	return a, err
}

// ask sends a task. The answer that it returns says only why the engine gave none that is usable. That it could not be
// asked is an error.
func (c *Copy) ask(ctx context.Context, e engine.Engine, role engine.Role, p prompt.Prompt, timeout time.Duration,
	said any,
) (Answer, error) {
	answer, err := e.Run(ctx, engine.Task{
		Role: role, Name: string(role), System: p.System, Common: p.Common, Prefix: p.Prefix, Prompt: p.Suffix,
		Schema: prompt.Schema(string(role)), Tree: c.Dir, Edit: true, Timeout: timeout,
	})
	if err != nil {
		return Answer{}, err
	}
	switch answer.Status {
	case precedent.StatusOK:
	case precedent.StatusMalformed:
		return Answer{Malformed: cmp.Or(text.VisibleLine(answer.Message), "no reason was given")}, nil
	case precedent.StatusRefused, precedent.StatusTruncated:
		return Answer{Refused: fmt.Sprintf("the model gave no usable answer (%s)", answer.Status)}, nil
	default:
		return Answer{}, fmt.Errorf("ask the engine to edit: %s: %s", answer.Status, text.VisibleLine(answer.Message))
	}
	if err := json.Unmarshal(answer.JSON, said); err != nil {
		return Answer{}, fmt.Errorf("read the engine's answer: %w", err)
	}
	return Answer{}, nil
}
