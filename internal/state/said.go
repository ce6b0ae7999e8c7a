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

// said is what a program answered, and which file it was.
type said struct {
	File string `json:"file"` // device, inode, size and times
	Text string `json:"text"`
}

// Said is what a program says of its version. A program that is the same file as when it
// was last asked is not asked again: some take seconds to answer. What others could have
// written is not believed, and where nothing can be kept the program is asked each time.
func Said(program string, ask func() (string, error)) (string, error) {
	file, at := identity(program), saidAt()
	known := map[string]said{}
	if text, err := readOwn(at); err == nil && json.Unmarshal(text, &known) == nil {
		if have, ok := known[program]; ok && file != "" && have.File == file && have.Text != "" {
			return have.Text, nil
		}
	}
	text, err := ask()
	if err == nil && file != "" && at != "" && identity(program) == file {
		if known == nil {
			known = map[string]said{}
		}
		known[program] = said{file, text}
		keepSaid(at, known)
	}
	return text, err
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
	if _, err := os.Lstat(filepath.Dir(at)); err != nil || len(known) > 100 {
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
