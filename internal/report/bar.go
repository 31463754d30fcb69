package report

import (
	"math"
	"strings"
)

// eighths are blocks of one to seven eighths of a column.
var eighths = []rune(" ▏▎▍▌▋▊▉")

// Bar draws a share, 0 to 1, as a bar of a number of columns. Shares outside are cut off.
func Bar(share float64, columns int) string {
	if math.IsNaN(share) {
		share = 0
	}
	full := int(math.Round(min(max(share, 0), 1) * float64(columns) * 8))
	bar := strings.Repeat("█", full/8)
	if full%8 > 0 {
		bar += string(eighths[full%8])
	}
	if n := columns - (full+7)/8; n > 0 {
		bar += strings.Repeat("·", n)
	}
	return bar
}

// Columns returns the width of the page.
func (p *Page) Columns() int { return p.width }
