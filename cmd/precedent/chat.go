package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxComments bounds the file of comments, in bytes.
const maxComments = 4 << 20

func newChat(a *app) *cobra.Command {
	var file string
	var thread, asJSON bool
	cmd := &cobra.Command{
		Use:    "chat [--file FILE]",
		Hidden: true,
		Short:  "Show which commands a comment has, without a forge",
		Long: `Chat reads comments and prints which commands each of them has, as precedent pr
and precedent reply would read them (docs/comments.md). Nothing is stored or posted.
Comments are separated by lines of three dashes. Without --file they are read from
standard input.`,
		Example: `  echo "@precedent remember this: errors are wrapped with %w" | precedent chat
  precedent chat --file comments.txt --thread`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in := a.in
			if file != "" && file != "-" {
				f, err := os.Open(file)
				if err != nil {
					return hinted(fmt.Errorf("read comments: %w", err), "give a file of comments, or pipe one in")
				}
				defer f.Close()
				in = f
			}
			data, err := io.ReadAll(io.LimitReader(in, maxComments+1))
			switch {
			case err != nil:
				return fmt.Errorf("read comments: %w", err)
			case len(data) > maxComments:
				return misuse(cmd, errors.New("read comments: more than 4 MiB"))
			}
			return a.printCommands(readComments(string(data), thread), asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the `file` with the comments")
	cmd.Flags().BoolVar(&thread, "thread", false, "read them as comments in the conversation about a finding")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// readComment is a comment with what it asks.
type readComment struct {
	Comment  string         `json:"comment"`
	Commands []readCommand  `json:"commands"`
	Refused  []readRefusals `json:"refused"`
}

type readCommand struct {
	Kind    chat.Kind  `json:"kind"`
	Scope   chat.Scope `json:"scope"`
	Content string     `json:"content"`
	Glob    string     `json:"glob"`
	Place   chat.Place `json:"place"`
}

type readRefusals struct {
	Reason  chat.Reason `json:"reason"`
	Why     string      `json:"why"`
	Example string      `json:"example"`
}

// readComments parses the comments of a file.
func readComments(data string, thread bool) []readComment {
	all := []readComment{}
	for _, body := range splitComments(data) {
		c := readComment{Comment: body, Commands: []readCommand{}, Refused: []readRefusals{}}
		commands, refusals := chat.Parse(precedent.Untrusted(body), chat.Options{InThread: thread})
		for _, o := range commands {
			c.Commands = append(c.Commands, readCommand{o.Kind, o.Scope, o.Content, o.Glob, o.Place})
		}
		for _, r := range refusals {
			c.Refused = append(c.Refused, readRefusals{r.Reason, r.Why, r.Example})
		}
		all = append(all, c)
	}
	return all
}

// printCommands prints what comments ask.
func (a *app) printCommands(all []readComment, asJSON bool) error {
	if asJSON {
		return report.Value(a.out, map[string]any{"comments": all})
	}
	p := a.page()
	for _, c := range all {
		p.Para("", p.Ink(report.Bold, shortened(c.Comment)))
		for _, o := range c.Commands {
			line := string(o.Kind)
			for _, more := range []struct{ name, value string }{{"scope", string(o.Scope)}, {"files", o.Glob}, {"place", string(o.Place)}} {
				if more.value != "" {
					line += ", " + more.name + " " + more.value
				}
			}
			if o.Content != "" && o.Kind != chat.FreeText {
				line += ": " + shortened(o.Content)
			}
			p.Para("  ", p.Ink(report.Plain, line))
		}
		for _, r := range c.Refused {
			p.Para("  ", p.Ink(report.Plain, "refused: "+r.Why+" For example: @precedent "+r.Example))
		}
		if len(c.Commands)+len(c.Refused) == 0 {
			p.Para("  ", p.Ink(report.Faint, "no command, and not addressed to the reviewer"))
		}
	}
	return p.Err()
}

// splitComments splits a file at lines of three dashes.
func splitComments(data string) []string {
	var all []string
	for _, body := range strings.Split("\n"+strings.ReplaceAll(data, "\r\n", "\n")+"\n", "\n---\n") {
		if strings.TrimSpace(body) != "" {
			all = append(all, strings.Trim(body, "\n"))
		}
	}
	return all
}

// shortened is a text on one line, for people.
func shortened(s string) string { return text.Cut(text.Collapse(text.VisibleLine(s)), 200) }
