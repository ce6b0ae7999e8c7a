package watch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// search looks for the process until a deadline. Only processes in the network
// namespace of the cell are looked into, and none where that is the machine's own.
func (o *owners) search(from, to netip.AddrPort, deadline time.Time) string {
	space := namespace(o.cell)
	if own, err := os.Readlink("/proc/self/ns/net"); space == "" || err != nil || own == space {
		return ""
	}
	inode := socketInode(o.cell, from, to, deadline)
	if inode == "" {
		return ""
	}
	pid := o.holder(space, "socket:["+inode+"]", deadline)
	if pid == 0 {
		return ""
	}
	o.remember(pid)
	return processName(pid, depth(o.cell))
}

func namespace(pid int) string {
	link, err := os.Readlink(procPath(pid, "ns/net"))
	if err != nil {
		return ""
	}
	return link
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// holder is the process that has a socket open, or 0.
func (o *owners) holder(space, link string, deadline time.Time) int {
	for _, pid := range o.recent {
		if namespace(pid) == space && holds(pid, link, deadline) {
			return pid
		}
	}
	for _, pid := range processes(deadline) {
		if time.Now().After(deadline) {
			return 0
		}
		if !slices.Contains(o.recent, pid) && namespace(pid) == space && holds(pid, link, deadline) {
			return pid
		}
	}
	return 0
}

// processes are the newest of this machine, the latest first: a worker's are later
// than the cell.
func processes(deadline time.Time) []int {
	var pids []int
	eachName("/proc", deadline, func(name string) bool {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
		return true
	})
	slices.SortFunc(pids, func(a, b int) int { return b - a })
	return pids[:min(len(pids), maxProcesses)]
}

// holds reports whether a process has a descriptor that leads to a socket.
func holds(pid int, link string, deadline time.Time) bool {
	found := false
	dir := procPath(pid, "fd")
	eachName(dir, deadline, func(fd string) bool {
		to, err := os.Readlink(dir + "/" + fd)
		found = err == nil && to == link
		return !found
	})
	return found
}

// eachName goes through a directory, however long it is, until the deadline.
func eachName(dir string, deadline time.Time, each func(string) bool) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	for !time.Now().After(deadline) {
		names, err := f.Readdirnames(128)
		for _, name := range names {
			if !each(name) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// socketInode is the number of the cell's socket at one end of a connection, or "".
// A socket of IPv6 can have an end of IPv4, so that both tables are read.
func socketInode(pid int, from, to netip.AddrPort, deadline time.Time) string {
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		f, err := os.Open(procPath(pid, table))
		if err != nil {
			continue
		}
		inode := findSocket(f, from, to, deadline)
		f.Close()
		if inode != "" {
			return inode
		}
	}
	return ""
}

// findSocket reads a table of sockets as the kernel writes it.
func findSocket(r io.Reader, from, to netip.AddrPort, deadline time.Time) string {
	in := bufio.NewReaderSize(r, 4096)
	from, to = unmapped(from), unmapped(to)
	for i := 0; ; i++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || i%64 == 63 && time.Now().After(deadline) {
			return ""
		}
		f := bytes.Fields(line)
		if len(f) >= 10 && string(f[9]) != "0" {
			local, ok1 := tableAddr(f[1])
			remote, ok2 := tableAddr(f[2])
			if ok1 && ok2 && local == from && remote == to {
				return decimal(string(f[9]))
			}
		}
		if err != nil {
			return ""
		}
	}
}

// listeningPorts are those at which sockets of a process's namespace listen, as far as
// they are found until a deadline: a worker can have any number of others. Where the
// namespace is the machine's own, nobody is asked.
func listeningPorts(pid int, deadline time.Time) map[uint16]bool {
	ports := map[uint16]bool{}
	space := namespace(pid)
	if own, err := os.Readlink("/proc/self/ns/net"); space == "" || err != nil || own == space {
		return ports
	}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		f, err := os.Open(procPath(pid, table))
		if err != nil {
			continue
		}
		readListening(f, ports, deadline)
		f.Close()
	}
	return ports
}

// readListening reads a table of sockets as the kernel writes it.
func readListening(r io.Reader, ports map[uint16]bool, deadline time.Time) {
	const state = "0A"
	in := bufio.NewReaderSize(r, 4096)
	for i := 0; len(ports) < maxListening; i++ {
		line, err := in.ReadSlice('\n')
		if err != nil || i%64 == 63 && time.Now().After(deadline) {
			return
		}
		f := bytes.Fields(line)
		if len(f) < 4 || string(f[3]) != state {
			continue
		}
		if local, ok := tableAddr(f[1]); ok {
			ports[local.Port()] = true
		}
	}
}

func decimal(s string) string {
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return ""
	}
	return s
}

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// tableAddr reads an address of the kernel's tables: words of 32 bits as this
// machine has them in memory, in hexadecimal, and the port.
func tableAddr(field []byte) (netip.AddrPort, bool) {
	text, portText, ok := bytes.Cut(field, []byte(":"))
	if !ok || len(text) != 8 && len(text) != 32 {
		return netip.AddrPort{}, false
	}
	raw := make([]byte, len(text)/2)
	if _, err := hex.Decode(raw, text); err != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	port, err := strconv.ParseUint(string(portText), 16, 16)
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), err == nil && ok
}

// processName is what a process calls itself, and its number in the cell.
func processName(pid, depth int) string {
	name, numbers := status(pid)
	if name == "" || len(numbers) == 0 {
		return ""
	}
	return fmt.Sprintf("%s[%s]", name, numbers[max(0, min(depth, len(numbers))-1)])
}

// depth is how many numbers the cell's first process has: the last is the one in
// the cell. Processes further down have more.
func depth(cell int) int {
	_, numbers := status(cell)
	return len(numbers)
}

// status is the name of a process and its numbers, from this machine's downwards.
func status(pid int) (name string, numbers []string) {
	text, err := os.ReadFile(procPath(pid, "status"))
	if err != nil {
		return "", nil
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "Name":
			name = strings.TrimSpace(value)
		case "NSpid":
			numbers = strings.Fields(value)
		}
	}
	return name, numbers
}
