package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/text"
)

// Charts are pictures in the page itself: they need no script, follow the colors of the page, and are
// printed. Each has a table beneath with the same numbers.

// svg is a picture; its role is group if there are links in it.
func svg(role string, width, height float64, label string, body ...g.Node) g.Node {
	return h.SVG(h.Class("chart"), g.Attr("viewBox", fmt.Sprintf("0 0 %g %g", width, height)), h.Role(role),
		h.Aria("label", label), g.Group(body))
}

func num(name string, v float64) g.Node { return g.Attr(name, strconv.FormatFloat(v, 'f', 1, 64)) }

func svgText(x, y float64, anchor, said string) g.Node {
	return g.El("text", num("x", x), num("y", y), g.Attr("text-anchor", anchor), g.Text(said))
}

func barChart(label string, days []dayFacts, of func(dayFacts) float64) g.Node {
	const width, height, base, top = 720.0, 160.0, 130.0, 16.0
	most := 0.0
	for _, d := range days {
		most = max(most, of(d))
	}
	if most == 0 {
		return nil
	}
	step := width / float64(len(days))
	var bars g.Group
	for i, d := range days {
		tall := (base - top) * of(d) / most
		bars = append(bars, g.El("rect", g.Attr("class", "bar"), num("x", float64(i)*step+1), num("y", base-tall),
			num("width", max(1, min(step-2, 40))), num("height", tall), g.El("title", g.Textf("%s: %g", d.day, of(d)))))
	}
	return h.Figure(h.FigCaption(g.Text(label)), svg("img", width, height, label, bars,
		svgText(0, height-8, "start", days[0].day), svgText(width, height-8, "end", days[len(days)-1].day),
		svgText(width, top-4, "end", strconv.FormatFloat(most, 'f', -1, 64))))
}

// calibrationPlot shows for each band of confidence which share was accepted: on the line, both are the same.
func calibrationPlot(r calibration.Reliability) g.Node {
	const size, edge = 240.0, 24.0
	at := func(share float64) float64 { return edge + (size-2*edge)*share }
	var dots g.Group
	for _, b := range r.Bins {
		if b.Points > 0 {
			dots = append(dots, g.El("circle", g.Attr("class", "dot"), num("cx", at(b.Predicted)),
				num("cy", size-at(b.Observed)), num("r", 3+min(9, float64(b.Points)/10)),
				g.El("title", g.Textf("stated %s, accepted %s of %d", percent(b.Predicted), percent(b.Observed),
					b.Points))))
		}
	}
	if len(dots) == 0 {
		return nil
	}
	line := func(x1, y1, x2, y2 float64, class string) g.Node {
		return g.El("line", g.Attr("class", class), num("x1", x1), num("y1", y1), num("x2", x2), num("y2", y2))
	}
	return h.Figure(h.Class("small"),
		h.FigCaption(g.Textf("Stated confidence (across) and accepted share (up); mean distance %s", percent(r.ECE))),
		svg("img", size, size, "stated confidence against the accepted share",
			line(edge, size-edge, size-edge, size-edge, "axis"), line(edge, edge, edge, size-edge, "axis"),
			line(edge, size-edge, size-edge, edge, "ideal"), dots, svgText(edge, size-6, "start", "0 %"),
			svgText(size-edge, size-6, "end", "100 %")))
}

// tile is a file of a treemap.
type tile struct {
	name  string
	size  int
	class string
	link  string
}

// treemap draws tiles whose areas are as their sizes, the largest first, in rows of so many that they get squarish.
func treemap(tiles []tile) g.Node {
	const width, height = 720.0, 360.0
	if len(tiles) == 0 {
		return nil
	}
	all, y := sizeOf(tiles), 0.0
	var drawn g.Group
	for row := range slices.Chunk(tiles, int(math.Ceil(math.Sqrt(float64(len(tiles))*width/height)))) {
		tall, x := height*sizeOf(row)/all, 0.0
		for _, t := range row {
			w := width * float64(t.size) / sizeOf(row)
			drawn = append(drawn, drawTile(t, x, y, w, tall))
			x += w
		}
		y += tall
	}
	return h.Figure(svg("group", width, height, "files by their number of findings; the table has the same", drawn))
}

func sizeOf(tiles []tile) (sum float64) {
	for _, t := range tiles {
		sum += float64(t.size)
	}
	return sum
}

func drawTile(t tile, x, y, w, tall float64) g.Node {
	const letter = 6.5 // the width of one, about
	label := g.Node(nil)
	if short := t.name[strings.LastIndexByte(t.name, '/')+1:]; tall > 18 && w > 30 {
		label = svgText(x+4, y+14, "start", text.Cut(text.VisibleLine(short), max(1, int(w/letter))))
	}
	return h.A(h.Href(t.link), g.El("title", g.Textf("%s: %s", text.VisibleLine(t.name), plural(t.size, "finding"))),
		g.El("rect", g.Attr("class", "tile "+className(t.class)), num("x", x+1), num("y", y+1),
			num("width", max(1, w-2)), num("height", max(1, tall-2))), label)
}
