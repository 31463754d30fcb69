// Package secret finds credentials in text and redacts them.
//
// What is reported and what is redacted have two thresholds. Scan reports by the rules of
// gitleaks' built-in configuration and a few of this package. Redact applies further rules,
// and reads encodings and split literals, because what leaves the process cannot be taken
// back. The package reads no configuration of the repository under review, and comments such as
// gitleaks:allow do not turn off a rule, because a change must not exempt itself.
//
// gitleaks runs a rule over a whole file if a keyword of the rule occurs anywhere in
// it. That takes seconds on a large change, so this package runs a rule at its
// keyword, or over the lines around it, which is where the rule can match.
package secret
