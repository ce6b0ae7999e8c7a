package confine

import (
	"debug/elf"
	"os"
	"path/filepath"

	"cordon/internal/git"
)

// libraryPath is the variable with the directories in which a program's libraries are looked
// for before those of the system.
const libraryPath = "LD_LIBRARY_PATH"

// systemLibraries are patterns of the directories with the system's libraries.
var systemLibraries = []string{"/lib/*-linux-*", "/usr/lib/*-linux-*", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}

// hardwareLibraries are names of directories in which the loader looks first.
var hardwareLibraries = []string{"glibc-hwcaps", "tls"}

// shadowLibraries adds what programs that git or a prompt runs would load from directories in
// the place of the system's libraries. Any other library can be built there.
func shadowLibraries(dirs []string, add func(git.Setting, ...string)) {
	names := append(librariesOf(oftenRun()), hardwareLibraries...)
	for _, dir := range dirs {
		for _, name := range names {
			add(git.Setting{Key: libraryPath}, filepath.Join(dir, name))
		}
	}
}

// librariesOf lists the names of the libraries that programs need, those that these need,
// and those that look users up.
func librariesOf(programs []string) []string {
	files := filesNamed("git-core/git-remote-https", "/usr/lib", "/usr/libexec")
	for _, name := range programs {
		files = append(files, onPath(name, "/")...)
	}
	files = append(files, filesNamed("libnss_*.so.*", systemLibraries...)...)
	var names []string
	known := map[string]bool{}
	for len(files) > 0 {
		needed := neededBy(files[0])
		files = files[1:]
		for _, name := range needed {
			if !known[name] {
				known[name] = true
				names = append(names, name)
				files = append(files, filesNamed(name, systemLibraries...)...)
			}
		}
	}
	for _, at := range filesNamed("libnss_*.so.*", systemLibraries...) {
		names = append(names, filepath.Base(at))
	}
	return names
}

// neededBy lists the libraries that a program or a library names; none for a script.
func neededBy(file string) []string {
	if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	f, err := elf.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil
	}
	return names
}

// filesNamed lists the files of a name in directories. Both may be patterns.
func filesNamed(name string, dirs ...string) []string {
	var list []string
	for _, dir := range dirs {
		if at, err := filepath.Glob(filepath.Join(dir, name)); err == nil {
			list = append(list, at...)
		}
	}
	return list
}
