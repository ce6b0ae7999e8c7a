// Package kernel has the attempts on what the kernel offers: namespaces, mounts, /proc,
// devices, unusual system calls, and the limits of resources.
//
// It judges nothing by itself: package arena does, on the host.
package kernel
