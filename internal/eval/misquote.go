package eval

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// How often a model's line number is off, and by how much, in percent.
var numberShares = []share[numberSlip]{{rightNumber, 55}, {nearNumber, 25}, {farNumber, 12}, {anyNumber, 8}}

// How often a model's quote is off, and how, in percent.
var quoteShares = []share[quoteSlip]{
	{rightQuote, 70},
	{spacedQuote, 10},
	{cutQuote, 8},
	{renamedQuote, 7},
	{neighbourQuote, 5},
}

type numberSlip int

const (
	rightNumber numberSlip = iota
	nearNumber             // 1 to 3 lines off
	farNumber              // 4 to 15 lines off
	anyNumber              // anywhere in the file
)

type quoteSlip int

const (
	rightQuote     quoteSlip = iota
	spacedQuote              // other white space
	cutQuote                 // its end is missing
	renamedQuote             // one of its identifiers is replaced
	neighbourQuote           // it begins at the line before or after the marked one
)

type share[T any] struct {
	kind    T
	percent int
}

// slip is the error of one remark.
type slip struct {
	number numberSlip
	quote  quoteSlip
}

// drawSlips assigns errors to n remarks. The shares are exact in each draw, not only
// on average, so that results on a small data set do not depend on chance.
func drawSlips(rng *rand.Rand, n int) []slip {
	numbers, quotes := deal(rng, n, numberShares), deal(rng, n, quoteShares)
	slips := make([]slip, n)
	for i := range slips {
		slips[i] = slip{numbers[i], quotes[i]}
	}
	return slips
}

// deal returns n kinds, each as often as its share says, shuffled. The remainder
// after rounding goes to the kinds that lost most.
func deal[T any](rng *rand.Rand, n int, shares []share[T]) []T {
	kinds := make([]T, 0, n)
	for _, s := range shares {
		for range n * s.percent / 100 {
			kinds = append(kinds, s.kind)
		}
	}
	byLoss := slices.Clone(shares)
	slices.SortStableFunc(byLoss, func(a, b share[T]) int { return n*b.percent%100 - n*a.percent%100 })
	for i := 0; len(kinds) < n; i++ {
		kinds = append(kinds, byLoss[i].kind)
	}
	rng.Shuffle(n, func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	return kinds
}

// misquote returns the line number and the quote of a remark with an error.
func (t *trial) misquote(rng *rand.Rand, s slip) (int, string) {
	number := t.number()
	switch s.number {
	case nearNumber:
		number += sign(rng) * (1 + rng.IntN(3))
	case farNumber:
		number += sign(rng) * (4 + rng.IntN(12))
	case anyNumber:
		number = 1 + rng.IntN(t.numberOf(len(t.lines)-1))
	}
	quote := t.quote(t.at)
	switch s.quote {
	case spacedQuote:
		quote = respace(rng, quote)
	case cutQuote:
		quote = []string{cutEnd(rng, strings.Join(quote, "\n"))}
	case renamedQuote:
		quote = []string{t.rename(rng, strings.Join(quote, "\n"))}
	case neighbourQuote:
		quote = t.quote(t.neighbour(rng))
	}
	return number, strings.Join(quote, "\n")
}

func sign(rng *rand.Rand) int { return 1 - 2*rng.IntN(2) }

// respace changes white space as models do: no indentation, single spaces, or another tab width.
func respace(rng *rand.Rand, lines []string) []string {
	change := []func(string) string{
		strings.TrimSpace,
		func(l string) string { return strings.Join(strings.Fields(l), " ") },
		func(l string) string { return "  " + strings.ReplaceAll(l, "\t", "    ") },
	}[rng.IntN(3)]
	for i := range lines {
		lines[i] = change(lines[i])
	}
	return lines
}

// cutEnd keeps between 50 and 90 percent of a quote, and at least ten characters:
// models that shorten a quote keep some of it.
func cutEnd(rng *rand.Rand, quote string) string {
	body := []rune(strings.TrimSpace(quote))
	return string(body[:min(len(body), max(10, len(body)*(50+rng.IntN(41))/100))])
}

// Compiled on first use: the character classes would add a millisecond to every start of the program.
var identifier = text.Pattern(`[\pL_][\pL\pN_]+`)

// rename replaces one of the quote's identifiers with one from another line of the file.
func (t *trial) rename(rng *rand.Rand, quote string) string {
	own := identifier().FindAllStringIndex(quote, -1)
	if len(own) == 0 {
		return quote
	}
	at := own[rng.IntN(len(own))]
	old := quote[at[0]:at[1]]
	other := old + "2"
	if all := identifier().FindAllString(t.lines[rng.IntN(len(t.lines))].Text, -1); len(all) > 0 {
		if pick := all[rng.IntN(len(all))]; pick != old {
			other = pick
		}
	}
	return quote[:at[0]] + other + quote[at[1]:]
}

// neighbour is the index of the line directly before or after the marked one. Blank
// lines are not quoted; if there is no other neighbour, it is the marked line itself.
func (t *trial) neighbour(rng *rand.Rand) int {
	before := t.follows(t.at) && !blank(t.lines[t.at-1].Text)
	behind := t.follows(t.at+1) && !blank(t.lines[t.at+1].Text)
	switch {
	case before && (!behind || rng.IntN(2) == 0):
		return t.at - 1
	case behind:
		return t.at + 1
	}
	return t.at
}
