package present

import (
	"encoding/json"
	"errors"
	"strconv"

	"cordon/internal/config"
	"cordon/internal/strictyaml"
	"cordon/internal/view"
)

// ConfigView is the operator's configuration as it is shown.
func ConfigView(l config.Loaded) (*view.Config, error) {
	text, err := json.Marshal(l.Config)
	v := &view.Config{File: l.File, There: l.There, Config: text}
	for _, s := range config.Settings(l.Config, l.Given) {
		source := "default"
		if s.Line > 0 {
			source = l.File + ":" + strconv.Itoa(s.Line)
		}
		if line := l.Machine[s.Key]; line > 0 {
			source += ", " + config.MachineFile + ":" + strconv.Itoa(line)
		}
		v.Settings = append(v.Settings, view.Setting{Key: s.Key, Value: s.Value, Source: source})
	}
	return v, err
}

// ConfigRows is a table of every key.
func ConfigRows(v *view.Config) [][]string {
	rows := [][]string{{"KEY", "VALUE", "SOURCE"}}
	for _, s := range v.Settings {
		rows = append(rows, []string{s.Key, s.Value, s.Source})
	}
	return rows
}

// CheckedFile is the result of checking one file.
func CheckedFile(file, warning string, err error) view.CheckedFile {
	r := view.CheckedFile{File: file, OK: err == nil, Warning: warning}
	var bad *strictyaml.Error
	if errors.As(err, &bad) {
		r.Line, r.Column, r.Problem, r.Hint = bad.Line, bad.Column, bad.Problem, bad.Hint
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}
