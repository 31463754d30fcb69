package markdowntest

import (
	"regexp"
	"slices"
	"strings"
)

// Live is what a page makes a forge do: whom it notifies, and what it leads to or shows itself on.
type Live struct {
	Mentions   []string // @name
	References []string // issues, pull requests and commits
}

var (
	// githubMention and giteaMention are how these forges find names in text.
	githubMention = regexp.MustCompile(`(?:^|[^A-Za-z0-9_/])@([A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?)`)
	giteaMention  = regexp.MustCompile(`(?:^|[\s(\[{'"])@([0-9A-Za-z_-][0-9A-Za-z_.-]*(?:/[0-9A-Za-z_.-]+)?)`)
	// githubReference is an issue, with its repository or without, or a commit; giteaReference
	// also has merge requests.
	githubReference = regexp.MustCompile(
		`(?:[\w.-]+/[\w.-]+)?#[0-9]+|\b(?i:GH)-[0-9]+|[\w.-]*@[0-9a-f]{7,40}\b|\b[0-9a-f]*[0-9][0-9a-f]*\b`,
	)
	giteaReference = regexp.MustCompile(`(?:[\w.-]+/[\w.-]+)?[#!][0-9]+|\b[0-9a-f]{7,64}\b`)
	hexID          = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	// pageOf is the address of an issue, a pull request, a commit or a discussion.
	pageOf = regexp.MustCompile(`/(?:issues|pull|pulls|merge_requests|commit|discussions)/[0-9a-f]+`)
	// bare is an address in text, which forges link.
	bare = regexp.MustCompile(`(?i:(?:https?|ftp)://|www\.)[^\s<>]+`)
)

// Read returns what GitHub and Gitea do because of a page. Both leave out code, and follow links
// in any notation.
func (p Page) Read() Live {
	var l Live
	add := func(to *[]string, s string) {
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	for _, s := range p.Loose {
		for _, pattern := range []*regexp.Regexp{githubMention, giteaMention} {
			for _, m := range pattern.FindAllStringSubmatch(s, -1) {
				add(&l.Mentions, m[1])
			}
		}
		for _, pattern := range []*regexp.Regexp{githubReference, giteaReference} {
			for _, m := range pattern.FindAllString(s, -1) {
				// A word of letters is nobody's commit, and a short number is none.
				if strings.ContainsAny(m, "#!-@") || hexID.MatchString(m) && strings.ContainsAny(m, "0123456789") {
					add(&l.References, m)
				}
			}
		}
		for _, m := range bare.FindAllString(s, -1) {
			add(&l.References, m)
		}
	}
	for _, to := range p.Links {
		if pageOf.MatchString(to) {
			add(&l.References, to)
		}
	}
	return l
}
