package seccomp

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// int80 is a program that makes one 32-bit call from 64-bit code, with the first
// three arguments 1, and exits with its errno. It is written byte by byte
// because an assembly file would be a part of the product: Go has none for
// tests alone.
func int80(t *testing.T, nr uint32) string {
	t.Helper()
	const base = 0x400000
	text := append([]byte{0xb8}, binary.LittleEndian.AppendUint32(nil, nr)...) // mov eax, nr
	text = append(text,
		0xbb, 1, 0, 0, 0, // mov ebx, 1
		0xb9, 1, 0, 0, 0, // mov ecx, 1
		0xba, 1, 0, 0, 0, // mov edx, 1
		0xcd, 0x80, // int 0x80
		0x89, 0xc7, // mov edi, eax
		0xf7, 0xdf, // neg edi
		0x85, 0xc0, // test eax, eax
		0x78, 0x02, // js the next but one
		0x31, 0xff, // xor edi, edi
		0xb8, 231, 0, 0, 0, // mov eax, exit_group
		0x0f, 0x05, // syscall
	)
	head := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Entry: base + 64 + 56, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	size := uint64(64 + 56 + len(text))
	segment := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 0x1000}
	var b bytes.Buffer
	for _, part := range []any{head, segment, text} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "int80")
	if err := os.WriteFile(path, b.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// status is how a program ended: the errno of its call, or -1 after a signal.
func status(t *testing.T, mode, path string) unix.Errno {
	t.Helper()
	err := actor(t, "exec", mode, path).Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return unix.Errno(exit.ExitCode())
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// TestOtherABI walks around the table by the door for 32-bit programs, whose
// numbers mean other calls.
func TestOtherABI(t *testing.T) {
	for _, c := range []struct {
		name string
		nr   uint32
		bare unix.Errno
	}{
		{"getpid", 20, 0},
		{"mount", 21, unix.EFAULT},
		{"chroot", 61, unix.EFAULT},
		{"unlink", 10, unix.EFAULT}, // the native mprotect
	} {
		path := int80(t, c.nr)
		switch got := status(t, "bare", path); {
		case int(got) == -1:
			t.Skip("this kernel has no 32-bit calls")
		case got != c.bare:
			t.Errorf("%s without the filter: %v, want %v", c.name, got, c.bare)
		}
		if got := status(t, "filter", path); got != unix.ENOSYS {
			t.Errorf("%s: %v, want %v", c.name, got, unix.ENOSYS)
		}
	}
}
