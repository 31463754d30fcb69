package git

import (
	"crypto/sha1" //nolint:gosec // the object format of most repositories; git itself guards against collisions
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

type hash struct {
	name string
	size int // of an id in hex digits
	sum  func(data []byte) string
}

var (
	sha1Hash = hash{"sha1", 40, func(data []byte) string {
		sum := sha1.Sum(data) //nolint:gosec // as above
		return hex.EncodeToString(sum[:])
	}}
	sha256Hash = hash{"sha256", 64, func(data []byte) string {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}}
)

// emptyTree is the id of the empty tree, which git knows without storing it.
func (h hash) emptyTree() string { return h.sum([]byte("tree 0\x00")) }

// valid reports whether s is the full id of an object.
func (h hash) valid(s string) bool {
	return len(s) == h.size && strings.Trim(s, "0123456789abcdef") == ""
}

// IsObjectID reports whether s is a full object id: 40 lower-case hexadecimal digits,
// or 64 in a SHA-256 repository.
func IsObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// adminBytes is the size limit of files copied from the real git folder: 16 MiB.
const adminBytes = 16 << 20

// writeShadow writes a minimal repository: no refs, and a short configuration. The
// environment adds the real objects.
func (r *Repo) writeShadow() error {
	files := map[string]string{"HEAD": noHead + "\n", "config": r.shadowConfig(), "attributes": sectionDrivers}
	text, err := readRegular(filepath.Join(r.place.commonDir, "shallow"), adminBytes)
	if err == nil {
		files["shallow"] = string(text)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	r.shallow = map[string]bool{}
	for id := range strings.Lines(files["shallow"]) {
		r.shallow[strings.TrimSpace(id)] = true
	}
	for _, dir := range []string{"refs", "objects"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(r.shadow, dir), 0o700)
		}
	}
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(r.shadow, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		return &Error{Op: "open repository", Msg: printable(err.Error()), Err: err}
	}
	return nil
}

// noHead is the HEAD of a repository without a commit.
const noHead = "ref: refs/heads/none"

func (r *Repo) shadowConfig() string {
	if r.hash.name != sha1Hash.name {
		return "[core]\n\tbare = true\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = " + r.hash.name + "\n"
	}
	return "[core]\n\tbare = true\n\trepositoryformatversion = 0\n"
}

func (r *Repo) shadowObjects() string { return filepath.Join(r.shadow, "objects") }

// sectionDrivers let git name the function around a hunk. These drivers are built
// into git and do nothing else. Diff passes them as core.attributesFile.
var sectionDrivers = func() string {
	var b strings.Builder
	for _, line := range []string{
		"ada adb ads", "bash sh bash", "cpp c h cc cpp cxx hh hpp hxx", "csharp cs", "css css scss less",
		"dts dts dtsi", "elixir ex exs", "fortran f f90 f95", "golang go", "html html htm", "java java",
		"kotlin kt kts", "markdown md", "objc m mm", "pascal pas", "perl pl pm", "php php", "python py",
		"ruby rb", "rust rs", "scheme scm", "tex tex",
	} {
		words := strings.Fields(line)
		for _, ext := range words[1:] {
			b.WriteString("*." + ext + " diff=" + words[0] + "\n")
		}
	}
	return b.String()
}()

func (r *Repo) blobID(data []byte) string { return r.hash.sum(append(blobHeader(data), data...)) }

func blobHeader(data []byte) []byte { return append([]byte("blob "+strconv.Itoa(len(data))), 0) }
