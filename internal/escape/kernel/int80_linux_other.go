//go:build linux && !amd64

package kernel

const hasInt80 = false

func int80(_, _, _, _, _, _ uintptr) uintptr { return 0 }
