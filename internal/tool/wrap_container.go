package tool

import (
	"strings"

	"cordon/internal/mark"
)

const containerGlobals = "--config=r -c,--context,--connection=t -D,--debug -H,--host,--url=t -l,--log-level=t --tls --tlscacert=r --tlscert=r --tlskey=r --tlsverify -v,--version=n --root=d --runroot=w --storage-driver=t --namespace,-n=t --address,-a=t --cni-path=t --help=n"

const containerRun = "-a,--attach=t --add-host=t --annotation=t --arch=t --authfile=r --blkio-weight=t --blkio-weight-device=t --cap-add=t --cap-drop=t --cgroup-conf=t --cgroup-parent=t --cgroupns=t --cgroups=t --chrootdirs=t --cidfile=w --conmon-pidfile=w --cpu-period=t --cpu-quota=t --cpu-rt-period=t --cpu-rt-runtime=t -c,--cpu-shares=t --cpus=t --cpuset-cpus=t --cpuset-mems=t --decryption-key=r -d,--detach --detach-keys=t --device=t --device-cgroup-rule=t --device-read-bps=t --device-read-iops=t --device-write-bps=t --device-write-iops=t --disable-content-trust --dns=t --dns-opt,--dns-option=t --dns-search=t --domainname=t --entrypoint=t -e,--env=t --env-file=r --env-host --env-merge=t --expose=t --gidmap=t --gpus=t --group-add=t --group-entry=t --health-cmd=t --health-interval=t --health-retries=t --health-start-period=t --health-start-interval=t --health-timeout=t --help -h,--hostname=t --hosts-file=r --image-volume=t --init --init-path=t -i,--interactive --ip=t --ip6=t --ipc=t --isolation=t --kernel-memory=t -l,--label=t --label-file=r --link=t --link-local-ip=t --log-driver=t --log-opt=t --mac-address=t -m,--memory=t --memory-reservation=t --memory-swap=t --memory-swappiness=t --mount=t --name=t --net,--network=t --network-alias,--net-alias=t --no-healthcheck --oom-kill-disable --oom-score-adj=t --os=t --passwd-entry=t --personality=t --pid=t --pidfile=w --pids-limit=t --platform=t --pod=t --pod-id-file=r --preserve-fds=t --privileged -p,--publish=t -P,--publish-all --pull=t -q,--quiet --read-only --replace --requires=t --restart=t --retry=t --rm --rmi --rootfs --runtime=t --sdnotify=t --seccomp-policy=t --secret=t --security-opt=t --shm-size=t --sig-proxy=? --stop-signal=t --stop-timeout=t --storage-opt=t --subgidname=t --subuidname=t --sysctl=t --systemd=t --timeout=t --tls-verify --tmpfs=t -t,--tty --tz=t --uidmap=t --ulimit=t --umask=t --unsetenv=t -u,--user=t --userns=t --uts=t --variant=t -v,--volume=t --volume-driver=t --volumes-from=t -w,--workdir=t --use-aliases --no-deps --service-ports --build --remove-orphans -T,--no-TTY --quiet-pull --index=t"

const containerBuild = "--add-host=t --allow=t --annotation=t --attest=t --authfile=r --build-arg=t --build-arg-file=r --build-context=t --builder=t --cache-from=t --cache-to=t --cache-ttl=t --call=t --cap-add=t --cap-drop=t --cgroup-parent=t --check --compress -c,--cpu-shares=t --cpu-period=t --cpu-quota=t --cpuset-cpus=t --cpuset-mems=t --debug -D --device=t --dns=t --env=t -f,--file=r --force-rm --format=t --from=t --ignorefile=r --iidfile=w --isolation=t --jobs=t --label=t --layers --load --logfile=w -m,--memory=t --memory-swap=t --metadata-file=w --network=t --no-cache --no-cache-filter=t -o,--output=t --platform=t --progress=t --provenance=t --pull=? --push --quiet,-q --rm --sbom=t --secret=t --security-opt=t --shm-size=t --squash --ssh=t --stdin -t,--tag=t --target=t --timestamp=t --ulimit=t --userns=t -v,--volume=t"

// containerUse is the client of a container engine. What runs inside a container
// is not judged; what of this host it is given is.
func containerUse(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	w.use.Out = mark.Any
	rest := c.Args[1:]
	if strings.HasSuffix(name, "-compose") {
		w.compose(rest)
		return w.done(), true
	}
	s := scanWrap(rest, containerGlobals)
	w.takeAll(s)
	rest = s.rest
	for len(rest) > 1 && isContainerGroup(rest[0]) {
		rest = scanWrap(rest[1:], "--builder=t -D,--debug").rest
	}
	if len(rest) == 0 {
		return w.done(), true
	}
	w.container(rest[0], rest[1:])
	return w.done(), true
}

func isContainerGroup(word string) bool {
	switch word {
	case "container", "image", "builder", "buildx", "kube", "machine":
		return true
	}
	return false
}

// container is one subcommand.
func (w *wrapping) container(sub string, rest []string) {
	switch sub {
	case "run", "create", "exec":
		w.containerRun(rest)
	case "build", "b":
		w.containerBuild(rest)
	case "bake":
		w.options(rest, "-f,--file=r --metadata-file=w --set=t --progress=t --builder=t --load --push --pull --no-cache")
	case "compose":
		w.compose(rest)
	case "cp":
		w.containerCopy(scanWrapAll(rest, "-a,--archive -L,--follow-link -q,--quiet --overwrite --pause --index=t --all --dry-run").rest)
	case "save", "export":
		w.takeAll(scanWrapAll(rest, "-o,--output=w --format=t -q -m --compress --platform=t"))
	case "load":
		w.takeAll(scanWrapAll(rest, "-i,--input=r -q --platform=t"))
	case "import":
		w.firstPath(scanWrapAll(rest, "-c,--change=t -m,--message=t --platform=t -q --arch=t --os=t --variant=t").rest)
	case "volume":
		w.volumeOptions(rest)
	case "unshare":
		w.command(w.options(rest, "--rootless-netns"), shelled)
	case "ps", "ls", "images", "list":
		w.identities(scanWrapAll(rest, "-f,--filter=t --format=t -n,--last=t -q,--quiet -a,--all -l,--latest --no-trunc -s,--size"))
	case "stack", "config", "secret", "play", "generate", "apply", "down", "up":
		w.containerFiles(rest)
	}
}

// identities are the words that -q prints.
func (w *wrapping) identities(s wrapScan) {
	if s.has("-q") && !s.has("--format") {
		w.use.Out = mark.Atom + "\n"
	}
}

// volumeOptions is volume create, whose driver can make a volume of a directory.
func (w *wrapping) volumeOptions(rest []string) {
	for _, o := range scanWrapAll(rest, "-o,--opt=t -d,--driver=t --label=t --name=t -f,--force -q").list {
		for field := range strings.SplitSeq(o.value, ",") {
			if name, device, _ := strings.Cut(field, "="); o.name == "-o" && name == "device" && strings.Contains(device, "/") {
				w.touch(Write, device, "-o device")
			}
		}
	}
}

// firstPath reads an operand that is a file, an address or -.
func (w *wrapping) firstPath(rest []string) {
	if len(rest) > 0 && !strings.Contains(rest[0], "://") {
		w.touch(Read, rest[0], "operand")
	}
}

// containerFiles is a subcommand whose operands may be files.
func (w *wrapping) containerFiles(rest []string) {
	s := scanWrapAll(rest, "-c,--compose-file=r -l,--label=t --configmap=r --network=t --template-driver=t -f=t -d,--driver=t")
	w.takeAll(s)
	for _, word := range s.rest {
		if looksLikePath(word) {
			w.touch(Read, word, "operand")
		}
	}
}

// containerRun is run, create and exec. Its own options end at the image.
func (w *wrapping) containerRun(rest []string) {
	s := scanWrap(rest, containerRun)
	w.takeAll(s)
	w.unsure = false
	for _, o := range s.list {
		switch o.name {
		case "-v":
			w.volume(o.value)
		case "--mount":
			w.mount(o.value)
		case "--device":
			src, _, _ := strings.Cut(o.value, ":")
			w.touch(Write, src, "--device")
		case "--privileged":
			w.hostControl("--privileged")
		case "--pid", "--userns", "--ipc":
			if o.value == "host" && o.name == "--pid" {
				w.hostControl("--pid=host")
			}
		case "--rootfs":
			w.operands(s.rest, "w")
		case "--volumes-from":
		}
	}
}

func (w *wrapping) hostControl(option string) {
	w.find(Ask, "a container with "+option+" is not kept apart from this host", "leave out "+option)
}

// volume is SOURCE:TARGET[:MODE]. A source without a slash is a volume's name.
func (w *wrapping) volume(text string) {
	src, rest, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	_, mode, _ := strings.Cut(rest, ":")
	readOnly := false
	for m := range strings.SplitSeq(mode, ",") {
		readOnly = readOnly || m == "ro" || m == "readonly"
	}
	w.bind(src, readOnly, "-v")
}

// bind gives a container a directory of this host.
func (w *wrapping) bind(src string, readOnly bool, why string) {
	if src == "" || !strings.ContainsAny(src, "/") && src[0] != '.' && src[0] != '~' && !mark.In(src) {
		return
	}
	if strings.HasSuffix(src, "docker.sock") || strings.HasSuffix(src, "podman.sock") || strings.HasSuffix(src, "containerd.sock") {
		w.find(Deny, "it gives a container control of the engine that runs all containers", "run it without the engine's socket")
		return
	}
	role := Write
	if readOnly {
		role = Read
	}
	w.touch(role, src, why)
}

// mount is --mount type=bind,source=…,target=….
func (w *wrapping) mount(text string) {
	src, kind, readOnly := "", "volume", false
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.Trim(field, `"`), "=")
		switch name {
		case "type":
			kind = value
		case "src", "source":
			src = value
		case "ro", "readonly":
			readOnly = value != "false" && value != "0"
		case "volume-opt":
			if device, path, _ := strings.Cut(value, "="); device == "device" {
				w.touch(Write, path, "--mount")
			}
		}
	}
	if kind == "bind" || strings.Contains(src, "/") {
		if !strings.Contains(src, "/") {
			src = "./" + src
		}
		w.bind(src, readOnly, "--mount")
	}
}

// containerBuild is build: its operand is the directory it is made of.
func (w *wrapping) containerBuild(rest []string) {
	s := scanWrapAll(rest, containerBuild)
	w.takeAll(s)
	w.unsure = false
	for _, o := range s.list {
		switch o.name {
		case "-v":
			w.volume(o.value)
		case "--build-context":
			if _, dir, ok := strings.Cut(o.value, "="); ok && !strings.Contains(dir, ":") {
				w.touch(Read, dir, o.name)
			}
		case "-o":
			w.buildField(o.value, "dest", Write, o.name)
		case "--cache-to":
			w.buildField(o.value, "dest", Write, o.name)
		case "--cache-from":
			w.buildField(o.value, "src", Read, o.name)
		case "--secret":
			w.buildField(o.value, "src", Read, o.name)
			w.buildField(o.value, "source", Read, o.name)
		}
	}
	w.firstPath(s.rest)
}

// buildField takes one field out of an option such as type=local,dest=DIR.
func (w *wrapping) buildField(text, field string, role Role, why string) {
	if !strings.Contains(text, "=") && role == Write {
		w.touch(role, text, why)
		return
	}
	for part := range strings.SplitSeq(text, ",") {
		if name, value, _ := strings.Cut(part, "="); name == field {
			w.touch(role, value, why)
		}
	}
}

// containerCopy is cp: what has a colon is inside a container.
func (w *wrapping) containerCopy(operands []string) {
	for i, word := range operands {
		if at := strings.IndexByte(word, ':'); at > 0 && !strings.Contains(word[:at], "/") || word == "-" {
			continue
		}
		role := Read
		if i == len(operands)-1 {
			role = Write
		}
		w.touch(role, word, "operand")
	}
}

// compose is compose. What its files say is the project's business.
func (w *wrapping) compose(rest []string) {
	s := scanWrap(rest, "-f,--file=r --project-directory=d --env-file=r -p,--project-name=t --profile=t --ansi=t --progress=t --parallel=t --compatibility --dry-run --all-resources -v,--version=n --verbose --podman-args=t --podman-path=x -H,--host=t -c,--context=t --tlscacert=r --tlscert=r --tlskey=r")
	// Files are named from where the caller is, not from the project's directory.
	for _, o := range s.list {
		if o.kind == 'r' {
			w.take(o)
		}
	}
	for _, o := range s.list {
		if o.kind != 'r' {
			w.take(o)
		}
	}
	w.unsure = false
	if len(s.rest) == 0 {
		return
	}
	switch sub, rest := s.rest[0], s.rest[1:]; sub {
	case "run", "exec", "create":
		w.containerRun(rest)
	case "cp":
		w.container(sub, rest)
	case "config", "convert", "export":
		w.takeAll(scanWrapAll(rest, "-o,--output=w --format=t --hash=t --lock-image-digests --index=t"))
	}
}

// devcontainerUse is the client of development containers.
func devcontainerUse(c Call) Use {
	w := newWrapping(c)
	w.use.Out = mark.Any
	spec := "--workspace-folder=d --config=r --override-config=r --docker-path=x --docker-compose-path=x --container-id=t --id-label=t --remote-env=t --mount=t --dotfiles-repository=t --dotfiles-target-path=t --log-level=t --log-format=t --image-name=t --platform=t --user-data-folder=w --secrets-file=r --additional-features=t --output-folder,-o=w --cache-from=t --push=t"
	rest := c.Args[1:]
	for range 2 {
		s := scanWrap(rest, spec)
		w.takeAll(s)
		for _, o := range s.list {
			if o.name == "--mount" {
				w.mount(o.value)
			}
		}
		if len(s.rest) == 0 {
			break
		}
		rest = s.rest[1:]
	}
	return w.done()
}
