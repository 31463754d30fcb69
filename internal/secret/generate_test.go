package secret

import (
	"math/rand"
	"regexp/syntax"
	"strings"
)

// sample makes a string that the expression matches, with long and random repetitions, so that it has the entropy of a
// real secret. Tests make their secrets with it: a literal one would be found in this repository.
func sample(r *rand.Rand, pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	write(r, &b, re)
	return b.String()
}

func write(r *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	times := func(lo, hi int) {
		for range lo + r.Intn(hi-lo+1) {
			write(r, b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(pick(r, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcXYZ019"[r.Intn(9)])
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 12)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		hi := re.Max
		if hi < 0 {
			hi = re.Min + 8
		}
		times(re.Min, min(hi, re.Min+20))
	case syntax.OpAlternate:
		write(r, b, re.Sub[r.Intn(len(re.Sub))])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			write(r, b, sub)
		}
	}
}

// pick takes a printable ASCII character of a class, or its first one.
func pick(r *rand.Rand, ranges []rune) rune {
	var all []rune
	for i := 0; i < len(ranges); i += 2 {
		for c := max(ranges[i], ' '); c <= min(ranges[i+1], '~'); c++ {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return ranges[0]
	}
	return all[r.Intn(len(all))]
}
