package precedent

// Discussion is what people have said about a change so far: empty for a local one.
type Discussion struct {
	// Directives are what people with write permission asked for.
	Directives []Directive
	// Claims sum up what everybody else said.
	Claims Untrusted
}

// Directive is one request of a person who may merge the change.
type Directive struct {
	Text   Untrusted // what is to be done, at most 600 characters
	Quote  Untrusted // the person's own words for it, at most 300 characters
	Who    string
	Source string // where it was said: a comment's address
}
