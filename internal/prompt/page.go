package prompt

import (
	"regexp"
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// page is the material of a prompt: paragraphs of ours, and texts from outside between marks.
type page struct{ parts []part }

// part is a paragraph. Kind is what a text from outside is; empty for our own words.
type part struct{ kind, text string }

// say adds words of ours; none adds nothing.
func (p *page) say(words string) {
	if words != "" {
		p.parts = append(p.parts, part{text: words})
	}
}

// block adds a text from outside after words of ours.
func (p *page) block(lead, kind, s string) {
	p.say(lead)
	p.parts = append(p.parts, part{kind, s})
}

// data is block for a text that may be empty: then it adds nothing.
func (p *page) data(lead, kind, s string) {
	if s != "" {
		p.block(lead, kind, s)
	}
}

// list adds texts from outside after words of ours; nothing if there are none.
func (p *page) list(lead, kind string, all []string) {
	for _, s := range all {
		p.block(lead, kind, s)
		lead = ""
	}
}

// replies adds the newest of what people and we wrote in a thread, cut to what one thread may show.
func (p *page) replies(did, kind string, all []Reply) {
	for _, r := range all[max(0, len(all)-maxReplies):] {
		p.block(r.Who+did+":", kind, limit(strings.TrimSpace(text.Clean(string(r.Text))), maxReply))
	}
}

// language asks for some of the answer in a language, if it is not English.
func (p *page) language(what, tag string) {
	if tag != "" {
		p.say("Write " + what + " in the language " + tag + "; code stays as it is.")
	}
}

const onlyJSON = "Answer with the JSON object alone."

// outside returns the texts from outside.
func (p *page) outside() (all []string) {
	for _, part := range p.parts {
		if part.kind != "" {
			all = append(all, part.text)
		}
	}
	return all
}

// render returns the paragraphs, each after an empty line. The number is removed from texts that were added after it
// was chosen.
func (p *page) render(nonce string) string {
	var b strings.Builder
	for _, part := range p.parts {
		b.WriteString("\n\n")
		if part.kind == "" {
			b.WriteString(part.text)
			continue
		}
		if strings.Contains(strings.ToLower(part.text), nonce) {
			part.text = regexp.MustCompile("(?i)"+nonce).ReplaceAllString(part.text, "…")
		}
		b.WriteString(fence(nonce, part.kind, part.text))
	}
	return b.String()
}

// alone returns a page that nothing else follows, with a number of its own.
func (p *page) alone() string { return p.first(nonce(p.outside())) }

// first returns the page that a message begins with, which says the number.
func (p *page) first(nonce string) string {
	return "The number of this message's data marks is " + nonce + "." + p.render(nonce)
}
