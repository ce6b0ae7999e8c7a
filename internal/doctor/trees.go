package doctor

import (
	"context"

	"cordon/internal/state"
	"cordon/internal/workspace"
)

// checkTrees says what kind of trees workers get here, and why.
func checkTrees(ctx context.Context) check {
	root, err := state.RealRoot()
	if err != nil {
		return failed("trees", err, "")
	}
	place, err := existing(root)
	if err != nil {
		return failed("trees", err, "")
	}
	t, err := workspace.TryTrees(ctx, place)
	if err != nil {
		return check{"trees", statusInfo, "not tried: " + err.Error(), ""}
	}
	return treesCheck(t)
}

func treesCheck(t workspace.Trees) check {
	switch {
	case t.Overlay == "" && t.Snapshot == "":
		return check{"trees", statusOK, "overlay: copied on write above a checkout that workers share; with --tree=copy a snapshot of it", ""}
	case t.Overlay == "":
		return check{"trees", statusOK, "overlay: copied on write above a checkout that workers share", ""}
	case t.Snapshot == "":
		return check{"trees", statusOK, "snapshot of a checkout, by btrfs; no overlay: " + t.Overlay, ""}
	}
	return check{"trees", statusWarn, "copy: every file is written for each worker; no overlay: " + t.Overlay + "; " + t.Snapshot,
		"a state directory on btrfs would give snapshots"}
}
