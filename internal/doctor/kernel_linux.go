package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fileSystems are those that cordon has a name or a doubt for.
var fileSystems = map[int64]fileSystem{
	unix.EXT4_SUPER_MAGIC:      {name: "ext4"}, // ext2 and ext3 have the same number
	unix.XFS_SUPER_MAGIC:       {name: "xfs"},
	unix.BTRFS_SUPER_MAGIC:     {name: "btrfs"},
	unix.F2FS_SUPER_MAGIC:      {name: "f2fs"},
	unix.BCACHEFS_SUPER_MAGIC:  {name: "bcachefs"},
	0x2fc12fc1:                 {name: "zfs"},
	unix.OVERLAYFS_SUPER_MAGIC: {name: "overlayfs", holdsNoLayers: true},
	unix.TMPFS_MAGIC:           {name: "tmpfs", doubt: isVolatile},
	unix.RAMFS_MAGIC:           {name: "ramfs", doubt: isVolatile},
	unix.NFS_SUPER_MAGIC:       {name: "nfs", doubt: isRemote},
	unix.CIFS_SUPER_MAGIC:      {name: "cifs", doubt: isRemote},
	unix.SMB2_SUPER_MAGIC:      {name: "smb", doubt: isRemote},
	unix.SMB_SUPER_MAGIC:       {name: "smb", doubt: isRemote},
	unix.V9FS_MAGIC:            {name: "9p", doubt: isRemote},
	unix.CEPH_SUPER_MAGIC:      {name: "ceph", doubt: isRemote},
	unix.AFS_SUPER_MAGIC:       {name: "afs", doubt: isRemote},
	unix.FUSE_SUPER_MAGIC:      {name: "fuse", doubt: isRemote},
}

func fileSystemOf(place string) (fileSystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(place, &st); err != nil {
		return fileSystem{}, err
	}
	if kind, known := fileSystems[int64(st.Type)]; known {
		return kind, nil
	}
	return fileSystem{name: fmt.Sprintf("a file system of type %#x", st.Type)}, nil
}

// checkKernel says what the kernel has of what the cell is to be made of. The
// order is that of kernelFeatures.
func checkKernel(ctx context.Context) []check {
	answers := []func(context.Context) (status, string, string){
		kernelRelease, userNamespaces, overlayMounts, landlock, seccompFilters, cgroups,
	}
	var checks []check
	for i, answer := range answers {
		word, detail, hint := answer(ctx)
		checks = append(checks, check{kernelFeatures[i], word, detail, hint})
	}
	return checks
}

func kernelRelease(context.Context) (status, string, string) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return statusInfo, err.Error(), ""
	}
	return statusInfo, unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]), ""
}

// probePatience is how long a probe of the kernel may take.
const probePatience = 5 * time.Second

// inNamespaces runs a program in a user and a mount namespace of its own, as the
// given user of the former.
func inNamespaces(ctx context.Context, inside int, argv ...string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = "/", plainEnviron(os.LookupEnv), &capped{w: &said, left: 4096}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: os.Getgid(), Size: 1}},
	}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if line := firstLine(said.String()); err != nil && said.Len() > 0 {
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

func userNamespaces(ctx context.Context) (status, string, string) {
	err := inNamespaces(ctx, os.Getuid(), "true")
	if errors.Is(err, exec.ErrNotFound) {
		return statusInfo, "not probed: there is no program true on PATH", ""
	}
	if err != nil {
		return statusInfo, "refused: " + err.Error(), ""
	}
	if os.Getuid() == 0 {
		return statusOK, "made one, as root; this says nothing about other users", ""
	}
	return statusOK, "made one as an ordinary user", ""
}

func setting(name string) string {
	text, err := os.ReadFile(filepath.Join("/proc/sys", name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// overlayMounts mounts an overlay over directories of its own in namespaces of
// its own, which end with the program that mounted it.
func overlayMounts(ctx context.Context) (status, string, string) {
	dir, err := os.MkdirTemp("", "cordon-doctor-")
	if err != nil {
		return statusInfo, "not probed: " + err.Error(), ""
	}
	defer os.RemoveAll(dir) // empty directories in the place for temporary ones
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return statusInfo, "not probed: " + err.Error(), ""
		}
	}
	if strings.ContainsAny(dir, ",:\\") {
		return statusInfo, "not probed: " + dir + " cannot stand in mount options", ""
	}
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work,userxattr", dir)
	err = inNamespaces(ctx, 0, "mount", "-n", "-t", "overlay", "-o", options, "overlay", filepath.Join(dir, "merged"))
	if errors.Is(err, exec.ErrNotFound) {
		return statusInfo, "not probed: there is no program mount on PATH", ""
	}
	if err != nil {
		return statusInfo, "refused over " + os.TempDir() + ": " + err.Error(), ""
	}
	return statusOK, "mounted one over " + os.TempDir(), ""
}

// landlockGains is what each version of the kernel's interface added.
var landlockGains = []string{"files", "files across directories", "truncate", "TCP ports", "device ioctl", "signals and abstract sockets", "audit"}

func landlock(context.Context) (status, string, string) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS:
		return statusInfo, "not in this kernel", "it came with Linux 5.13"
	case errno == unix.EOPNOTSUPP:
		return statusInfo, "in this kernel, but switched off", "add landlock to lsm= on the kernel's command line"
	case errno != 0:
		return statusInfo, errno.Error(), ""
	}
	if version == 1 {
		return statusWarn, "ABI 1: files, but in a strict cell none can be renamed into another directory (git mv fails, mv copies)",
			"Linux 5.19 has a later one; isolation: degraded leaves Landlock out"
	}
	known := min(int(version), len(landlockGains))
	return statusOK, fmt.Sprintf("ABI %d: %s", version, strings.Join(landlockGains[:known], ", ")), ""
}

func seccompFilters(context.Context) (status, string, string) {
	mode, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_SECCOMP, 0, 0)
	if errno != 0 {
		return statusInfo, "not in this kernel: " + errno.Error(), ""
	}
	actions := setting("kernel/seccomp/actions_avail")
	if actions == "" {
		return statusInfo, "without filters", ""
	}
	detail := "filters with " + actions
	if mode != 0 {
		detail += "; one is on this process already"
	}
	return statusOK, detail, ""
}

func cgroups(context.Context) (status, string, string) {
	const at = "/sys/fs/cgroup"
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return statusInfo, "none: " + err.Error(), ""
	}
	if int64(st.Type) != unix.CGROUP2_SUPER_MAGIC {
		return statusInfo, "no cgroup v2 at " + at + "; the line on the memory limit says what that means", ""
	}
	own := filepath.Join(at, ownGroup())
	if err := unix.Access(filepath.Join(own, "cgroup.procs"), unix.W_OK); err != nil {
		return statusOK, "cgroup v2, but not delegated to you; the line on the memory limit says what that means", ""
	}
	return statusOK, "cgroup v2, delegated to you", ""
}

// ownGroup is the version 2 group of this process.
func ownGroup() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if group, found := strings.CutPrefix(line, "0::"); found {
			return strings.TrimSpace(group)
		}
	}
	return ""
}
