package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

func checkEngine(s string) error {
	path, ok := strings.CutPrefix(s, "command:")
	if s == noEngine || s == claudeEngine || keyOf[s] != "" || ok && strings.TrimSpace(path) != "" {
		return nil
	}
	return fmt.Errorf("no engine %q: want %s, %s, %s, command:PATH or %s", s, anthropicEngine, openAIEngine, claudeEngine, noEngine)
}

func checkRepo(s string) error {
	_, err := precedent.ParseRepo(s)
	return err
}

func checkPercent(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 0 || n > 100 {
		return fmt.Errorf("%q is no percentage from 0 to 100", s)
	}
	return nil
}

func checkPositive(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1 {
		return fmt.Errorf("%q is no number from 1", s)
	}
	return nil
}

// checkContext knows the smallest window that holds a prompt with a part of a
// change, and one beyond the largest that models have.
func checkContext(s string) error { return checkBetween(s, 4_000, 10_000_000, "tokens") }

func checkConcurrency(s string) error { return checkBetween(s, 1, 64, "requests") }

func checkBetween(s string, least, most int, noun string) error {
	if n, err := strconv.Atoi(s); err != nil || n < least || n > most {
		return fmt.Errorf("%q is no number of %s from %d to %d", s, noun, least, most)
	}
	return nil
}

func checkSeverity(s string) error {
	if !slices.Contains(precedent.Severities, precedent.Severity(s)) {
		return fmt.Errorf("no severity %q: want critical, high, medium, low or nit", s)
	}
	return nil
}

func checkDuration(s string) error {
	if d, err := time.ParseDuration(s); err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration such as 90s or 10m", s)
	}
	return nil
}
