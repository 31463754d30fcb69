package gate

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pelletier/go-toml/v2"

	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	cratesAt  = "/dependencies/rust" // the crates in a sandbox
	cargoHome = sandbox.Home + "/.cargo"
	maxLocks  = 50 // lock files of one tree
)

// crate is a package of a Cargo.lock that comes from a registry.
type crate struct {
	Name     string `toml:"name"`
	Version  string `toml:"version"`
	Source   string `toml:"source"` // empty for folders of the tree
	Checksum string `toml:"checksum"`
}

// cratesIndexes are the names of the registry in lock files.
var cratesIndexes = []string{
	"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/",
}

// cratesConfig makes cargo take all crates from the folder.
const cratesConfig = `[source.crates-io]
replace-with = "fetched"

[source.fetched]
directory = "` + cratesAt + `"

[net]
offline = true
`

// fetchRust prepares the crates of all lock files. Cargo does not run: this program downloads what the
// lock files pin, checks it and unpacks it, and reads no other file of the tree.
func (s *session) fetchRust(ctx context.Context, l language) []dependencies {
	d := l.in(".")
	if s.exists("vendor") {
		return []dependencies{d}
	}
	found := s.find(l.files...)
	var files []string
	for _, dir := range found["Cargo.lock"] {
		files = append(files, path.Join(dir, "Cargo.lock"))
	}
	if len(files) == 0 {
		asks := func(dir string) bool { return cargoTable().Match(s.head(path.Join(dir, "Cargo.toml"))) }
		if slices.ContainsFunc(found["Cargo.toml"], asks) {
			d.fail(errors.New("there is no Cargo.lock"))
			return []dependencies{d}
		}
		return nil
	}
	c := s.choose(files...)
	crates, err := readCargoLocks(c, files, s.CratesIndex)
	if err == nil && len(crates) == 0 && !c.differs {
		return nil
	}
	if err == nil {
		err = s.mayFetch(s.CratesIndex)
	}
	var kept string
	if err == nil {
		parts := []string{"rust", s.CratesIndex, fmt.Sprint(crates)}
		kept, err = s.keepAs(c.trust, parts, func(to string) error { return s.fetchCrates(ctx, to, crates) })
	}
	if err != nil {
		d.fail(err)
		return []dependencies{d}
	}
	d.say("crates", c)
	d.env = []string{"CARGO_HOME=" + cargoHome}
	d.mounts = []sandbox.Mount{{Source: kept, Target: cratesAt}}
	d.prelude = "mkdir -p " + cargoHome + " && cp " + cratesAt + "/config.toml " + cargoHome + "/\n"
	return []dependencies{d}
}

var (
	cargoTable   = text.Pattern(`(?m)^\s*\[.*dependencies`)
	crateName    = text.Pattern(`^[A-Za-z0-9_-]{1,64}$`)
	crateVersion = text.Pattern(`^\d[0-9A-Za-z.+-]{0,127}$`)
)

// readCargoLocks reads lock files, all of whose packages must be folders of the tree or come from the
// registry with a hash. The crates are sorted.
func readCargoLocks(c choice, files []string, index string) ([]crate, error) {
	if len(files) > maxLocks {
		return nil, errEntries
	}
	indexes := append([]string{"sparse+" + strings.TrimSuffix(index, "/") + "/"}, cratesIndexes...)
	seen := map[crate]bool{}
	var all []crate
	for _, name := range files {
		var lock struct {
			Package []crate `toml:"package"`
		}
		data := c.read(name)
		if data == nil {
			continue // not of this commit
		}
		if toml.Unmarshal(data, &lock) != nil {
			return nil, fmt.Errorf("%s is invalid", name)
		}
		for _, one := range lock.Package {
			if one.Source == "" {
				continue
			}
			if !slices.Contains(indexes, one.Source) {
				return nil, fmt.Errorf("%.60q does not come from the registry", one.Name)
			}
			one.Source = ""
			if !sha256Hex().MatchString(one.Checksum) || !crateName().MatchString(one.Name) ||
				!crateVersion().MatchString(one.Version) {
				return nil, fmt.Errorf("%.60q is not a version of the registry with a hash", one.Name)
			}
			if !seen[one] {
				seen[one] = true
				all = append(all, one)
			}
		}
		if len(all) > maxArchives {
			return nil, errEntries
		}
	}
	slices.SortFunc(all, func(a, b crate) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version),
			strings.Compare(a.Checksum, b.Checksum))
	})
	return all, nil
}

// fetchCrates downloads and unpacks crates, in the form that cargo reads as a folder of sources.
func (s *session) fetchCrates(ctx context.Context, to string, crates []crate) error {
	ctx, f, done, err := s.fetching(ctx)
	if err != nil {
		return err
	}
	defer done()
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	var page bytes.Buffer
	var config struct {
		Download string `json:"dl"`
	}
	settings := below(s.CratesIndex, "config.json")
	if err := f.get(ctx, settings, "application/json", maxPage, &page); err != nil {
		return err
	}
	if strict.Unmarshal(page.Bytes(), &config) != nil || config.Download == "" {
		return errors.New("the index has no config.json that says where crates are")
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var spent unpacked
	var all sync.WaitGroup
	for _, one := range crates { // the fetcher limits how many are fetched at once
		all.Go(func() {
			if err := f.unpackCrate(ctx, root, one, config.Download, &spent); err != nil {
				stop(fmt.Errorf("%.60s: %w", one.Name, err))
			}
		})
	}
	all.Wait()
	return errors.Join(context.Cause(ctx), root.WriteFile("config.toml", []byte(cratesConfig), 0o644))
}

// crateAddress is where a crate is, by the template of the index.
func crateAddress(template string, c crate) string {
	if !strings.Contains(template, "{") {
		template += "/{crate}/{version}/download"
	}
	prefix := c.Name[:min(2, len(c.Name))] + "/" + c.Name[min(2, len(c.Name)):min(4, len(c.Name))]
	switch len(c.Name) {
	case 1, 2:
		prefix = fmt.Sprint(len(c.Name))
	case 3:
		prefix = "3/" + c.Name[:1]
	}
	return strings.NewReplacer("{crate}", c.Name, "{version}", c.Version, "{sha256-checksum}", c.Checksum,
		"{prefix}", prefix, "{lowerprefix}", strings.ToLower(prefix)).Replace(template)
}

// unpacked counts what is written to a kept folder.
type unpacked struct{ bytes, files atomic.Int64 }

func (u *unpacked) add(bytes int64) error {
	if u.bytes.Add(bytes) > mostSeed || u.files.Add(1) > mostFiles {
		return errLarge
	}
	return nil
}

// unpackCrate writes the files of a crate into a folder of its own. Only regular files below the folder that
// a crate has are unpacked.
func (f *fetcher) unpackCrate(ctx context.Context, root *os.Root, c crate, template string, spent *unpacked) error {
	file, err := f.fetch(ctx, archive{crateAddress(template, c), c.Checksum})
	if err != nil {
		return err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	top := c.Name + "-" + c.Version
	err = eachEntry(zip, errLarge, func(header *tar.Header, content io.Reader) error {
		if err := spent.add(header.Size); err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || !strings.HasPrefix(path.Clean(header.Name), top+"/") {
			return nil
		}
		return unpackOne(root, header, content)
	})
	if err != nil {
		return err
	}
	return root.WriteFile(filepath.Join(top, ".cargo-checksum.json"),
		[]byte(`{"files":{},"package":"`+c.Checksum+`"}`), 0o644)
}
