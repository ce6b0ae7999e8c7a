package main

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"

	"cordon/internal/config"
	"cordon/internal/present"
	"cordon/internal/view"
)

func (a *app) configCheck(files []string) error {
	named := len(files) > 0
	if !named {
		dir, err := config.Dir()
		if err != nil {
			return err
		}
		files = []string{filepath.Join(dir, config.Name), config.MachineFile}
	}
	var shown view.ConfigCheck
	worst := error(nil)
	for _, file := range files {
		warning := ""
		err := config.Check(file)
		if errors.Is(err, fs.ErrNotExist) && !named {
			if file == config.MachineFile {
				continue
			}
			warning, err = "there is no such file: every value is the default", nil
		}
		shown.Results = append(shown.Results, present.CheckedFile(file, warning, err))
		worst = worse(worst, err)
	}
	return a.checkResults(&shown, shown.Results, worst)
}

// worse is the worst exit code so far.
func worse(worst, err error) error {
	if code := codeOf(err); code > codeOf(worst) {
		return codeError(code)
	}
	return worst
}

// checkResults prints the results of a check.
func (a *app) checkResults(o view.Object, results []view.CheckedFile, worst error) error {
	if a.json {
		return cmp.Or(a.object(o), worst)
	}
	for _, r := range results {
		if !r.OK {
			a.say("%s", r.Error)
			continue
		}
		if r.Unconfined {
			a.print("%s: valid, but commands run UNCONFINED as you (isolation: none)", r.File)
		} else {
			a.print("%s: ok", r.File)
		}
		if r.Warning != "" {
			a.say("%s: warning: %s", r.File, r.Warning)
		}
	}
	return worst
}
