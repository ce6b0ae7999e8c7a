package protocol

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// silent is a connection on which a script was said, and then no more.
type silent struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (c *silent) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *silent) Write(p []byte) (int, error)      { return c.out.Write(p) }
func (c *silent) Close() error                     { return nil }
func (c *silent) SetDeadline(time.Time) error      { return nil }
func (c *silent) SetReadDeadline(time.Time) error  { return nil }
func (c *silent) SetWriteDeadline(time.Time) error { return nil }
func (c *silent) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *silent) LocalAddr() net.Addr              { return &net.TCPAddr{} }

// realHello is the first thing that a client of crypto/tls says.
func realHello(t testing.TB, cfg *tls.Config) []byte {
	t.Helper()
	c := &silent{in: strings.NewReader("")}
	_ = tls.Client(c, cfg).HandshakeContext(context.Background())
	if c.out.Len() == 0 {
		t.Fatal("the client said nothing")
	}
	return c.out.Bytes()
}

// serverName is the name that a server of crypto/tls takes from a hello.
func serverName(said []byte) (name string, taken bool) {
	stop := errors.New("stop")
	cfg := &tls.Config{MinVersion: tls.VersionTLS10, GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, taken = h.ServerName, true
		return nil, stop
	}}
	_ = tls.Server(&silent{in: bytes.NewReader(said)}, cfg).HandshakeContext(context.Background())
	return name, taken
}

func realConfigs(t testing.TB) map[string]*tls.Config {
	t.Helper()
	return map[string]*tls.Config{
		"plain":     {ServerName: "a.example"},
		"1.2":       {ServerName: "a.example", MaxVersion: tls.VersionTLS12},
		"1.0":       {ServerName: "a.example", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10},
		"1.3 only":  {ServerName: "a.example", MinVersion: tls.VersionTLS13},
		"alpn":      {ServerName: "a.example", NextProtos: []string{"h2", "http/1.1"}},
		"long alpn": {ServerName: "a.example", NextProtos: slices.Repeat([]string{strings.Repeat("x", 250)}, 90)},
		"curve":     {ServerName: "a.example", CurvePreferences: []tls.CurveID{tls.X25519}},
		"tickets":   {ServerName: "a.example", ClientSessionCache: tls.NewLRUClientSessionCache(1)},
		"upper":     {ServerName: "A.Example"},
		"dot":       {ServerName: "a.example."},
		"long":      {ServerName: strings.Repeat(strings.Repeat("a", 49)+".", 5) + "com"},
		"puny":      {ServerName: "xn--bcher-kva.example"},
		"address":   {ServerName: "192.0.2.1"},
		"nameless":  {InsecureSkipVerify: true},
		"hidden":    {ServerName: "secret.example", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: echConfigs(t, "a.example")},
	}
}

// echConfigs is what a DNS would say for servers that take encrypted hellos.
func echConfigs(t testing.TB, public string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte{7, 0, 0x20}
	body = append(body, vector16(key.PublicKey().Bytes())...)
	body = append(body, 0, 4, 0, 1, 0, 1, 32, byte(len(public)))
	body = append(body, public...)
	body = append(body, 0, 0)
	return vector16(append([]byte{0xfe, 0x0d}, vector16(body)...))
}

func vector16(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
}

func TestHelloOfRealClients(t *testing.T) {
	for what, cfg := range realConfigs(t) {
		said := realHello(t, cfg)
		o, err := ReadOpening(bytes.NewReader(said))
		want := strings.TrimSuffix(strings.ToLower(cfg.ServerName), ".")
		switch what {
		case "hidden":
			want = "a.example"
		case "address":
			want = ""
		}
		if err != nil || o.Protocol != TLS || o.Name != want || o.hidden != (what == "hidden") {
			t.Errorf("%s: %v %q hidden=%v %v", what, o.Protocol, o.Name, o.hidden, err)
		}
		if !bytes.Equal(o.Read, said) {
			t.Errorf("%s: %d of %d bytes were read", what, len(o.Read), len(said))
		}
		if name, taken := serverName(said); !taken || !strings.EqualFold(name, o.Name) {
			t.Errorf("%s: a server takes %q (%v), we take %q", what, name, taken, o.Name)
		}
	}
}

// cut puts a message into records of so many bytes.
func cut(message []byte, size int) []byte {
	var b []byte
	for part := range slices.Chunk(message, size) {
		b = append(b, 0x16, 3, 1)
		b = append(b, vector16(part)...)
	}
	return b
}

func TestHelloInPieces(t *testing.T) {
	said := realHello(t, &tls.Config{ServerName: "a.example"})
	for _, size := range []int{1, 2, 3, 5, 100, 1000, 16384} {
		records := cut(said[5:], size)
		for what, r := range map[string]io.Reader{"whole": bytes.NewReader(records), "bytes": iotest.OneByteReader(bytes.NewReader(records)),
			"data and end": iotest.DataErrReader(bytes.NewReader(records))} {
			o, err := ReadOpening(r)
			if err != nil || o.Name != "a.example" || !bytes.Equal(o.Read, records) {
				t.Errorf("records of %d, %s: %q %v", size, what, o.Name, err)
			}
		}
	}
	for n := range said {
		o, err := ReadOpening(bytes.NewReader(said[:n]))
		if !errors.Is(err, io.EOF) || !bytes.Equal(o.Read, said[:n]) || n > 1 && o.Protocol != TLS {
			t.Fatalf("%d bytes: %v %v, %d read", n, o.Protocol, err, len(o.Read))
		}
	}
	behind := append(slices.Clone(said), "\x17\x03\x03\x00\x01early"...)
	if o, err := ReadOpening(bytes.NewReader(behind)); err != nil || !bytes.HasPrefix(behind, o.Read) {
		t.Errorf("with more behind it: %v", err)
	}
}

// made is a hello whose every part can be wrong.
type made struct {
	version    []byte
	session    []byte
	suites     []byte
	compress   []byte
	extensions []byte // with their length; nil: none
	behind     []byte
	kind       byte
	longer     int // than it says
}

func helloExtension(kind uint16, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, kind), vector16(data)...)
}

func names(list ...string) []byte {
	var b []byte
	for _, n := range list {
		b = append(append(b, 0), vector16([]byte(n))...)
	}
	return helloExtension(0, vector16(b))
}

func (m made) bytes() []byte {
	or := func(b, standard []byte) []byte {
		if b == nil {
			return standard
		}
		return b
	}
	body := append(or(m.version, []byte{3, 3}), make([]byte, 32)...)
	body = append(body, byte(len(m.session)))
	body = append(body, m.session...)
	body = append(body, vector16(or(m.suites, []byte{0x0a, 0x0a, 0x13, 1, 0xc0, 0x2f}))...)
	compress := or(m.compress, []byte{0})
	body = append(append(body, byte(len(compress))), compress...)
	body = append(append(body, m.extensions...), m.behind...)
	said := len(body) + m.longer
	message := append([]byte{max(m.kind, 1), byte(said >> 16), byte(said >> 8), byte(said)}, body...)
	return cut(message, 1<<14)
}

func with(extensions ...[]byte) made { return made{extensions: vector16(slices.Concat(extensions...))} }

var helloTable = []struct {
	what   string
	said   []byte
	name   string
	hidden bool
	why    string // of the refusal
}{
	{"a name", with(names("a.example")).bytes(), "a.example", false, ""},
	{"upper case", with(names("A.EXAMPLE")).bytes(), "a.example", false, ""},
	{"a dot at the end", with(names("a.example.")).bytes(), "a.example", false, ""},
	{"two dots at the end", with(names("a.example..")).bytes(), "", false, "not a host name"},
	{"no extensions", made{}.bytes(), "", false, ""},
	{"empty extensions", with().bytes(), "", false, ""},
	{"others around it", with(helloExtension(0x2a2a, nil), names("a.example"), helloExtension(0xeaea, []byte{0})).bytes(), "a.example", false, ""},
	{"SSL 3", made{version: []byte{3, 0}, extensions: vector16(names("a.example"))}.bytes(), "a.example", false, ""},
	{"a session", made{session: make([]byte, 32), extensions: vector16(names("a.example"))}.bytes(), "a.example", false, ""},
	{"too long a session", made{session: make([]byte, 33), extensions: vector16(names("a.example"))}.bytes(), "", false, "malformed"},
	{"version 2", made{version: []byte{2, 0}}.bytes(), "", false, "malformed"},
	{"DTLS", made{version: []byte{0xfe, 0xfd}}.bytes(), "", false, "malformed"},
	{"no suites", made{suites: []byte{}}.bytes(), "", false, "malformed"},
	{"half a suite", made{suites: []byte{1, 2, 3}}.bytes(), "", false, "malformed"},
	{"no compression", made{compress: []byte{}}.bytes(), "", false, "malformed"},
	{"something behind the extensions", made{extensions: vector16(names("a.example")), behind: []byte{0}}.bytes(), "", false, "malformed"},
	{"extensions that say more", made{extensions: append([]byte{0, 99}, names("a.example")...)}.bytes(), "", false, "malformed"},
	{"extensions that say less", made{extensions: append([]byte{0, 9}, names("a.example")...)}.bytes(), "", false, "malformed"},
	{"half an extension", with(names("a.example"), []byte{0, 1, 0}).bytes(), "", false, "malformed"},
	{"an extension that says more", with(names("a.example"), []byte{0, 1, 0, 9, 1}).bytes(), "", false, "malformed"},
	{"two extensions with names", with(names("a.example"), names("b.example")).bytes(), "", false, "twice"},
	{"any extension twice", with(names("a.example"), helloExtension(7, nil), helloExtension(7, nil)).bytes(), "", false, "twice"},
	{"two names", with(names("a.example", "b.example")).bytes(), "", false, "several"},
	{"the same name twice", with(names("a.example", "a.example")).bytes(), "", false, "several"},
	{"an empty name", with(names("")).bytes(), "", false, "malformed"},
	{"no name in the list", with(helloExtension(0, []byte{0, 0})).bytes(), "", false, "malformed"},
	{"an empty extension", with(helloExtension(0, nil)).bytes(), "", false, "malformed"},
	{"a list that says more", with(helloExtension(0, []byte{0, 9, 0, 0, 1, 'a'})).bytes(), "", false, "malformed"},
	{"a list that says less", with(helloExtension(0, []byte{0, 4, 0, 0, 1, 'a', 'b'})).bytes(), "", false, "malformed"},
	{"a name that says more", with(helloExtension(0, []byte{0, 4, 0, 0, 9, 'a'})).bytes(), "", false, "malformed"},
	{"a name of another kind", with(helloExtension(0, []byte{0, 4, 1, 0, 1, 'a'})).bytes(), "", false, "something else"},
	{"NUL", with(names("a.example\x00.b.example")).bytes(), "", false, "not a host name"},
	{"a space", with(names("a.example ")).bytes(), "", false, "not a host name"},
	{"not ASCII", with(names("ä.example")).bytes(), "", false, "not a host name"},
	{"not ASCII, and mapped to a name", with(names("a。example")).bytes(), "", false, "not a host name"},
	{"full-width letters", with(names("ａ.example")).bytes(), "", false, "not a host name"},
	{"a letter whose lower case is ASCII", with(names("\u212aa.example")).bytes(), "", false, "not a host name"},
	{"punycode", with(names("xn--a-7fa.example")).bytes(), "xn--a-7fa.example", false, ""},
	{"punycode of ASCII", with(names("xn--a-.example")).bytes(), "", false, "not a host name"},
	{"an address", with(names("192.0.2.1")).bytes(), "", false, "not a host name"},
	{"too long a name", with(names(strings.Repeat("a.", 127) + "example")).bytes(), "", false, "not a host name"},
	{"encrypted hello", with(names("a.example"), helloExtension(0xfe0d, []byte{0})).bytes(), "a.example", true, ""},
	{"encrypted hello before", with(helloExtension(0xfe0d, []byte{0}), names("a.example")).bytes(), "a.example", true, ""},
	{"encrypted hello alone", with(helloExtension(0xfe0d, nil)).bytes(), "", true, ""},
	{"a draft", with(names("a.example"), helloExtension(0xfe09, nil)).bytes(), "a.example", true, ""},
	{"an older draft", with(names("a.example"), helloExtension(0xff02, nil)).bytes(), "a.example", true, ""},
	{"the oldest", with(names("a.example"), helloExtension(0xffce, nil)).bytes(), "a.example", true, ""},
	{"a message that says more than a hello may be", made{longer: maxOpening}.bytes(), "", false, "longer than"},
	{"a message that says less", made{longer: -1}.bytes(), "", false, "followed by something else"},
	{"another message", made{kind: 2}.bytes(), "", false, "does not begin"},
	{"an empty record", []byte{0x16, 3, 1, 0, 0}, "", false, "0 bytes"},
	{"too long a record", []byte{0x16, 3, 1, 0x40, 1}, "", false, "16385 bytes"},
	{"a record of version 3.9", []byte{0x16, 3, 9, 0, 1, 1}, "", false, "version 3.9"},
	{"a record of version 2.1", append([]byte{0x16, 2}, with(names("a.example")).bytes()[2:]...), "", false, "version 2.1"},
	{"a record of version 0", append([]byte{0x16, 0, 0}, with(names("a.example")).bytes()[3:]...), "", false, "version 0.0"},
	{"an alert before", append([]byte{0x15, 3, 1, 0, 2, 1, 0}, with(names("a.example")).bytes()...), "", false, "interrupted"},
	{"an alert of version 1 before", append([]byte{0x15, 1, 1, 0, 2, 1, 0}, with(names("a.example")).bytes()...), "", false, "interrupted"},
	{"an alert inside", append(cut([]byte{1, 0, 1}, 9), 0x15, 3, 1, 0, 2, 2, 0), "", false, "interrupted"},
	{"longer than may be read", with(names("a.example"), helloExtension(21, make([]byte, maxOpening-60))).bytes(), "", false, "longer than"},
}

func TestHelloTable(t *testing.T) {
	for _, c := range helloTable {
		o, err := ReadOpening(bytes.NewReader(c.said))
		var strange *StrangerError
		switch {
		case o.Protocol != TLS, o.Name != c.name, o.hidden != c.hidden, !bytes.HasPrefix(c.said, o.Read):
			t.Errorf("%s: %v %q hidden=%v %v", c.what, o.Protocol, o.Name, o.hidden, err)
		case c.why == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.why != "" && (!errors.As(err, &strange) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%s: %v, not %q", c.what, err, c.why)
		}
	}
}

func TestRefusalIsUnderstoodByTLS(t *testing.T) {
	c := &silent{in: bytes.NewReader(RefusalTLS())}
	err := tls.Client(c, &tls.Config{ServerName: "a.example"}).HandshakeContext(context.Background())
	var alert tls.AlertError
	if !errors.As(err, &alert) && !strings.Contains(fmt.Sprint(err), "access denied") || !strings.Contains(err.Error(), "access denied") {
		t.Errorf("a client says %v", err)
	}
}

// agree: whatever a server takes from a hello, we take the same or refuse; and we
// take the same however it comes.
func agree(t *testing.T, said []byte) {
	t.Helper()
	o, err := ReadOpening(bytes.NewReader(said))
	if !bytes.HasPrefix(said, o.Read) || len(o.Read) > maxOpening {
		t.Fatalf("%d bytes were read of %d", len(o.Read), len(said))
	}
	slow, slowErr := ReadOpening(iotest.OneByteReader(bytes.NewReader(said)))
	if fmt.Sprint(err) != fmt.Sprint(slowErr) || slow.Name != o.Name || slow.hidden != o.hidden || slow.Protocol != o.Protocol {
		t.Fatalf("at once %v %q %v, byte by byte %v %q %v: %x", o.Protocol, o.Name, err, slow.Protocol, slow.Name, slowErr, said)
	}
	if err != nil {
		if o.Name != "" || o.hidden {
			t.Fatalf("a name with an error: %q %v", o.Name, err)
		}
		return
	}
	name, taken := serverName(said)
	if taken && o.Protocol != TLS {
		t.Fatalf("a server takes %q, and we do not take it for TLS: %x", name, said)
	}
	if taken && !strings.EqualFold(strings.TrimSuffix(name, "."), o.Name) {
		t.Fatalf("a server takes %q, we take %q: %x", name, o.Name, said)
	}
}

// mutate changes a few bytes, or takes some away, or says some twice.
func mutate(r *mathrand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + r.Intn(3) {
		at := r.Intn(len(b))
		switch end := min(at+1+r.Intn(8), len(b)); r.Intn(4) {
		case 0:
			b[at] = byte(r.Intn(256))
		case 1:
			b[at] += byte(r.Intn(5)) - 2
		case 2:
			b = slices.Delete(b, at, max(min(end, len(b)-1), at))
		case 3:
			b = slices.Insert(b, at, b[at:end]...)
		}
	}
	return b
}

func TestHelloAgreesWithServers(t *testing.T) {
	r := mathrand.New(mathrand.NewSource(1))
	seeds := [][]byte{realHello(t, &tls.Config{ServerName: "a.example", CurvePreferences: []tls.CurveID{tls.X25519}})}
	for _, c := range helloTable {
		agree(t, c.said)
		if len(c.said) < 200 {
			seeds = append(seeds, c.said)
		}
	}
	for range 4000 {
		agree(t, mutate(r, seeds[r.Intn(len(seeds))]))
	}
}

func FuzzHello(f *testing.F) {
	for _, cfg := range realConfigs(f) {
		f.Add(realHello(f, cfg))
	}
	for _, c := range helloTable {
		if len(c.said) < 4096 {
			f.Add(c.said)
		}
	}
	f.Fuzz(agree)
}
