package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// talk is the command of stories in which people answer on a local forge:
//
//	talk FILE ID:LOGIN says|dislikes|closes TITLE [WORDS]
//
// FILE is talk.json of the pull request, TITLE a part of the inline comment that is answered.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 && (len(args) != 5 || args[2] != "says") {
		ts.Fatalf("usage: talk FILE ID:LOGIN says|dislikes|closes TITLE [WORDS]")
	}
	said := map[string]any{}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	ts.Check(d.Decode(&said))
	id, login, _ := strings.Cut(args[1], ":")
	who := map[string]any{"id": json.Number(id), "login": login}
	comments, _ := said["comments"].([]any)
	var first map[string]any
	for _, c := range comments {
		if c, ok := c.(map[string]any); ok && c["kind"] == "inline" && c["reply_to"] == nil && strings.Contains(fmt.Sprint(c["body"]), args[3]) {
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
		said["closed"] = map[string]any{fmt.Sprint(first["id"]): who}
	case "dislikes":
		reactions, _ := said["reactions"].([]any)
		said["reactions"] = append(reactions, map[string]any{"kind": "inline", "id": first["id"], "who": who, "content": "-1", "at": first["at"]})
	default:
		ts.Fatalf("nobody can %q", args[2])
	}
	data, err := json.MarshalIndent(said, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}
