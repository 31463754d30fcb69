package main

import (
	"path/filepath"
	"testing"
)

// TestNotes: the notes of this repository make a section.
func TestNotes(t *testing.T) {
	if _, _, err := section(filepath.Join("..", "..", "changes")); err != nil {
		t.Error(err)
	}
}
