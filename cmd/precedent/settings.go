package main

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/settings"
)

// The settings that commands have flags for, by their keys.
var (
	memorySettings = []string{"memory_db", "repo"}
	judgeSettings  = []string{"engine", "model", "context", "max_cost", "max_tokens", "timeout"} // of a measurement that asks an engine as judge alone
)

// addSettings gives a command the flags of settings.
func addSettings(cmd *cobra.Command, keys ...string) {
	for _, d := range settings.All {
		if d.Flag != "" && slices.Contains(keys, d.Key) {
			addSetting(cmd, d)
		}
	}
}

// addAllSettings gives a command the flags of all settings but some.
func addAllSettings(cmd *cobra.Command, but ...string) {
	for _, d := range settings.All {
		if d.Flag != "" && !slices.Contains(but, d.Key) {
			addSetting(cmd, d)
		}
	}
}

func addSetting(cmd *cobra.Command, d settings.Def) {
	usage := d.Usage
	if d.Env != "" {
		usage += " (environment: " + d.Env + ")"
	}
	cmd.Flags().String(d.Flag, "", usage)
}

// settingFlags returns the settings' flags that were given.
func settingFlags(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, d := range settings.All {
		if f := cmd.Flag(d.Flag); f != nil && f.Changed {
			given[d.Flag] = f.Value.String()
		}
	}
	return given
}

// settings reads the settings, with the flags that were given.
func (a *app) settings(flags map[string]string) (*settings.Settings, error) {
	dir, err := a.workingDir()
	if err != nil {
		return nil, err
	}
	return settings.Read(settings.Sources{Flags: flags, Env: a.env, File: a.xdg("XDG_CONFIG_HOME", ".config", "config.yaml"), Dir: dir})
}

// xdg is a path in one of the folders of the XDG specification, which says
// that relative ones are to be ignored; empty if the folder is not known.
func (a *app) xdg(variable, below, name string) string {
	dir := a.env[variable]
	if !filepath.IsAbs(dir) {
		home := a.env["HOME"]
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, below)
	}
	return filepath.Join(dir, "precedent", name)
}
