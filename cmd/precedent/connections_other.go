//go:build !unix

package main

// maxConnections leaves the number of connections to the server.
func maxConnections() int { return 0 }
