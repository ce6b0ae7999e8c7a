package tool

import (
	"strings"

	"cordon/internal/mark"
)

// socatUse is socat: two addresses, each of which may be a file or a command.
func socatUse(c Call) Use {
	w := newWrapping(c)
	s := scanWrap(c.Args[1:], "-V=n -h=n -d -D -ly -lf=w -ls -lm -lp=t -lu -lh -v -x -r=w -R=w -b=t -s -t=t -T=t -u -U -g -L=w -W=w -4 -6 -S=t")
	w.takeAll(s)
	for _, address := range s.rest {
		for half := range strings.SplitSeq(address, "!!") {
			w.address(half)
		}
	}
	w.use.Out = mark.Any
	return w.done()
}

// address is one address of socat.
func (w *wrapping) address(text string) {
	kind, rest, ok := strings.Cut(text, ":")
	value, options := cutAddress(rest)
	if !ok || strings.Contains(kind, "/") {
		value, options = cutAddress(text)
		if strings.Contains(value, "/") {
			w.touch(Write, value, "address")
		}
		kind = ""
	}
	outer := w.dir
	for option := range strings.SplitSeq(options, ",") {
		if name, dir, _ := strings.Cut(option, "="); name == "chdir" || name == "cd" || name == "chroot" {
			w.enter(dir, name)
		}
	}
	switch strings.ToUpper(kind) {
	case "EXEC", "SYSTEM", "SHELL":
		w.served(value, strings.ToUpper(kind))
	case "OPEN", "FILE", "GOPEN":
		role := Write
		if strings.Contains(","+options+",", ",rdonly,") {
			role = Read
		}
		w.touch(role, value, kind)
	case "CREATE", "CREAT", "PIPE", "FIFO", "UNIX-LISTEN", "UNIX-L", "UNIX-RECV", "UNIX-RECVFROM", "PTY":
		w.touch(Write, value, kind)
	case "UNIX", "UNIX-CONNECT", "UNIX-CLIENT", "UNIX-SENDTO":
		w.touch(Write, value, kind)
	}
	for option := range strings.SplitSeq(options, ",") {
		if name, file, _ := strings.Cut(option, "="); name == "link" || name == "symbolic-link" || name == "lockfile" || name == "waitlock" {
			w.touch(Write, file, name)
		}
	}
	w.dir = outer
}

// served runs a line of shell whose input comes from the other end.
func (w *wrapping) served(line, why string) {
	r := w.again(why)
	r.Code, r.Fed, r.Stdin = line, true, mark.Any
	if line != "" {
		w.add(r)
	}
}

// cutAddress separates the argument of an address from its options: at the first
// comma that is not quoted or in braces.
func cutAddress(text string) (value, options string) {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case quote == 0 && ch == ',':
			return b.String(), text[i+1:]
		case quote == 0 && (ch == '"' || ch == '\''):
			quote = ch
			if !(i == 0) {
				b.WriteByte(ch)
			}
		case ch == quote && quote != 0:
			quote = 0
			if text[0] != ch || i+1 < len(text) && text[i+1] != ',' {
				b.WriteByte(ch)
			}
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), ""
}

// ncUse is netcat in its versions, some of which run a command for a connection.
func ncUse(name string, c Call) Use {
	spec := "-4 -6 -b -C -c=c -D -d -e=c -F -g=t -G=t -h=n -I=t -i=t -k -l -M=t -m=t -N -n -O=t -o=w -P=t -p=t -q=t -r -S -s=t -T=t -t -U -u -V=t -v -W=t -w=t -X=t -x=t -z"
	if name == "ncat" {
		spec = "-4 -6 -C,--crlf -c,--sh-exec=c -e,--exec=c --lua-exec=r -g=t -G=t -m,--max-conns=t -h,--help=n -d,--delay=t -o,--output=w -x,--hex-dump=w -i,--idle-timeout=t -p,--source-port=t -s,--source=t -l,--listen -k,--keep-open -n,--nodns -t,--telnet -u,--udp --sctp --vsock -v,--verbose -w,--wait=t -z --append-output --send-only --recv-only --no-shutdown --allow=t --allowfile=r --deny=t --denyfile=r --broker --chat --proxy=t --proxy-type=t --proxy-auth=t --ssl --ssl-cert=r --ssl-key=r --ssl-verify --ssl-trustfile=r --ssl-ciphers=t -U,--unixsock --version=n"
	}
	w := newWrapping(c)
	s := scanWrapAll(c.Args[1:], spec)
	w.takeAll(s)
	for _, line := range w.codes {
		w.served(line, "-e")
	}
	w.codes = nil
	if s.has("-U") && len(s.rest) > 0 {
		w.touch(Write, s.rest[0], "-U")
	}
	w.use.Out = mark.Any
	return w.done()
}
