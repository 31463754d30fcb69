package review

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// ranges is what precedes the text of a hunk's header.
var ranges = text.Pattern(`^\s*@@ [-+,0-9 ]+ @@ ?`)

// placeAtHeader places a finding whose quote is in no line of the diff, but after the second
// @@ of a hunk's header: git shows there the line that begins the function, cut to 80 bytes,
// as it was before the change. The finding moves to that line of the file.
func (p *Placer) placeAtHeader(f *precedent.Finding, src *sources) bool {
	file := p.file(f.Path)
	quote := quoteTexts(ranges().ReplaceAllString(f.Quote, ""))
	if file == nil || len(quote) != 1 || len(quote[0].squeezed) < substringMin {
		return false
	}
	here, there := p.lines(file, precedent.Right), p.lines(file, precedent.Left)
	for _, s := range []spot{here.bestMatch(quote, f.Start), there.bestMatch(quote, f.Start)} {
		if s.on == nil {
			continue
		}
		l := &s.on.lines[s.index]
		if l.squeezed == quote[0].squeezed || s.on == here && l.number == f.Start && l.holds(&quote[0]) > 0 {
			return false
		}
	}
	hunk := -1
	for i, h := range file.Hunks {
		shown := text.Squeeze(h.Section)
		if shown == "" || !strings.Contains(shown, quote[0].squeezed) &&
			(len(shown) < substringMin || !strings.HasPrefix(quote[0].squeezed, shown)) {
			continue
		}
		if hunk < 0 || distance(h.NewStart, f.Start) < distance(file.Hunks[hunk].NewStart, f.Start) {
			hunk = i
		}
	}
	if hunk < 0 {
		return false
	}
	h := &file.Hunks[hunk]
	for _, at := range []struct {
		side   precedent.Side
		before int
	}{{precedent.Right, h.NewStart}, {precedent.Left, h.OldStart}} {
		line, quote, ok := src.file(at.side, file.Path).lastBefore(at.before, quote[0].squeezed)
		if ok {
			f.Span = precedent.Span{Path: file.Path, Side: at.side, Start: line, End: line}
			f.Quote = quote
			f.Note("place", "the quote is at %s, and is shown in the header of a hunk below it", f.Span)
			return true
		}
	}
	return false
}

// lastBefore returns the last line before a number that has the quote, which is without
// white space, and its text.
func (f *source) lastBefore(number int, quote string) (line int, whole string, ok bool) {
	for i := min(number-1, len(f.lines)) - 1; f.whole && i >= 0; i-- {
		if strings.Contains(text.Squeeze(f.lines[i]), quote) {
			return f.numbers[i], f.lines[i], true
		}
	}
	return 0, "", false
}
