package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/mcp"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// mcpTokenVariable has the token of clients over HTTP.
const mcpTokenVariable = "PRECEDENT_MCP_TOKEN"

// minToken is the least length of a token, in bytes: what openssl rand -hex 8 prints.
const minToken = 16

func newMCP(a *app) *cobra.Command {
	var write bool
	var address, learnings string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory of this repository to agents",
		Long: `Mcp serves the memory of the repository around the working folder as tools of the
Model Context Protocol, on standard input and output. Agents can ask for learnings,
findings, dismissals, threads, what people said in reviews, and an overview. They get
no code, and change nothing.

--write lets them propose learnings, too. A proposal changes no review until a
person approves it: precedent learn approve.

--http serves on an address of this machine instead. Clients need the token in
` + mcpTokenVariable + `; without one, mcp makes one and prints it.`,
		Example: `  claude mcp add reviews -- precedent mcp
  precedent mcp --http 127.0.0.1:7900`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := mcp.Options{Version: thisBuild().Version, Log: slog.New(notices{a})}
			if learnings != "" {
				return a.serveLearnings(cmd.Context(), learnings, o)
			}
			flags := settingFlags(cmd)
			w, err := a.openWorkspace(cmd.Context(), flags)
			if err != nil {
				return err // now, not in the first call
			}
			w.Close()
			if write {
				o.Propose = func(ctx context.Context, p memory.Proposal) (memory.Captured, error) {
					w, err := a.openWorkspace(ctx, flags)
					if err != nil {
						return memory.Captured{}, err
					}
					defer w.Close()
					return a.workflow().LearnFromAgent(ctx, w, p)
				}
			}
			searcher := a.workflow()
			o.Search = func(ctx context.Context, q workspace.CorpusQuery) (workspace.CorpusResult, error) {
				w, err := a.openWorkspace(ctx, flags)
				if err != nil {
					return workspace.CorpusResult{}, err
				}
				defer w.Close()
				if q.File != "" && w.Git != nil {
					q.File = filepath.Join(w.Git.Top(), filepath.FromSlash(q.File))
				}
				return searcher.SearchCorpus(ctx, w, q)
			}
			s := mcp.New(func(ctx context.Context) (*memory.Memory, func(), error) {
				w, err := a.openWorkspace(ctx, flags)
				if err != nil {
					return nil, nil, err
				}
				return w.Memory, w.Close, nil
			}, o)
			if address == "" {
				return s.ServeIO(cmd.Context(), a.in, a.out)
			}
			return a.serveHTTP(cmd, s, address)
		},
	}
	cmd.Flags().BoolVar(&write, "write", false,
		"let agents propose learnings, which a person must approve, and take proposals back")
	cmd.Flags().StringVar(&address, "http", "", "serve on this `address` of this machine, such as 127.0.0.1:7900")
	cmd.Flags().StringVar(&learnings, "learnings", "", "serve only the learnings of a `file`")
	_ = cmd.Flags().MarkHidden("learnings") // for the engine claude
	addSettings(cmd, memorySettings...)
	return cmd
}

// serveLearnings serves the learnings that a review wrote into a file.
func (a *app) serveLearnings(ctx context.Context, file string, o mcp.Options) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read learnings: %w", err)
	}
	var all []precedent.Learning
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("read learnings of %s: %w", file, err)
	}
	return mcp.NewReview(all, o).ServeIO(ctx, a.in, a.out)
}

// serveHTTP serves on an address, which must be of this machine only.
func (a *app) serveHTTP(cmd *cobra.Command, s *mcp.Server, address string) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return misuse(cmd, fmt.Errorf("--http %s: want a loopback address with a port, such as 127.0.0.1:7900", address))
	}
	token := a.env[mcpTokenVariable]
	switch {
	case token == "":
		token = rand.Text()
		fmt.Fprintf(a.err, "token: %s\n", token)
	case len(token) < minToken:
		return hinted(errors.New(mcpTokenVariable+" is too short"), "make one with: openssl rand -hex 32")
	}
	l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", address)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	a.notice("serving http://%s/mcp", l.Addr())
	return s.ServeHTTP(cmd.Context(), l, token)
}
