package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// talk is the command of stories in which people answer on a local forge:
//
//	talk DIR PERSON says|likes|dislikes|closes TITLE [WORDS]
//
// DIR is the pull request's folder, PERSON a member of the forge or ID:LOGIN of
// somebody else, TITLE a part of the inline comment that is answered.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 && (len(args) != 5 || args[2] != "says") {
		ts.Fatalf("usage: talk DIR PERSON says|likes|dislikes|closes TITLE [WORDS]")
	}
	dir := ts.MkAbs(args[0])
	file := filepath.Join(dir, "talk.json")
	read := func(name string) map[string]any {
		all := map[string]any{}
		d := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(name))))
		d.UseNumber()
		ts.Check(d.Decode(&all))
		return all
	}
	said := read(file)
	who := speaker(ts, read(filepath.Join(dir, "..", "..", "repo.json")), args[1])
	comments, _ := said["comments"].([]any)
	var first map[string]any
	for _, c := range comments {
		if c, ok := c.(map[string]any); ok && c["kind"] == "inline" && c["reply_to"] == nil && strings.Contains(fmt.Sprint(c["body"]), args[3]) {
			if first != nil {
				ts.Fatalf("two comments say %q", args[3])
			}
			first = c
		}
	}
	if first == nil {
		ts.Fatalf("no comment says %q", args[3])
	}
	switch args[2] {
	case "says":
		c := map[string]any{"id": 2_000_000 + len(comments), "author": who, "body": args[4], "reply_to": first["id"], "at": time.Now().UTC()}
		for _, same := range []string{"kind", "path", "side", "start_line", "end_line", "commit"} {
			c[same] = first[same]
		}
		said["comments"] = append(comments, c)
	case "closes":
		closed, _ := said["closed"].(map[string]any)
		if closed == nil {
			closed = map[string]any{}
		}
		closed[fmt.Sprint(first["id"])] = who
		said["closed"] = closed
	case "likes", "dislikes":
		reactions, _ := said["reactions"].([]any)
		said["reactions"] = append(reactions, map[string]any{
			"kind": "inline", "id": first["id"], "who": who, "content": map[string]string{"likes": "+1", "dislikes": "-1"}[args[2]], "at": first["at"],
		})
	default:
		ts.Fatalf("nobody can %q", args[2])
	}
	data, err := json.MarshalIndent(said, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(file, data, 0o644))
}

// speaker is an account of the forge in a folder, or a stranger.
func speaker(ts *testscript.TestScript, repo map[string]any, name string) any {
	members, _ := repo["members"].([]any)
	for _, m := range members {
		if m, ok := m.(map[string]any); ok && m["login"] == name {
			return map[string]any{"id": m["id"], "login": name}
		}
	}
	id, login, ok := strings.Cut(name, ":")
	if !ok {
		ts.Fatalf("the forge knows no %q", name)
	}
	return map[string]any{"id": json.Number(id), "login": login}
}
