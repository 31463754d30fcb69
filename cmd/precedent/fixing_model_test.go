package main

import "strings"

const boundedRefund = "  ledger.total -= Math.min(amount, ledger.paid)"

// fixesTheRefund answers the real Claude Code: the finder general reports the refund as long as it is there, and who
// is to fix it reads the file and edits it.
func fixesTheRefund(body string) (tool string, input any) {
	type o = map[string]any
	const done = "StructuredOutput"
	thread := func() string {
		if found := threadID.FindStringSubmatch(strings.ReplaceAll(body, `\n`, "\n")); found != nil {
			return found[1]
		}
		return ""
	}
	results := strings.Count(body, `"type":"tool_result"`)
	switch {
	case strings.Contains(body, "threads_addressed") && results == 0:
		return "Read", o{"file_path": "src/till.js"}
	case strings.Contains(body, "threads_addressed") && results == 1:
		return "Edit", o{"file_path": "src/till.js", "old_string": flaws[0].lines[0], "new_string": boundedRefund}
	case strings.Contains(body, "threads_addressed"):
		return done, o{"threads_addressed": []o{{"thread": thread(), "how": "The refund is bounded by what was paid."}}, "summary": "I bounded the refund."}
	case strings.Contains(body, "Your assignment: the whole change") && strings.Contains(body, flaws[0].lines[0]+`\n`) && !strings.Contains(body, boundedRefund):
		return done, o{"findings": []o{{
			"path": "src/till.js", "quote": flaws[0].lines[0], "category": "bugs", "severity": "high", "confidence": 95, "title": flaws[0].says[0][0], "body": flaws[0].says[0][1],
		}}, "summary": ""}
	case strings.Contains(body, "Your assignment: "):
		return done, o{"findings": []o{}, "summary": ""}
	case strings.Contains(body, `"still_there"`) && thread() != "":
		return done, o{"threads": []o{{"thread_id": thread(), "state": "addressed", "reply": ""}}}
	}
	return done, o{"verdicts": []o{}, "pairs": []o{}}
}
