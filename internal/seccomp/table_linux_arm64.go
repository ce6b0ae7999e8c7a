package seccomp

import "golang.org/x/sys/unix"

const nativeArch = unix.AUDIT_ARCH_AARCH64

// legacy is empty: this architecture began without the calls that others keep
// for old programs.
var legacy []rule
