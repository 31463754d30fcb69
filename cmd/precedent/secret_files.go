package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
)

// maxSecretFile bounds a file with a secret, in bytes.
const maxSecretFile = 64 << 10

// fileVariables are the secrets that may be in a file.
var fileVariables = append([]string{databaseVariable, markerKeyVariable}, secretVariables...)

// readSecretFiles reads the secrets that are in files: NAME_FILE names the file of NAME. Its
// errors do not contain the path, which may be the secret itself by mistake.
func (a *app) readSecretFiles() error {
	for _, name := range fileVariables {
		path := a.env[name+"_FILE"]
		if path == "" || a.env[name] != "" {
			continue
		}
		secret, err := readSecretFile(path)
		if err != nil {
			return hinted(fmt.Errorf("%s_FILE: %w", name, err),
				"set it to a file that this program can read, with the secret in its only line")
		}
		a.env[name] = secret
	}
	return nil
}

func readSecretFile(path string) (string, error) {
	var cause *fs.PathError
	f, err := os.Open(path)
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil {
		return "", fmt.Errorf("open file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if errors.As(err, &cause) {
		err = cause.Err
	}
	secret := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("read file: %w", err)
	case secret == "" || strings.ContainsAny(secret, "\n\r\x00"):
		return "", errors.New("the file does not have one line")
	}
	return secret, nil
}

// newKey returns 32 random bytes in hexadecimal.
func newKey() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// passwordOf returns the password of a database's URL, as it is and as the URL has it: nothing if it
// has none.
func passwordOf(address string) []string {
	var all []string
	add := func(s string) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	_, address, _ = strings.Cut(address, "://")
	address, query, _ := strings.Cut(address, "?")
	if at := strings.LastIndex(address, "@"); at >= 0 { // there may be several hosts, which package url refuses
		_, written, _ := strings.Cut(address[:at], ":")
		add(written)
		if password, err := url.PathUnescape(written); err == nil {
			add(password)
		}
	}
	if values, err := url.ParseQuery(query); err == nil {
		add(values.Get("password"))
	}
	return all
}
