package main

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/settings"
)

// Keys of the settings that groups of commands have flags for.
var (
	memorySettings = []string{"memory_db", "repo"}
	// for measurements that use an engine only as judge
	judgeSettings = []string{"engine", "model", "context", "max_cost", "max_tokens", "timeout"}
)

// settingValues are the values that a shell completes, by key.
var settingValues = map[string][]cobra.Completion{
	"fail_on": {"critical", "high", "medium", "low", "nit", "none"},
	"engine":  {"none", "anthropic", "openai", "claude", "command:"},
}

func addSettings(cmd *cobra.Command, keys ...string) {
	addFlags(cmd, func(d settings.Def) bool { return slices.Contains(keys, d.Key) })
}

// data adds the flag --json and those of settings to a command that prints data.
func (a *app) data(cmd *cobra.Command, keys ...string) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print as JSON")
	addSettings(cmd, keys...)
	return cmd
}

// addAllSettings adds the flags of all settings of a review to a command, except some.
func addAllSettings(cmd *cobra.Command, but ...string) {
	addFlags(cmd, func(d settings.Def) bool { return !d.Server && !slices.Contains(but, d.Key) })
}

func addFlags(cmd *cobra.Command, has func(settings.Def) bool) {
	for _, d := range settings.All {
		if d.Flag == "" || !has(d) {
			continue
		}
		usage := d.Usage
		if d.Env != "" {
			usage += " (environment: " + d.Env + ")"
		}
		cmd.Flags().String(d.Flag, "", usage)
		if d.Default == "true" || d.Default == "false" {
			cmd.Flags().Lookup(d.Flag).NoOptDefVal = "true"
		}
		if values := settingValues[d.Key]; values != nil {
			_ = cmd.RegisterFlagCompletionFunc(d.Flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// settingFlags returns the flags of settings that were set on the command line.
func settingFlags(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, d := range settings.All {
		if f := cmd.Flag(d.Flag); f != nil && f.Changed {
			given[d.Flag] = f.Value.String()
		}
	}
	return given
}

func (a *app) settings(flags map[string]string) (*settings.Settings, error) {
	dir, err := a.workingDir()
	if err != nil {
		return nil, err
	}
	file := a.folder("XDG_CONFIG_HOME", ".config")
	if file != "" {
		file = filepath.Join(file, "config.yaml")
	}
	return settings.Read(settings.Sources{Flags: flags, Env: a.env, File: file, Dir: dir})
}

// folder returns this program's folder below one of the XDG base directories, whose specification says to ignore
// relative paths; empty if that is unknown.
func (a *app) folder(variable, below string) string {
	dir := a.env[variable]
	if !filepath.IsAbs(dir) {
		home := a.env["HOME"]
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, below)
	}
	return filepath.Join(dir, "precedent")
}
