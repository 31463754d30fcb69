package precedent

// Discussion is what people wrote about a change so far: empty for a local change.
type Discussion struct {
	// Directives are the requests of people with write permission.
	Directives []Directive
	// Claims summarise what everybody else wrote.
	Claims Untrusted
}

// Directive is one request of a person who may merge the change.
type Directive struct {
	Text   Untrusted // in their words, at most 600 characters
	Who    string
	Source string // URL of the comment
}
