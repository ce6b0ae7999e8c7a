package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"cordon/internal/agent/facts"
	"cordon/internal/cache"
	"cordon/internal/cell"
	"cordon/internal/depcache"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/paths"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// homeCache is a directory of the home in which tools keep what they can make again.
type homeCache struct {
	usual    string // below the home
	variable string // of the operator's, that names it; "": none, or one that package enclosure knows
	always   bool   // also where the host does not have it
}

var homeCaches = []homeCache{
	{".cache", "", true},
	{".cache/go-build", "GOCACHE", false}, {"go/pkg/mod", "GOMODCACHE", false},
	{".cargo/registry", "", false}, {".cargo/git", "", false},
	{".npm/_cacache", "", false}, {".local/share/pnpm/store", "", false}, {".yarn/berry/cache", "", false}, {".bun/install/cache", "", false},
	{".gradle/caches", "", false}, {".m2/repository", "", false}, {".nuget/packages", "", false},
	{".ccache", "CCACHE_DIR", false}, {".cache/sccache", "SCCACHE_DIR", false},
	{".cache/pip", "PIP_CACHE_DIR", false}, {".cache/uv", "UV_CACHE_DIR", false},
}

// treePart is the part of a generation that lies below a worker's tree.
const treePart = "tree"

// ChooseCaches gives a lease the caches of landed runs that were given the same rights in
// the same place, with the same client and the same things of the operator's. A worker
// that finds other tools, another policy or another tree has others.
func ChooseCaches(ctx context.Context, s *worksite.Site, a *ledger.Agent, l *lease.Lease) error {
	if l.Tree != lease.Layered || l.Worktree != s.State.Seen() || !l.Policy.Filesystem.Cache.Landed() {
		return nil
	}
	client := ""
	var given []string
	if a != nil {
		client = a.Client
		if len(a.Servers) > 0 {
			given = append(given, "--mcp")
		}
	}
	shared, err := s.Shared()
	if err != nil {
		return err
	}
	given = append(given, shared...)
	slices.Sort(given)
	purpose := append([]string{"worker", client}, slices.Compact(given)...)
	l.Cache = comparable(ctx, s, s.Host.Repo, newestCaches(s, *l, cacheDirs(l.Home, false), purpose...), l.Base)
	return nil
}

// newestCaches are the caches for a purpose that everything has in common with a lease but
// its limits: auto is another number each time, and bounds no cache.
func newestCaches(s *worksite.Site, l lease.Lease, dirs []string, purpose ...string) lease.Cache {
	same := l.Policy
	same.Limits = policy.Default().Limits
	key := cache.Key(slices.Concat(purpose, []string{string(same.YAML()), l.Home}, dirs)...)
	return lease.Cache{Key: key, From: string(s.CacheStore().Newest(key)), Dirs: dirs}
}

// cacheDirs are the caches in the home: those that the host has, or all, and where they are.
func cacheDirs(home string, all bool) []string {
	var list []string
	real, err := filepath.EvalSymlinks(home)
	if err != nil || real != home {
		return nil // the cell shows it elsewhere
	}
	for _, c := range homeCaches {
		at := filepath.Dir(enclosure.KeptAt(home, c.usual+"/x"))
		if named := os.Getenv(c.variable); c.variable != "" && filepath.IsAbs(named) {
			at = filepath.Clean(named)
		}
		fi, err := os.Lstat(at)
		there := err == nil && fi.IsDir()
		if !paths.Below(at, home) || paths.WithinAny(at, list) || err == nil && !there || !there && !c.always && !all {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil && real != filepath.Dir(at) {
			continue
		}
		list = append(list, at)
	}
	return list
}

// cacheLayer names the private layer for a cache.
func cacheLayer(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "cache-" + hex.EncodeToString(sum[:6])
}

// cachePart names a cache of the home in a generation.
func cachePart(dir string) string { return strings.TrimPrefix(cacheLayer(dir), "cache-") }

// caches shows the caches of a lease in an enclosure: the worker's own layer above what
// landed runs left, above the host's. Commands that prepare the tree start without those of
// others, and write where the worker finds it.
func caches(s *worksite.Site, l lease.Lease, fresh bool, e *enclosure.Enclosure) error {
	from := ""
	if !fresh {
		var err error
		if from, err = s.HoldCache(cache.Name(l.Cache.From)); err != nil {
			return err
		}
	}
	for _, dir := range l.Cache.Dirs {
		over := cell.Over{At: dir, Layer: cacheLayer(dir)}
		if part := filepath.Join(from, cachePart(dir)); from != "" && worksite.Exists(part) {
			over.Below = append(over.Below, part)
		}
		if worksite.Exists(dir) {
			over.Below = append(over.Below, dir)
		}
		if len(over.Below) == 0 {
			nothing, err := s.CacheStore().Nothing()
			if err != nil {
				return err
			}
			over.Below = []string{nothing}
		}
		e.Caches = append(e.Caches, over)
	}
	return nil
}

// treeCache is the layer of scratch that a worker's tree lies on, if any. Setup commands make
// a tree's scratch anew, and nothing may come up from below between their files.
func treeCache(s *worksite.Site, l lease.Lease, base []string) ([]string, error) {
	if l.Cache.From == "" || len(l.Policy.Setup) > 0 {
		return nil, nil
	}
	from, err := s.HoldCache(cache.Name(l.Cache.From))
	if err != nil || from == "" {
		return nil, err
	}
	part := filepath.Join(from, treePart)
	fits, err := cache.Fits(part, base)
	if err != nil || !fits {
		return nil, err
	}
	return []string{part}, nil
}

// treeLayers are what a worker's tree lies on: scratch of landed runs, and its base.
func treeLayers(s *worksite.Site, l lease.Lease, base []string) ([]string, error) {
	warm, err := treeCache(s, l, base)
	return append(warm, base...), err
}

// KeepCaches keeps the caches of a worker whose result landed, for the next one.
func KeepCaches(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	l := w.Lease.Lease()
	if l.Cache.Key == "" || w.Tree == nil {
		return nil
	}
	b, err := s.BaseOf(ctx, w.ID, l.Base)
	if err != nil {
		return err
	}
	origin, err := originOf(ctx, s, s.Host.Repo, l.Cache, l.Base)
	if err != nil {
		return err
	}
	return keepCaches(ctx, s, left{lease: l, rules: w.Lease.Rules(), layers: s.LayersOf(w), base: b.Layers, origin: origin, never: clientCache})
}

// left is what a run left in caches.
type left struct {
	lease  lease.Lease // with the caches that it was given, and the tree that it saw
	rules  policy.Rules
	layers string
	base   []string
	never  func(rel string) bool
	origin cache.Origin
	notes  func(dir fs.FS) (map[string]string, error)
}

// keepCaches makes a generation of what a run left, and removes those that nobody needs.
func keepCaches(ctx context.Context, s *worksite.Site, r left) error {
	given := r.lease.Cache
	from, err := s.HoldCache(cache.Name(given.From))
	if err != nil {
		return err
	}
	tools := append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix"}, depcache.Roots(r.lease.Home, os.Getenv)...)
	tools = slices.DeleteFunc(tools, func(dir string) bool { return paths.Within(r.lease.Worktree, dir) }) // a tree is no tool
	var parts []cache.Part
	for _, dir := range given.Dirs {
		p := cache.Part{Name: cachePart(dir), At: dir, Tools: tools, Upper: worktree.Upper(r.layers, cacheLayer(dir)), Never: r.never, Notes: r.notes}
		if from != "" {
			p.Below = []string{filepath.Join(from, p.Name)}
		}
		parts = append(parts, p)
	}
	scratch := func(rel string) bool { return r.rules.Judge(rel).Class == policy.Scratch }
	r.origin.Made = s.Now().UnixNano()
	tree := cache.Part{
		Name: treePart, At: r.lease.Worktree, Tools: tools, Upper: worktree.Upper(r.layers, worktree.FilesLayer), Base: r.base, Wanted: scratch,
		Never: r.never, Apart: true, Notes: r.notes, Origin: r.origin,
	}
	if tree.Below, err = treeCache(s, r.lease, r.base); err != nil {
		return err
	}
	parts = append(parts, tree)
	if newest := s.CacheStore().Newest(given.Key); newest != "" && newest == cache.Name(given.From) {
		if touched, err := anyTouched(parts); err != nil || !touched {
			return err // the next worker finds what this one found
		}
	}
	if _, err := s.CacheStore().Keep(ctx, given.Key, parts); err != nil {
		return err
	}
	now, err := s.Ledger()
	if err != nil {
		return err
	}
	return s.CacheStore().Prune(given.Key, worksite.CacheNeeded(now))
}

func anyTouched(parts []cache.Part) (bool, error) {
	for _, p := range parts {
		if touched, err := p.Touched(); touched || err != nil {
			return touched, err
		}
	}
	return false, nil
}

// clientCache reports whether a name in a cache is a client's own: clients keep programs
// there that they run, and another worker must not have written those.
func clientCache(rel string) bool {
	first, _, _ := strings.Cut(strings.ToLower(rel), "/")
	words := strings.FieldsFunc(first, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(facts.All(), func(c *facts.Client) bool { return slices.Contains(words, c.Name) })
}
