package text

import (
	"strings"
	"unicode/utf8"
)

// Closest returns the known word within two edits; empty if there is none.
func Closest(s string, known []string) string {
	best, distance := "", 3
	if utf8.RuneCountInString(s) <= 40 {
		for _, k := range known {
			if d := edits(strings.ToLower(s), k); d < distance {
				best, distance = k, d
			}
		}
	}
	return best
}

// edits returns how many characters to insert, delete or replace to turn one word into another.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}
