// Package secrettest makes texts with credentials for tests, which have none themselves: scanners would find them.
package secrettest

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
)

// Table returns the fields of the lines of a file of test data, without its comments.
func Table(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}

var (
	plantHole = regexp.MustCompile(`<(b62|b64|b36|b32|hex|dig|low|up|pw|bech):(\d+)>|<(human|uuid|key|pem|pub|pub43|mac)>`)
	plantCode = regexp.MustCompile(`⟦([a-z0-9]+):([^⟦⟧]*)⟧`)
)

// escapes are those of a text in a table.
var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// Plant replaces the escapes and the holes of a text, and returns the secrets in it, as they are written there.
// <b62:20> is a random value of an alphabet, <human> a password as people make them, <pem> a private key, and
// ⟦base64:…⟧ an encoding of what is in it.
func Plant(r *rand.Rand, text string) (string, []string) {
	text = escapes.Replace(text)
	var secrets []string
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.Intn(len(alphabet))]
		}
		return string(b)
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	alphabets := map[string]string{
		"b62": lower + upper + digits, "b64": lower + upper + digits + "+/", "b36": lower + digits, "b32": upper + "234567", "hex": digits + "abcdef",
		"bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "dig": digits, "low": lower, "up": upper + digits, "pw": lower + upper + digits + "!#%^*-_=+",
	}
	text = plantHole.ReplaceAllStringFunc(text, func(h string) string {
		m := plantHole.FindStringSubmatch(h)
		var value string
		switch m[3] {
		case "key":
			return "KEY"
		case "mac":
			return draw(alphabets["hex"], 64)
		case "pub43":
			return draw(alphabets["b62"], 43)
		case "pub":
			return draw(alphabets["b64"], 64)
		case "pem":
			value = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Repeat(draw(alphabets["b64"], 64)+"\n", 4) +
				"-----END RSA PRIVATE KEY-----"
		case "uuid":
			value = draw(alphabets["hex"], 8) + "-" + draw(alphabets["hex"], 4) + "-4" + draw(alphabets["hex"], 3) + "-a" + draw(alphabets["hex"], 3) + "-" + draw(alphabets["hex"], 12)
		case "human":
			words := []string{"Sommer", "dragon", "Berlin", "coffee", "Winter", "monkey", "Purple", "tiger"}
			value = words[r.Intn(len(words))] + draw("!#*+", 1) + words[r.Intn(len(words))] + draw(digits, 2)
		default:
			n, _ := strconv.Atoi(m[2])
			value = draw(alphabets[m[1]], n)
		}
		secrets = append(secrets, value)
		return value
	})
	for plantCode.MatchString(text) {
		text = plantCode.ReplaceAllStringFunc(text, func(c string) string {
			m := plantCode.FindStringSubmatch(c)
			coded := encodeAs(m[1], m[2])
			secrets = append(secrets, coded)
			return coded
		})
	}
	var written []string
	for _, s := range secrets {
		if strings.Contains(text, s) {
			written = append(written, s)
		}
	}
	return text, written
}

func encodeAs(how, s string) string {
	var b strings.Builder
	each := func(format string) string {
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	switch how {
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(s))
	case "hex":
		return hex.EncodeToString([]byte(s))
	case "base32":
		return base32.StdEncoding.EncodeToString([]byte(s))
	case "x":
		return each(`\x%02x`)
	case "u":
		return each(`\u%04x`)
	case "percent":
		return each("%%%02X")
	case "entities":
		return each("&#%d;")
	case "codes":
		return strings.TrimSuffix(each("%d, "), ", ")
	case "utf16":
		for _, c := range []byte(s) {
			b.Write([]byte{c, 0})
		}
		return base64.StdEncoding.EncodeToString([]byte(b.String()))
	case "jwt":
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"iss":"acme","sub":"17"}`) + "." + s
	}
	panic(how)
}
