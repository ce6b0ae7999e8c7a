package enclosure

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/cell"
)

// PathVariable repeats the worker's PATH for login shells.
const PathVariable = "CORDON_PATH"

// profileDir holds what a login shell reads after the system's own profile.
const profileDir = "/etc/profile.d"

// profile gives a login shell the worker's PATH back. The system's profile sets another one, and
// what mends that on the host is in start files of the home, which may hold secrets.
const profile = `# cordon: the PATH that the worker started with
if [ -n "$` + PathVariable + `" ]; then
	PATH=$` + PathVariable + `
	export PATH
fi
`

// keepPath shows the profile to login shells.
func (e Enclosure) keepPath(o *cell.Order) error {
	if len(e.State) == 0 || !directory(e.State[0]) || !directory(profileDir) || o.ReadsHome() || len(o.Read) > 0 && !slices.Contains(o.Read, "/") {
		return nil
	}
	file := filepath.Join(e.State[0], "profile.sh")
	if text, err := os.ReadFile(file); err != nil || string(text) != profile {
		if err := writeProfile(file); err != nil {
			return err
		}
	}
	o.Bind = append(o.Bind, cell.Bind{From: file, At: filepath.Join(profileDir, "zz-cordon.sh")})
	return nil
}

// writeProfile makes a file that is complete or not there: other launches read it meanwhile.
func writeProfile(file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".profile-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(profile)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
