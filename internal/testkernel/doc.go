// Package testkernel runs a program as an older kernel would: system calls, and
// flags of system calls, that came later are answered as that kernel answers them,
// and Landlock reports the version that it had. It is for tests only.
//
// It emulates what a program can ask for and not what happens below: a file system,
// a control group file or a Landlock rule works as the running kernel has it. What
// that misses is shown by .ci/vm, on real kernels.
//
// A filter of the kernel's does it. Landlock's version is a number that no filter can
// give, so that a process outside answers that call. The kernel allows one such
// process: under the emulation, a cell has no record of the calls that it refused.
package testkernel
