//go:build !linux

package doctor

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"
)

// volatile and remote file systems by the name the kernel gives them.
var (
	remoteFileSystems   = []string{"nfs", "smbfs", "afpfs", "webdav", "macfuse", "osxfuse"}
	volatileFileSystems = []string{"tmpfs"}
)

func fileSystemOf(place string) (fileSystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(place, &st); err != nil {
		return fileSystem{}, err
	}
	kind := fileSystem{name: unix.ByteSliceToString(st.Fstypename[:])}
	switch {
	case slices.Contains(remoteFileSystems, kind.name):
		kind.doubt = isRemote
	case slices.Contains(volatileFileSystems, kind.name):
		kind.doubt = isVolatile
	}
	return kind, nil
}

// checkKernel has nothing to try: what the cell is to be made of is Linux's.
func checkKernel(context.Context) []check {
	var checks []check
	for _, name := range kernelFeatures {
		checks = append(checks, check{name, statusInfo, "not on this system", ""})
	}
	return checks
}
