package report

import (
	"math"
	"strings"
)

// Bar draws a share, 0 to 1, as a bar of a number of columns. Shares outside are cut off.
func Bar(share float64, columns int) string {
	if math.IsNaN(share) {
		share = 0
	}
	full := int(math.Round(min(max(share, 0), 1) * float64(columns)))
	return strings.Repeat("█", full) + strings.Repeat("·", columns-full)
}

// Columns returns the width of the page.
func (p *Page) Columns() int { return p.width }
