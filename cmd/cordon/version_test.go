package main

import (
	"runtime/debug"
	"testing"
)

func TestBuildOf(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	for _, i := range []*debug.BuildInfo{nil, {}, info} {
		if b := buildOf(i); b.version != "devel" || b.origin() != "unknown commit" {
			t.Errorf("%+v: %+v", i, b)
		}
	}
	info.Main.Version = "v1.2.3"
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	if b := buildOf(info); b.version != "v1.2.3" || b.origin() != "0123456789 modified" {
		t.Errorf("%+v", b)
	}
}
