// Package secret finds credentials in text and redacts them.
//
// It applies the rules of gitleaks' built-in configuration and nothing else. It reads
// no configuration of the repository under review, and comments such as
// gitleaks:allow do not turn off a rule, because a change must not exempt itself.
//
// gitleaks runs a rule over a whole file if a keyword of the rule occurs anywhere in
// it. That takes seconds on a large change, so this package runs a rule at its
// keyword, or over the lines around it, which is where the rule can match.
package secret
