package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
)

// maxSecretFile bounds a file with a secret, in bytes: 16 times a private key of 4,096 bits.
const maxSecretFile = 64 << 10

// fileVariables are the secrets that may be in a file.
var fileVariables = append([]string{databaseVariable, markerKeyVariable}, secretVariables...)

// readSecretFiles reads the secrets that are in files: NAME_FILE names the file of NAME.
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
	text, err := readHidden(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" || strings.ContainsAny(secret, "\n\r\x00") {
		return "", errors.New("the file does not have one line")
	}
	return secret, nil
}

// readHidden reads a file with a secret. Its errors do not contain the path, which may be the secret itself by mistake.
func readHidden(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, maxSecretFile))
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s file: %w", cause.Op, cause.Err)
	}
	return data, err
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
