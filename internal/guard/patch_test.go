package guard

import (
	"testing"

	"cordon/internal/policy"
)

// A patch is a write to the directory that it is applied in, or to the files that
// it names. A directory that may be entered is not one that may be written.
func TestPatchesWrite(t *testing.T) {
	s := leasedTo(t, func(p *policy.Policy) { p.Filesystem.WriteRoots = []string{"src"} })
	const named = " <<'E'\n--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-x\n+y\nE"
	const own = " <<'E'\n--- a/src/main.go\n+++ b/src/main.go\n@@ -1 +1 @@\n-x\n+y\nE"
	expect(t, s, Deny,
		"cd docs && patch -p0 < ../src/x.patch",
		"patch -p0 -d docs < src/x.patch",
		"patch -p0 -d docs -i src/x.patch",
		"cd docs && git apply ../src/x.patch",
		"git -C docs apply ../src/x.patch",
		"git -C docs am ../src/x.patch",
		"patch -d /usr/share -p0 < src/x.patch",
		"cd /usr/share; git apply x.patch",
		"git -C /usr/share apply x.patch",
		"cd src; patch -p1 -d .."+named,
		"cd src; cd ..; git apply"+named,
		"cd src; git -C .. apply"+named,
		"cat > src/x.patch"+named+"\ncd src; git -C .. apply src/x.patch",
	)
	// The controls: the same patches where they may be applied, and no patch at all.
	expect(t, s, Allow,
		"patch -p0 < src/x.patch",
		"patch -p0 -d src < src/x.patch",
		"patch -p0 -d docs --dry-run < src/x.patch",
		"git -C src apply x.patch",
		"git apply src/x.patch",
		"git -C docs apply --check ../src/x.patch",
		"git -C docs apply --cached ../src/x.patch",
		"cd docs && git status",
		"cd src; patch -p1 -d .."+own,
		"cd src; git -C .. apply"+own,
		"cat > src/x.patch"+own+"\ncd src; git -C .. apply src/x.patch",
	)
}
