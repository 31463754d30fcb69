// Command hello stands for precedent in the tests of packages.
package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
