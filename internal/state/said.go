package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cordon/internal/plainfile"
)

// saidFile remembers what programs said of their versions, for all repositories. It lies
// beside them, where no worker reads or writes.
const saidFile = "programs.json"

// mostSaid bounds how much is remembered.
const mostSaid = 200

// said is what a program answered, and which file it was.
type said struct {
	File string `json:"file"` // device, inode, size and times
	Text string `json:"text"`
}

// Said is what a program says of its version. A program that is the same file as when it
// was last asked is not asked again: some take seconds to answer. What others could have
// written is not believed, and where nothing can be kept the program is asked each time.
func Said(program string, ask func() (string, error)) (string, error) {
	return remembered(program, program, ask)
}

// remembered is what was found out about a file, once for each file that it was.
func remembered(key, path string, ask func() (string, error)) (string, error) {
	file, at := identity(path), saidAt()
	known := map[string]said{}
	if readSaid(at, &known); file != "" {
		if have, ok := known[key]; ok && have.File == file && have.Text != "" {
			return have.Text, nil
		}
	}
	text, err := ask()
	if err == nil && file != "" && at != "" && identity(path) == file {
		known[key] = said{file, text}
		keepSaid(at, known)
	}
	return text, err
}

// readSaid reads what is kept, if only this user could have written it.
func readSaid(at string, known *map[string]said) {
	text, err := readOwn(at)
	if err != nil || json.Unmarshal(text, known) != nil || *known == nil {
		*known = map[string]said{}
	}
}

// saidAt is where it is kept; "": nowhere.
func saidAt() string {
	root, err := RealRoot()
	if err != nil {
		return ""
	}
	return filepath.Join(root, saidFile)
}

// identity tells a program from every other that was in its place; "" where its file does not
// tell.
func identity(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	fi, err := os.Stat(real)
	if err != nil {
		return ""
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || !fi.Mode().IsRegular() || isShim(program, real) {
		return ""
	}
	return fmt.Sprintf("%s %d %d %d %d %d", real, st.Dev, st.Ino, st.Size, fi.ModTime().UnixNano(), changed(st))
}

// readOwn reads a file that only this user could have written.
func readOwn(at string) ([]byte, error) {
	fi, err := os.Lstat(at)
	if err != nil {
		return nil, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || fi.Mode().Perm()&0o022 != 0 {
		return nil, fs.ErrPermission
	}
	return plainfile.Read(at, 1<<20)
}

// keepSaid writes the file anew. Two that do so at once lose nothing but an answer.
func keepSaid(at string, known map[string]said) {
	for key := range known { // any of them: it is found out again
		if len(known) <= mostSaid {
			break
		}
		delete(known, key)
	}
	if _, err := os.Lstat(filepath.Dir(at)); err != nil {
		return // cordon keeps nothing yet
	}
	_ = writeOwn(at, known) // the program is asked again
}

// writeOwn writes a table that lies beside the repositories anew.
func writeOwn(at string, table any) error {
	text, err := json.Marshal(table)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(at), filepath.Base(at)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), at)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // made just now
	}
	return err
}
