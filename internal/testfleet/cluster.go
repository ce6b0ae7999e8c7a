// Package testfleet runs servers of an engine as processes on loopback, for tests that kill
// them. It refuses to be part of the product.
package testfleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/testwait"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// asServer is the variable that makes a test program a server.
const asServer = "CORDON_TEST_SERVER"

// Cluster is three servers.
type Cluster struct {
	servers []oneServer
	running []*exec.Cmd
}

// oneServer is a server, as its process is told.
type oneServer struct {
	Name, Store  string
	Port, Routes int
	Others       []int
}

// New starts three servers that keep their stores below a directory. The caller stops them.
func New(dir string) (*Cluster, error) {
	c := &Cluster{running: make([]*exec.Cmd, 3)}
	ports, err := freePorts(6)
	if err != nil {
		return nil, err
	}
	for i := range c.running {
		name := fmt.Sprint("s", i)
		c.servers = append(c.servers, oneServer{Name: name, Store: filepath.Join(dir, name), Port: ports[i], Routes: ports[3+i], Others: ports[3:]})
	}
	for i := range c.running {
		if err := c.Start(i); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// given are the ports that this process has handed out: one cluster does not listen yet, or is down for a while, when
// another one that runs beside it looks for ports.
var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// freePorts are ports that nobody has. They lie below those that the kernel gives to connections: a server that is
// down for a while has to get its own again.
func freePorts(n int) (ports []int, err error) {
	given.Lock()
	defer given.Unlock()
	for tries := 0; len(ports) < n; tries++ {
		port := 10000 + rand.IntN(20000)
		if given.ports[port] {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			if tries > 100 {
				return nil, err
			}
			continue
		}
		defer l.Close()
		given.ports[port] = true
		ports = append(ports, port)
	}
	return ports, nil
}

// URLs are where the servers listen, with commas.
func (c *Cluster) URLs() string {
	var list []string
	for _, s := range c.servers {
		list = append(list, fmt.Sprintf("nats://127.0.0.1:%d", s.Port))
	}
	return strings.Join(list, ",")
}

// Start starts the process of a server, and returns when it listens.
func (c *Cluster) Start(i int) error {
	order, err := json.Marshal(c.servers[i])
	if err != nil {
		return err
	}
	cmd, err := Again(asServer + "=" + string(order))
	if err != nil {
		return err
	}
	c.running[i] = cmd
	return nil
}

// Kill kills the process of a server.
func (c *Cluster) Kill(i int) {
	if c.running[i] != nil {
		_ = c.running[i].Process.Kill()
		_ = c.running[i].Wait()
		c.running[i] = nil
	}
}

// Stop kills all.
func (c *Cluster) Stop() {
	for i := range c.running {
		c.Kill(i)
	}
}

// Lose kills all, deletes everything that they stored, and starts them again.
func (c *Cluster) Lose() error {
	c.Stop()
	var err error
	for i := range c.running {
		err = errors.Join(err, os.RemoveAll(c.servers[i].Store))
	}
	for i := range c.running {
		err = errors.Join(err, c.Start(i))
	}
	return err
}

// Leader is the number of the server that leads a stream. It waits until one does.
func (c *Cluster) Leader(ctx context.Context, stream string) (int, error) {
	conn, err := nats.Connect(c.URLs(), nats.Timeout(time.Minute))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		s, err := js.Stream(ctx, stream)
		if err == nil && s.CachedInfo().Cluster != nil {
			if i, err := strconv.Atoi(strings.TrimPrefix(s.CachedInfo().Cluster.Leader, "s")); err == nil {
				return i, nil
			}
		}
		testwait.Pass(ctx, 50*time.Millisecond)
	}
	return 0, fmt.Errorf("no server leads %s: %w", stream, ctx.Err())
}

// Again starts this program once more, with a variable, and returns when it has printed a line.
// It ends when this process does: its standard input ends then.
func Again(variable string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("it said %q: %w", line, errors.Join(err, cmd.Wait()))
	}
	return cmd, nil
}

// Ready says to Again that this process is ready.
func Ready() { fmt.Println("ready") }

// AwaitParent returns when the process that started this one is gone.
func AwaitParent() { _, _ = os.Stdin.Read(make([]byte, 1)) }

// ServeIfAsked makes this process a server, if it was started as one.
func ServeIfAsked() {
	order := os.Getenv(asServer)
	if order == "" {
		return
	}
	if err := serve(order); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(order string) error {
	var o oneServer
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	var routes []string
	for _, port := range o.Others {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	s, err := server.NewServer(&server.Options{
		ServerName: o.Name, Host: "127.0.0.1", Port: o.Port, JetStream: true, StoreDir: o.Store, NoLog: true, NoSigs: true,
		Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: o.Routes, NoAdvertise: true}, Routes: server.RoutesFromStr(strings.Join(routes, ",")),
	})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		return errors.New(o.Name + " is not ready")
	}
	Ready()
	AwaitParent()
	return nil
}

// AwaitParentThenExit ends this process with the one that started it.
func AwaitParentThenExit() {
	AwaitParent()
	os.Exit(0)
}
