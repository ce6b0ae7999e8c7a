package testnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Network is a network namespace with nothing but its own loopback. Only root can make one.
type Network struct{ file *os.File }

// NewNetwork makes a network. It ends when it is closed and the last program in it has ended.
func NewNetwork() (n Network, err error) {
	err = onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("a network namespace: %w", err)
		}
		if n.file, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		return linkUp("lo")
	})
	return n, err
}

// Close gives the network up.
func (n Network) Close() error { return n.file.Close() }

// Path is a file that nsenter takes, as long as this program runs.
func (n Network) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.file.Fd()) }

// Do calls a function whose sockets are in the network, also after its return.
func (n Network) Do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// onThread calls a function on a thread that ends with it, and with what it has changed for itself.
func onThread(f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks it
		result <- f()
	}()
	return <-result
}

// End is one end of a cable.
type End struct {
	Network Network
	Name    string // of the cable, there
	Address netip.Addr
}

// Connect lays a cable between two networks. Each reaches the address of the other, and nothing beyond it.
func Connect(a, b End) error {
	if err := a.Network.Do(func() error { return request(unix.RTM_NEWLINK, cableMessage(a.Name, b)) }); err != nil {
		return fmt.Errorf("a cable: %w", err)
	}
	for _, ends := range [][2]End{{a, b}, {b, a}} {
		own, other := ends[0], ends[1]
		err := own.Network.Do(func() error {
			link, err := net.InterfaceByName(own.Name)
			if err != nil {
				return err
			}
			return errors.Join(linkUp(own.Name), request(unix.RTM_NEWADDR, addressMessage(own.Address, other.Address, link.Index)))
		})
		if err != nil {
			return fmt.Errorf("the cable at %s: %w", own.Address, err)
		}
	}
	return nil
}

// vethPeer is VETH_INFO_PEER of the kernel's linux/veth.h.
const vethPeer = 1

// cableMessage asks for a pair of links, the second of them in another network. Neither can be up before the other is there.
func cableMessage(name string, other End) []byte {
	peer := attribute(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_IFNAME, []byte(other.Name+"\x00"))
	peer = attribute(peer, unix.IFLA_NET_NS_FD, binary.NativeEndian.AppendUint32(nil, uint32(other.Network.file.Fd())))
	info := attribute(nil, unix.IFLA_INFO_KIND, []byte("veth"))
	info = attribute(info, unix.IFLA_INFO_DATA, attribute(nil, vethPeer, peer))
	m := attribute(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_IFNAME, []byte(name+"\x00"))
	return attribute(m, unix.IFLA_LINKINFO, info)
}
