package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/git"
)

// BenchmarkCollect measures the audit of a layer over a large repository, named by
// CORDON_BENCH_REPO, with all git processes that it takes. The repository is only
// read: the layer is made of plain files.
func BenchmarkCollect(b *testing.B) {
	top := os.Getenv("CORDON_BENCH_REPO")
	if top == "" {
		b.Skip("set CORDON_BENCH_REPO to a large repository")
	}
	bin, err := git.Find(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	host, err := git.Discover(b.Context(), bin, top)
	if err != nil {
		b.Fatal(err)
	}
	head, err := host.Commit(b.Context(), "HEAD")
	if err != nil {
		b.Fatal(err)
	}
	files, err := host.Tree(b.Context(), head)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{0, 10, 1000, 10000} {
		for _, also := range []string{"edited", "edited and added"} {
			if n == 0 && also != "edited" {
				continue
			}
			b.Run(fmt.Sprintf("%d %s", n, also), func(b *testing.B) {
				upper := b.TempDir()
				for i := range n {
					f := files[i*len(files)/max(n, 1)]
					name, text := f.Path, readFile(b, filepath.Join(top, f.Path))
					if also != "edited" && i%2 == 1 {
						name += ".new"
					}
					plant(b, upper, map[string]string{name: text + "changed\n"})
				}
				for b.Loop() {
					base, err := host.Listing(b.Context(), head)
					if err != nil {
						b.Fatal(err)
					}
					tree := Tree{
						Top: upper, Layer: true, Format: host.Format, Base: base, Rules: writes(b, "."),
						Ignored: func(ctx context.Context, paths []string) (map[string]bool, error) {
							dir := b.TempDir()
							base.Above(".gitignore", paths)
							return host.CheckIgnore(ctx, dir, paths)
						},
					}
					list, err := Collect(b.Context(), tree)
					if err != nil || len(list) != n {
						b.Fatalf("%d changes, %v", len(list), err)
					}
					base.Close()
				}
			})
		}
	}
}

func readFile(b *testing.B, name string) string {
	b.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
