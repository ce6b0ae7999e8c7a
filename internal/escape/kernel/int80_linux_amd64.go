package kernel

// hasInt80 says that the processor has a second, 32-bit entrance to the kernel.
const hasInt80 = true

//go:noescape
func int80(nr, a1, a2, a3, a4, a5 uintptr) uintptr
