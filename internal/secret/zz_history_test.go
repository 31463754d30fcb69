package secret

import (
	"os"
	"strings"
	"testing"
	"bufio"
	"fmt"
	"os/exec"
)

func TestZHistory(t *testing.T) {
	for _, spec := range strings.Split(os.Getenv("HIST"), " ") {
		dir, rng, _ := strings.Cut(spec, "@")
		if dir == "" { continue }
		cmd := exec.Command("git", "-C", dir, "log", "-p", "--no-color", "--no-ext-diff", "--no-merges", "--since="+rng, "--format=commit %H", "HEAD")
		out, _ := cmd.StdoutPipe()
		cmd.Start()
		sc := bufio.NewScanner(out)
		sc.Buffer(make([]byte, 1<<20), 64<<20)
		path, n, hidden := "", 0, 0
		var side, added []string
		flush := func() {
			if len(side) > 0 && !Private(path) {
				var s Scanner
				found, err := s.Outgoing(path, side)
				if err != nil { fmt.Println("ERR", path, err) }
				hit := map[int]string{}
				for _, m := range found { for i := m.Line; i <= m.EndLine; i++ { hit[i] = m.Rule+" "+m.Secret } }
				for i := range side {
					if added[i] == "+" {
						n++
						if hit[i] != "" { hidden++; fmt.Printf("HIT %s %s\n  %.200s\n    %.160q\n", dir, path, side[i], hit[i]) }
					}
				}
			}
			side, added = nil, nil
		}
		for sc.Scan() {
			l := sc.Text()
			switch {
			case strings.HasPrefix(l, "diff --git"), strings.HasPrefix(l, "commit "), strings.HasPrefix(l, "@@"):
				flush()
			case strings.HasPrefix(l, "+++ "):
				path = strings.TrimPrefix(strings.TrimPrefix(l, "+++ "), "b/")
			case strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "index "):
			case strings.HasPrefix(l, "+"), strings.HasPrefix(l, " "):
				side, added = append(side, l[1:]), append(added, l[:1])
			}
		}
		flush()
		fmt.Printf("TOTAL %s %d of %d\n", dir, hidden, n)
	}
}
func TestZDebug(t *testing.T) {
	b, _ := os.ReadFile("../fixround/fixround_test.go")
	var s Scanner
	found, _ := s.Outgoing("internal/fixround/fixround_test.go", strings.Split(string(b), "\n"))
	for _, m := range found { fmt.Printf("DBG %s %d:%d-%d:%d %.60q\n", m.Rule, m.Line, m.Start, m.EndLine, m.End, m.Secret) }
	set, _ := loadRules()
	tx := newText(strings.Split(string(b), "\n"))
	s = Scanner{}; s.grant(tx)
	w := newWalk(&s, set, "internal/fixround/fixround_test.go", tx)
	hits, _ := w.leaving(maxDepth)
	for _, h := range hits { fmt.Printf("DBG2 %s %d-%d\n", set.rules[h.rule].id, h.start, h.end) }
}
