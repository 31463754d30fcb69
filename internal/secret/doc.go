// Package secret finds credentials in text and redacts them.
//
// It applies the rules of gitleaks' built-in configuration and nothing else:
// no configuration of the repository under review is read, and no remark such
// as gitleaks:allow silences a rule, because a change may not excuse itself.
//
// gitleaks runs a rule over a whole file as soon as a keyword of the rule
// stands anywhere in it. That costs seconds on a large change, so this package
// runs a rule where its keyword stands, or over the lines around it, which is
// where the rules' own expressions can match.
package secret
